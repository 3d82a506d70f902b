"""What tells contents apart: one hash for keys and for checks."""

from __future__ import annotations

try:
    # hashlib loads OpenSSL first, 4 ms that the first kernel of a process would wait for.
    from _blake2 import blake2b
except ImportError:  # a Python that keeps it elsewhere
    from hashlib import blake2b

SIZE = 20
"""Bytes of a digest: 160 bits, so no two contents that anyone will ever have share one."""


def digest(*pieces: bytes) -> bytes:
    """The hash of the pieces, each with its length, so moving a byte between two changes it."""
    made = blake2b(digest_size=SIZE)
    for piece in pieces:
        made.update(len(piece).to_bytes(8, "little"))
        made.update(piece)
    return made.digest()
