"""JAX: its arrays never change, so they can be inputs but not state."""

from __future__ import annotations

import sys
from typing import Any

from eagle.interop.base import Foreign, Spelling, described, on_cuda, on_device
from eagle.interop.dlpack import as_numpy

SPELLING = Spelling(array="np.asarray({x})")


def read(value: Any) -> Foreign | None:
    """See an array as a read-only NumPy array of the same memory."""
    jax = sys.modules["jax"]  # who has an array has imported it
    if isinstance(value, jax.core.Tracer):
        got = f"{described(value)} in a function that JAX traces, where it holds no numbers"
        return Foreign(None, SPELLING, got, "the call outside of jax.jit, or in jax.pure_callback")
    if not isinstance(value, jax.Array):
        return None
    if value.is_deleted():
        return Foreign(None, SPELLING, f"{described(value)} that JAX has deleted (donated?)")
    places = sorted(value.devices(), key=str)
    if len(places) > 1 or places[0].platform != "cpu":
        where = str(places[0]) if len(places) == 1 else f"{len(places)} devices"
        if len(places) == 1 and places[0].platform in ("gpu", "cuda"):
            got = on_cuda(value, f"cuda:{places[0].id}")
            return Foreign(None, SPELLING, got, "np.array({x})")
        return Foreign(None, SPELLING, on_device(value, where), "np.array({x})")
    try:
        view = as_numpy(value.block_until_ready())
    except Exception as refusal:  # noqa: BLE001 - whatever the exporter raises, it said no
        if jax.numpy.issubdtype(value.dtype, jax.numpy.floating):  # NumPy has no bfloat16
            return Foreign(None, SPELLING, described(value), "np.asarray({x}, dtype=np.{dtype})")
        why = str(refusal).partition("\n")[0]
        return Foreign(None, SPELLING, f"{described(value)} whose memory cannot be used: {why}")
    view.flags.writeable = False
    return Foreign(view, SPELLING, note=", as all arrays of JAX are")
