"""The machine that runs PTX: threads that part and meet, memory that is guarded, clear refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.ptx.machine import Endless, launch
from tests.ptx.memory import Trespass
from tests.ptx.parse import Module, Unknown, parse
from tests.ptx.snippets import kernel

orders = pytest.mark.parametrize("seed", [None, 0, 1, 2])


@orders
def test_threads_go_their_own_ways_and_meet_again(seed: int | None) -> None:
    """Thread i adds 1 to 3 i times, odd ones then double it."""
    body = """
  mov.b64 %rd0, 0;
  mul.lo.s64 %rd1, %rd10, 3;
$LOOP:
  setp.ge.s64 %p0, %rd0, %rd1;
  @%p0 bra $OUT;
  add.s64 %rd0, %rd0, 1;
  bra.uni $LOOP;
$OUT:
  and.b64 %rd2, %rd10, 1;
  setp.eq.b64 %p1, %rd2, 0;
  @%p1 bra $END;
  shl.b64 %rd0, %rd0, 1;
$END:
  @!%p1 add.s64 %rd0, %rd0, 1000;
  add.s64 %rd3, %rd20, %rd11;
  st.global.b64 [%rd3], %rd0;"""
    out = np.zeros(40, np.int64)
    launch(kernel(body), [out], threads=40, seed=seed)
    assert [3 * i if i % 2 == 0 else 6 * i + 1000 for i in range(40)] == out.tolist()


@orders
def test_a_barrier_holds_each_block_until_all_are_there(seed: int | None) -> None:
    """Every thread writes its number, waits, and reads that of the thread across."""
    body = """
  mov.u32 %r0, %ctaid.x;
  shl.b32 %r1, %t0, 2;
  mov.b32 %r2, room;
  cvt.u64.u32 %rd0, %r1;
  mov.b64 %rd1, room;
  add.s64 %rd2, %rd1, %rd0;
  mad.lo.s32 %r3, %r0, 100, %t0;
  st.shared.b32 [%rd2], %r3;
  bar.sync 0;
  xor.b32 %r4, %t0, 7;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.shared.b32 %r5, [%rd4];
  mov.u32 %r6, %ntid.x;
  mad.lo.s32 %r7, %r0, %r6, %t0;
  mul.wide.u32 %rd5, %r7, 4;
  add.s64 %rd6, %rd20, %rd5;
  st.global.b32 [%rd6], %r5;"""
    body = body.replace("  mov.b32 %r2, room;\n", "")
    text = kernel(body, before="\n.shared .align 4 .b8 room[32];")
    out = np.zeros(24, np.int32)
    launch(text, [out], blocks=3, threads=8, seed=seed)
    assert [100 * b + (i ^ 7) for b in range(3) for i in range(8)] == out.tolist()


@orders
def test_a_barrier_of_a_warp_holds_its_threads_and_no_others(seed: int | None) -> None:
    """Every thread of a warp takes a number after it gave one, but for those that ended."""
    body = """
  setp.eq.s32 %p0, %t0, 5;
  @%p0 ret;
  setp.ge.s32 %p1, %t0, 32;
  mov.b64 %rd0, 0;
  @%p1 mov.b64 %rd0, 4;
  add.s64 %rd1, %rd20, %rd0;
  atom.global.add.u32 %r0, [%rd1], 1;
  bar.warp.sync -1;
  ld.global.b32 %r1, [%rd1];
  mul.wide.u32 %rd2, %t0, 4;
  add.s64 %rd3, %rd20, %rd2;
  st.global.b32 [%rd3+8], %r1;"""
    out = np.zeros(2 + 40, np.int32)
    launch(kernel(body), [out], threads=40, seed=seed)
    assert [31, 8, *[31] * 5, 0, *[31] * 26, *[8] * 8] == out.tolist()


def test_a_barrier_of_some_threads_of_a_warp_is_refused() -> None:
    for mask in ("15", "%t0"):
        with pytest.raises(Unknown, match="of a warp"):
            launch(kernel(f"  bar.warp.sync {mask};"), [np.zeros(1, np.int32)])


@orders
def test_a_branch_table_sends_each_thread_to_its_label(seed: int | None) -> None:
    body = """
  and.b32 %r0, %t0, 3;
  setp.eq.s32 %p0, %r0, 3;
  mov.b64 %rd0, 7;
  @%p0 bra $END;
