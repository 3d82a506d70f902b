"""Forms of Python's control flow: what a cell decides, it decides at replay, or it is refused.

Each graph is built once, with cells of zero, and replayed with others; the same text run as Python
with these cells says what comes out.
"""

import itertools
import linecache
import textwrap
from typing import Any

import pytest

import eagle
import hawk
from tests.unit.graph.programs import FILE, arrays, function

HEAD = "def graph(p, q, r, s, t, k, m, w, flag, three, total):\n    g = eagle.Graph()\n"
TAIL = "    return g\n"

RECORDED = """
if k: drift(p)
---
if not k: drift(p)
---
if k > 1: drift(p)
else: drift(q)
---
if k == 0: drift(p)
elif k == 1: drift(q)
elif k < 3: drift(r)
else: push(p, q)
---
if k > 0:
    if m: drift(p)
    else: drift(q)
    push(p, q)
---
if k > 0 and m > 0: drift(p)
---
if k > 0 or m > 0: drift(p)
---
if not (k > 0 and not m): drift(p)
---
if 0 < k < 3: drift(p)
---
if k != m: drift(p)
---
if k >= m > 0: drift(p)
---
if k in (1, 3): drift(p)
---
if k not in (1, 3): drift(p)
---
if even(k): drift(p)
---
if even(k) and k > 0: drift(p)
---
if k > 2: pass
else: drift(p)
---
if True: drift(p)
if k: drift(q)
---
big = k > 1
drift(q)
if big: drift(p)
---
x = p if k else q
push(r, x)
---
x = turn(p) if k > 1 else mix(p, q)
push(p, x)
---
push(p, q if k else (r if m else t))
---
if k: x = turn(p)
else: x = turn(q)
push(r, x)
---
x = turn(q)
if k: x = mix(x, x)
push(p, x)
---
eagle.copy(k, into=w)
while w > 0:
    down(w)
    drift(p)
---
eagle.copy(k, into=w)
while w:
    down(w)
    drift(p)
else:
    drift(q)
---
eagle.copy(three, into=w)
while w > 0:
    if w == k: break
    down(w)
    drift(p)
---
eagle.copy(three, into=w)
while w > 0:
    down(w)
    drift(p)
    if w == k: break
else:
    drift(q)
---
eagle.copy(three, into=w)
while w > 0:
    down(w)
    if w == k: continue
    drift(p)
---
eagle.copy(three, into=w)
while True:
    if w <= k: break
    down(w)
    drift(p)
    if w == 0: break
---
eagle.copy(three, into=w)
while not w == 0:
    down(w)
    if not w > k: break
    drift(p)
    drift(q)
---
eagle.copy(three, into=w)
while w > 0 and w > k:
    down(w)
    drift(p)
---
eagle.copy(three, into=w)
while w > 0:
    down(w)
    if k:
        if m: break
        drift(q)
    drift(p)
---
for _ in range(k): drift(p)
---
for i in range(k):
    if i == 1: continue
    drift(p)
---
for i in range(1, k):
    drift(p)
    if i == 2: break
else:
    drift(q)
---
for _ in range(0, k, 2): drift(p)
---
for _ in range(m, k): drift(p)
---
for _ in range(3):
    if k: drift(p)
---
for j in range(3):
    if k == j: break
    drift(p)
---
for j in range(3):
    if k == j: continue
    drift(p)
else:
    drift(q)
---
for j in range(4):
    if not k > j: break
    drift(p)
else:
    drift(q)
---
for _ in range(9):
    if k == 0: break
    drift(p)
    down(k)
---
for x in (p, q, r):
    if k: drift(x)
---
for x in [p, q]:
    for _ in range(k): drift(x)
---
for _ in range(k):
    for _ in range(m): drift(p)
    drift(q)
---
for _ in range(k):
    for i in range(3):
        if i == m: break
        drift(p)
    else:
        drift(q)
---
a, b = turn(p), turn(q)
for _ in range(k): a, b = b, a
push(p, a)
---
x = turn(p)
for _ in range(k): x = mix(x, q)
push(r, x)
---
match k:
    case 0: drift(p)
    case 1 | 2: drift(q)
    case _: drift(r)
---
match k:
    case 1: drift(p)
    case 3: push(p, q)
---
match k:
    case 0 if m: drift(p)
    case 0: drift(q)
    case _: pass
---
for _ in range(k):
    match m:
        case 0: break
        case _: drift(p)
---
if k: return g
drift(p)
---
for _ in range(k):
    drift(q)
    if m: return g
    drift(p)
---
for _ in range(k):
    for _ in range(m):
        drift(q)
        if k == 3: return g
    drift(p)
---
def move(x): drift(x)
if k: move(p)
---
both = [turn(x) for x in (p, q)]
if k: push(p, both[1])
---
if k and (flag or m): drift(p)
---
flag_now = even(k)
if flag_now: drift(p)
else: drift(q)
---
while k > 0:
    down(k)
    if even(k): continue
    drift(p)
else:
    drift(r)
---
if not k == 2 and not m == 2: drift(p)
---
assert True
if k > 2: drift(p)
""".strip().split("\n---\n")

REFUSED = """
G103: x = [p for _ in range(2) if k]
---
G103: if len([1 for _ in range(2) if k > 1]): drift(p)
---
G103: def helper(): return 1 if k else 2
n = helper()
---
G104: if p.sum() > 0: drift(p)
---
G103: if p: drift(p)
---
G105: n = 1
if k: n = 2
for _ in range(n): drift(p)
---
G106: made = []
for _ in range(k): made.append(p)
---
G101: try: drift(p)
finally: drift(q)
if k: drift(p)
---
H404: while True: drift(p)
---
G101: if k: g.result = q
---
G108: match (k, m):
    case (0, 2): drift(p)
    case _: drift(r)
---
G107: for _ in range(0, k, -1): drift(p)
""".strip().split("\n---\n")


def text_of(form: str) -> str:
    return HEAD + textwrap.indent(form, "    ") + "\n" + TAIL


@pytest.mark.parametrize("form", RECORDED, ids=range(len(RECORDED)))
def test_what_a_cell_decides_is_decided_at_replay(form: str) -> None:
    text, memory = text_of(form), arrays()
    memory["k"][...] = memory["m"][...] = 0
    graph: Any = eagle.Graph.builder(function(text, by_hand=False))(**memory)
    outcomes: set[bytes] = set()
    for k, m in itertools.product((0, 1, 2, 3), (0, 2)):
        expected = arrays()
        for name, value in arrays().items():
            memory[name][...] = value
        for each in (memory, expected):
            each["k"][...], each["m"][...] = k, m
        graph.launch()
        function(text, by_hand=True)(**expected)
        bits = [memory[name].tobytes() for name in expected]
        assert bits == [each.tobytes() for each in expected.values()], (k, m)
        outcomes.add(memory["p"].tobytes() + memory["q"].tobytes() + memory["r"].tobytes())
    assert len(outcomes) > 1, "so the cells decide"


@pytest.mark.parametrize("form", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_recorded_is_refused_with_its_line_and_what_to_write(form: str) -> None:
    code, _, form = form.partition(": ")
    with pytest.raises(hawk.HawkError) as error:
        eagle.Graph.builder(function(text_of(form), by_hand=False))(**arrays())
    assert code == error.value.code
    assert error.value.loc.file == FILE
    assert linecache.getline(FILE, error.value.loc.line).strip()
    assert error.value.fix


def test_there_are_many_forms() -> None:
    assert len(set(RECORDED) | set(REFUSED)) >= 60
