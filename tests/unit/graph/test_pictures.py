"""Pictures of graphs as files on record, what notebooks show, and what branches are called.

`python -m tests.unit.graph.test_pictures` writes the files anew; look at them.
"""

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import eagle
import hawk
from eagle.devices.host import fusion
from hawk import Bool, Int32, Mutable, Scalar

ROOT = Path(__file__).parents[2]
FILES = ROOT / "golden" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"


@hawk.kernel
def twice(x: Scalar) -> Scalar:
    return x + x


@hawk.kernel
def small(x: Scalar) -> Bool:
    return x < 0.1


@hawk.kernel
def down(k: Mutable[Int32]):
    k -= 1


def small_graph() -> Any:
    """Two branches, one of them a pass, then a loop that may be left."""

    @eagle.Graph.builder
    def build(x, y, low, k):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.copy(x, into=y)
            with p.branch() as w:
                z = twice(twice(x))
                w.wait(x)
                twice(z, buffer=x)
        while k > 0:
            if small(low):
                break
            down(k)
        eagle.opaque(lambda each: None, reads=y, name="save <y> & more")
        return g

    return build(np.ones(3), np.ones(3), np.ones(1), np.array([2], np.int32))


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(fusion, "FEWEST", 1)
    return small_graph()


def program(name: str) -> Any:
    """The graph of a program that graphs were agreed on, with NumPy in the place of a device."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cupy", np)
        return runpy.run_path(str(ROOT / "pages" / "programs" / f"{name}.py"))["g"]


def drawn(name: str) -> str:
    """A graph in all ways that are text, and what matplotlib is told to write where."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fusion, "FEWEST", 1)
        graph = small_graph() if name == "small_graph" else program(name)
        return "\n\n".join((str(graph), graph.to_mermaid(), graph.to_dot(), *_plotted(graph), ""))


def _plotted(graph: Any) -> Iterator[str]:
    from matplotlib import pyplot as plt

    axes = graph.plot()
    texts = [each for each in axes.texts if each.get_text()]
    yield "\n".join(
        f"{x:.2f} {y:.2f} {each.get_text()!r}" for each in texts for x, y in [each.get_position()]
    )
    yield "branches: " + ", ".join(each.get_text() for each in axes.get_yticklabels())
    plt.close("all")


@pytest.mark.parametrize("name", ["small_graph", "graph_with_events", "graph_with_overlap"])
def test_the_picture_is_the_one_on_file(name: str) -> None:
    assert (FILES / f"{name}.txt").read_text(encoding="utf-8") == drawn(name)


def boxes(picture: ET.Element) -> list[tuple[str, list[float], str]]:
    """Each node: the first line of what it tells, where it is, its colour."""
    found: list[tuple[str, list[float], str]] = []
    for each in picture.iter(f"{SVG}g"):
        title, rect = each.find(f"{SVG}title"), each.find(f"{SVG}rect")
        assert title is not None
        assert title.text is not None
        assert rect is not None
        place = [float(rect.attrib[name]) for name in ("x", "y", "width", "height")]
        found.append((title.text.splitlines()[0], place, rect.attrib["fill"]))
    return found


def test_a_notebook_shows_every_node_in_a_place_of_its_own(graph: Any) -> None:
    picture = ET.fromstring(graph._repr_svg_())
    found = boxes(picture)
    assert len(graph.nodes) == len(found)
    assert "save <y> & more: host function" in [title for title, _, _ in found]
    width, height = float(picture.attrib["width"]), float(picture.attrib["height"])
    for title, (x, y, w, h), _ in found:
        assert x >= 0, title
        assert x + w <= width, title
        assert y + h <= height, title
    for place, (_, (x, y, w, h), _) in enumerate(found):
        for _, (a, b, c, d), _ in found[place + 1 :]:
            apart = x + w <= a or a + c <= x or y + h <= b or b + d <= y
            inside = x <= a and a + c <= x + w and y <= b and b + d <= y + h
            assert apart or inside


def test_a_node_stands_below_what_it_waits_for(graph: Any) -> None:
    found = boxes(ET.fromstring(graph._repr_svg_()))
    top = [place[1] for title, place, _ in found if title.startswith("twice")]
    assert sorted(set(top)) == top
    assert 3 == len(top)


def test_a_pass_has_a_colour_and_thick_lines(graph: Any) -> None:
    text = graph._repr_svg_()
    colours = {fill for title, _, fill in boxes(ET.fromstring(text)) if "twice" in title}
    assert 1 == len(colours)
    assert "#ffffff" not in colours
    assert 2 == text.count('stroke-width="2.5"')
    assert "`z` is not stored" in text


def test_what_follows_a_break_is_a_branch_that_says_so(graph: Any) -> None:
    text = str(graph)
    rest = re.search(r"if not left in `if small\(low\)`.*", text, re.DOTALL)
    assert rest is not None
    assert "then:" in rest[0]
    assert "down" in rest[0].split("else:")[0]


def test_an_empty_graph_has_a_picture() -> None:
    picture = ET.fromstring(eagle.Graph()._repr_svg_())
    assert "graph graph" == next(iter(picture.iter(f"{SVG}text"))).text


LONG = "name" * 40


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A graph of 30 branches in each other."""
    lines = ["import eagle", "@eagle.Graph.builder", "def deep(k, x):", "    g = eagle.Graph()"]
    lines += ["    " * level + f"if k > {level}:" for level in range(1, 31)]
    lines += ["    " * 31 + "eagle.opaque(lambda a, b: None, reads=(k, x))", "    return g", ""]
    path = tmp_path_factory.mktemp("deep") / "deep.py"
    path.write_text("\n".join(lines), encoding="utf-8")
    return runpy.run_path(str(path))["deep"](np.zeros(1, np.int32), np.ones(1))


@pytest.mark.parametrize("name", [LONG, f"a {LONG} b", "two\nlines", "x" * 65, "x" * 70])
def test_printed_boxes_are_as_wide_as_each_other(name: str) -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        with g.parallel() as p:
            with p.branch():
                eagle.opaque(lambda a: None, reads=x, name=name)
        eagle.opaque(lambda a: None, writes=x, name=name)
        g.result = x
        return g

    lines = str(build(np.ones(1))).splitlines()[1:]
    assert {72} == set(map(len, lines))


def test_bodies_in_bodies_leave_a_box_its_words(deep: Any) -> None:
    head, *lines = str(deep).splitlines()
    assert "31 nodes" in head
    assert 1 == len(set(map(len, lines)))
    assert any(" reads k, x " in line for line in lines)


def test_mermaid_reads_names_as_they_are(graph: Any) -> None:
    assert '"save &lt;y&gt; &amp; more<br/>host function"' in graph.to_mermaid()


@pytest.mark.parametrize(
    ("name", "label"), [("<lambda>", "&lt;lambda&gt;"), ("a\nb", "a b"), ("#lt;", "#35;lt;")]
)
def test_mermaid_does_not_take_a_name_for_its_own_words(name: str, label: str) -> None:
    @eagle.Graph.builder
    def build(x):
        g = eagle.Graph()
        eagle.opaque(lambda a: None, reads=x, name=name)
        return g

    assert f'n1["{label}<br/>host function"]' in build(np.ones(1)).to_mermaid()


if __name__ == "__main__":
    for each in ("small_graph", "graph_with_events", "graph_with_overlap"):
        (FILES / f"{each}.txt").write_text(drawn(each), encoding="utf-8")
