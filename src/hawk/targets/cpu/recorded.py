"""A launch that anybody can make who knows one address: that of a record of it.

Who calls back with one pointer and nothing else, as the drivers of GPUs do, runs a kernel by it
without Python. A record is three words: the kernel's entry, its block, and the header that is
copied into the block before.
"""

from __future__ import annotations

from hawk.targets.base import HEADER

RECORD_WORDS = 3


def recorded_text() -> str:
    """LLVM text of `recorded(record)`."""
    return f"""\
define void @recorded(ptr %record) nounwind {{
  %at_block = getelementptr i64, ptr %record, i64 1
  %at_header = getelementptr i64, ptr %record, i64 2
  %entry = load ptr, ptr %record
  %block = load ptr, ptr %at_block
  %header = load ptr, ptr %at_header
  %words = load <{HEADER} x i64>, ptr %header, align 8
  store <{HEADER} x i64> %words, ptr %block, align 8
  call void %entry(ptr %block)
  ret void
}}
"""
