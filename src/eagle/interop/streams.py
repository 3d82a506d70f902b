"""Streams of other libraries on GPUs: which they work on, and working on one of ours instead.

No library is imported for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

_DEFAULT = (0, 1)
"""Numbers of the default stream, which a blocking stream follows by itself."""


def streams_in_use(gpu: int) -> Iterator[int]:
    """The streams on which other libraries work now on this thread, but for the default one."""
    cupy, torch = _cupy(), _torch()
    found: list[int] = []
    if cupy is not None:
        found.append(int(cupy.cuda.get_current_stream().ptr))
    if torch is not None:
        found.append(int(torch.cuda.current_stream(gpu).cuda_stream))
    for stream in dict.fromkeys(found):
        if stream not in _DEFAULT:
            yield stream


@contextmanager
def working_on(stream: int, gpu: int) -> Iterator[list[Any]]:
    """Inside `with` other libraries work on `stream`, with memory that nobody else gets later.

    Gives what holds that memory. Raises RuntimeError for a PyTorch that cannot do that.
    """
    kept: list[Any] = []
    with ExitStack() as stack:
        cupy, torch = _cupy(), _torch()
        if cupy is not None:
            pool = cupy.cuda.MemoryPool()
            kept.append(pool)
            stack.enter_context(cupy.cuda.Device(gpu))
            stack.enter_context(cupy.cuda.using_allocator(pool.malloc))
            stack.enter_context(cupy.cuda.ExternalStream(stream))
        if torch is not None:
            if not hasattr(torch.cuda, "use_mem_pool"):
                raise RuntimeError(
                    f"PyTorch {torch.__version__} gives the memory of a captured function to "
                    "others\n  install: a newer PyTorch, which has torch.cuda.use_mem_pool"
                )
            pool = torch.cuda.MemPool()
            kept.append(pool)
            stack.enter_context(torch.cuda.stream(torch.cuda.ExternalStream(stream, device=gpu)))
            stack.enter_context(torch.cuda.use_mem_pool(pool, gpu))
        yield kept


def _cupy() -> Any:
    found = sys.modules.get("cupy")
    return found if hasattr(found, "cuda") else None


def _torch() -> Any:
    """PyTorch, if it uses GPUs already."""
    found: Any = sys.modules.get("torch")
    there = hasattr(found, "cuda") and found.cuda.is_initialized()
    return found if there else None
