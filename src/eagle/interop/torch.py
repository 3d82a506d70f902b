"""PyTorch: tensors on the CPU are used as they are; those that record gradients are refused."""

from __future__ import annotations

import sys
from typing import Any

from eagle.interop.base import Foreign, Spelling, described, on_cuda, on_device

SPELLING = Spelling(
    cast="{x}.to(torch.{dtype})",
    copy="{x}.clone()",
    contiguous="{x}.contiguous()",
    repeat="{x}.repeat({n})",
    full="{x}.repeat({n})",
    empty="torch.empty({shape}, dtype=torch.{dtype})",
)


def read(value: Any) -> Foreign | None:
    """See a tensor as a NumPy array of the same memory."""
    torch = sys.modules["torch"]  # who has a tensor has imported it
    if not isinstance(value, torch.Tensor):
        return None
    try:
        # Not by DLPack: that is 10 times slower, and takes a tensor's minus sign away (torch 2.13).
        return Foreign(value.numpy(), SPELLING)
    except (RuntimeError, TypeError) as refusal:
        return _refused(value, torch, str(refusal).partition("\n")[0])


def _refused(value: Any, torch: Any, why: str) -> Foreign:
    """Why a tensor gives no memory; `why` is what torch says."""
    if value.device.type == "meta":
        return Foreign(None, SPELLING, f"{described(value)} on meta, which holds no numbers")
    if value.device.type == "cuda":
        got = on_cuda(value, str(value.device))
        return Foreign(None, SPELLING, got, "{x}.cpu()")
    if value.device.type != "cpu":
        got = on_device(value, f"the GPU ({value.device})")
        return Foreign(None, SPELLING, got, "{x}.cpu()")
    if value.layout is not torch.strided:
        return Foreign(None, SPELLING, f"a sparse tensor, {described(value)}", "{x}.to_dense()")
    if value.requires_grad:
        if torch.is_grad_enabled():
            got = f"{described(value)} that requires grad, and eagle records none"
            return Foreign(None, SPELLING, got, "{x}.detach(), or the call under torch.no_grad()")
        detached = read(value.detach())
        assert detached is not None
        return detached
    if value.is_conj() or value.is_neg():
        got = f"{described(value)} that is computed only when it is read"
        return Foreign(None, SPELLING, got, "{x}.resolve_conj().resolve_neg()")
    if value.dtype.is_floating_point and value.dtype.itemsize < 4:  # NumPy has no bfloat16
        return Foreign(None, SPELLING, described(value), SPELLING.cast)
    return Foreign(None, SPELLING, f"{described(value)} whose memory cannot be used: {why}")