$TABLE: .branchtargets $A, $B, $C;
  brx.idx %r0, $TABLE;
$A:
  mov.b64 %rd0, 10;
  bra.uni $END;
$B:
  mov.b64 %rd0, 11;
  bra.uni $END;
$C:
  mov.b64 %rd0, 12;
$END:
  add.s64 %rd3, %rd20, %rd11;
  st.global.b64 [%rd3], %rd0;"""
    out = np.zeros(9, np.int64)
    launch(kernel(body), [out], threads=9, seed=seed)
    assert [10, 11, 12, 7, 10, 11, 12, 7, 10] == out.tolist()


def test_each_thread_has_local_memory_of_its_own() -> None:
    body = """
  mov.b64 %rd0, room;
  cvta.local.u64 %rd1, %rd0;
  st.local.b64 [%rd0+8], %rd10;
  st.b64 [%rd1], %rd11;
  ld.local.v2.b64 {%rd2, %rd3}, [%rd0];
  sub.s64 %rd4, %rd2, %rd3;
  add.s64 %rd5, %rd20, %rd11;
  st.global.b64 [%rd5], %rd4;"""
    out = np.zeros(5, np.int64)
    launch(kernel(body, inside="  .local .align 16 .b8 room[16];"), [out], threads=5)
    assert [7 * i for i in range(5)] == out.tolist()


def test_variables_of_the_module_have_initial_values() -> None:
    before = """
.global .align 8 .b64 table[3] = {1, -2, 0d4008000000000000};
.const .align 4 .b8 few[4] = {255, 1};"""
    body = """
  mov.b64 %rd0, table;
  add.s64 %rd1, %rd0, %rd11;
  ld.global.b64 %rd2, [%rd1];
  mov.b64 %rd3, few;
  ld.const.s8 %r0, [%rd3];
  cvt.s64.s32 %rd4, %r0;
  ld.const.u8 %rs0, [few+1];
  cvt.u64.u16 %rd6, %rs0;
  add.s64 %rd5, %rd20, %rd11;
  st.global.b64 [%rd5], %rd2;
  st.global.b64 [%rd5+24], %rd4;
  st.global.b64 [%rd5+48], %rd6;"""
    out = np.zeros(9, np.int64)
    launch(kernel(body, before=before), [out], threads=3)
    assert [1, -2, 0x4008000000000000, -1, -1, -1, 1, 1, 1] == out.tolist()


def test_registers_are_put_together_and_taken_apart() -> None:
    body = """
  mov.b64 %rd0, 0x1122334455667788;
  mov.b64 {%r0, %r1}, %rd0;
  { .reg .b32 low; mov.b64 {low, %r2}, %rd0; }
  mov.b64 {_, %r3}, %rd0;
  mov.b64 %rd1, {%r1, %r0};
  st.global.b64 [%rd20], %rd1;
  st.global.v2.b32 [%rd20+8], {%r2, %r3};"""
    out = np.zeros(2, np.uint64)
    launch(kernel(body), [out], threads=1)
    assert [0x5566778811223344, 0x1122334411223344] == out.tolist()


@orders
def test_atomic_operations_on_integers_lose_nothing(seed: int | None) -> None:
    body = """
  atom.global.add.u64 %rd0, [%rd20], 3;
  red.global.max.s64 [%rd20+8], %rd10;
  setp.lt.s64 %p0, %rd10, 5;
  @%p0 atom.global.add.u64 _, [%rd20+16], 1;"""
    out = np.array([0, -1, 0])
    launch(kernel(body), [out], blocks=2, threads=8, seed=seed)
    assert [48, 7, 10] == out.tolist()


def test_parameters_are_numbers_too() -> None:
    text = kernel("").replace(
        "(.param .u64 .ptr .global .align 1 f_param_0)",
        "(.param .u64 .ptr .global .align 1 f_param_0, .param .f64 x, .param .u8 flag)",
    )
    text = text.replace(
        "  ret;",
        "  ld.param.b64 %rd0, [x];\n  ld.param.b8 %rs0, [flag];\n  st.global.b64 [%rd20], %rd0;\n"
        "  st.global.b8 [%rd20+8], %rs0;\n  ret;",
    )
    out = np.zeros(2)
    launch(text, [out, np.float64(math.pi), np.bool(True)], threads=1)
    assert [math.pi, 5e-324] == out.tolist()


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("ld.global.b64 %rd0, [%rd20+80];", "reads 8 bytes of global memory at f_param_0 \\+ 80"),
        ("ld.global.b64 %rd0, [%rd20+-8];", "reads 8 bytes"),
        ("ld.global.b64 %rd0, [16];", "reads 8 bytes of global memory at 0x10"),
        ("ld.shared.b64 %rd0, [%rd20];", "reads 8 bytes of shared memory at f_param_0"),
        ("st.global.b64 [%rd21], %rd0;", "writes 8 bytes of global memory at f_param_1"),
    ],
)
def test_memory_that_is_not_the_kernels_is_guarded(body: str, what: str) -> None:
    fixed = np.zeros(10)
    fixed.setflags(write=False)
    with pytest.raises(Trespass, match=what):
        launch(kernel(body, 2), [np.zeros(10), fixed], threads=1)


def test_what_is_not_aligned_is_noticed() -> None:
    with pytest.raises(AssertionError, match=r"not aligned: ld\.global\.b64"):
        launch(kernel("ld.global.b64 %rd0, [%rd20+4];"), [np.zeros(10)], threads=1)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("\n\n  frobnicate.b32 %r0, %r1;", r"line 19: no such instruction.*frobnicate"),
        ("\n\n  add.rz.f64 %rd0, %rd1, %rd2;", r"line 19: modifiers: add\.rz\.f64"),
        ("\n\n  add.s32 %r0, %r99, 1;", "line 19: the register %r99"),
        ("\n\n  add.s32 %rd0, %r1, 1;", "line 19: %rd0 is no s32"),
        ("\n\n  add.s32 %r0, %r1;", "line 19: 3 operands are expected"),
        ("\n\n  add.s32 %r0, %r1, other;", "line 19: the operand other"),
        ("\n\n  bra $NOWHERE;", "line 19: no such label"),
        ("\n\n  atom.global.add.f64 %rd0, [%rd20], %rd1;", "line 19: an atomic operation"),
        ("\n\n  call.uni f, (%r0);", "line 19: "),
        ("\n\n  setp.eq.s32 %r0, %r1, 1;", "line 19: %r0 is no predicate"),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(body: str, what: str) -> None:
    with pytest.raises(Unknown, match=what):
        launch(kernel(body), [np.zeros(10)], threads=1)


def test_what_is_not_known_is_refused_where_no_thread_comes_by() -> None:
    with pytest.raises(Unknown, match="frobnicate"):
        launch(kernel("  ret;\n  frobnicate.b32 %r0, %r1;"), [np.zeros(10)], threads=1)


def test_a_launch_without_an_end_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.ptx.machine.MOST", 1000)
    with pytest.raises(Endless, match="add"):
        launch(kernel("$L:\n  add.s64 %rd0, %rd0, 1;\n  bra $L;"), [np.zeros(1)])


def test_a_register_that_was_not_written_holds_garbage() -> None:
    out = np.zeros(1, np.int64)
    launch(kernel("st.global.b64 [%rd20], %rd7;"), [out], threads=1)
    assert out[0] not in (0, -1)


def test_the_module_is_read_whole() -> None:
    found = parse(kernel("  mov.b64 %rd0, 1;"))
    assert isinstance(found, Module)
    assert ("8.0", "sm_75") == (found.version, found.target)
    assert ["u64"] == [each.kind for each in found.kernels["f"].parameters]


def test_a_block_of_more_threads_than_the_kernel_allows_is_refused() -> None:
    text = kernel("").replace("\n{", "\n.maxntid 64\n{", 1)
    launch(text, [np.zeros(1)], threads=64)
    with pytest.raises(AssertionError, match="65 threads of a block"):
        launch(text, [np.zeros(1)], threads=65)
