"""The command `eagle`."""

import itertools
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import eagle
from eagle import bench, cli, demo, doctor
from eagle.cli import main
from hawk.ir.interpret import interpret


def test_the_demo_prints_the_three_ways_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "made" / "demo.png"

    assert 0 == main(["demo", "--n", "1_000", "--out", str(picture)])

    printed = capsys.readouterr().out
    assert (
        """
  k=1: 1000 launches,  1000 steps, exact_steps=True
 k=16:   63 launches,  1008 steps, exact_steps=False
 auto:   16 launches,  1024 steps, exact_steps=False
1 tiles for 1,000 samples -- about 1,000 samples per tile
"""
        in printed
    )
    assert "the three ways end in the same bits" in printed
    assert f"wrote {picture}" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_demo_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo.importlib.util, "find_spec", lambda name: None)
    picture = tmp_path / "demo.png"

    assert 0 == main(["demo", "--n", "10", "--out", str(picture)])

    assert "for the picture: pip install 'accipiter[plot]'" in capsys.readouterr().out
    assert not picture.exists()


@pytest.mark.parametrize("n", ["0", "-3", "many", "2.5"])
def test_the_demo_needs_samples(n: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["demo", f"--n={n}"])

    assert f"expected a whole number from 1, got {n!r}" in capsys.readouterr().err


@pytest.fixture
def small_bench(monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch in one width, and limits that are found at once."""
    some = bench.batches
    monkeypatch.setattr(bench, "batches", lambda n: itertools.islice(some(n), 1))
    for name, value in {"WIDTHS": ("float64",), "REPEATS": 1, "ENOUGH": 0.0, "BUSY": 8}.items():
        monkeypatch.setattr(bench, name, value)
    monkeypatch.setattr(bench, "FAR", 1 << 12)


@pytest.mark.usefixtures("small_bench")
def test_the_bench_shows_each_batch_next_to_what_the_machine_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "made" / "bench.png"

    assert 0 == main(["bench", "--n", "100", "--plot", str(picture)])

    printed = capsys.readouterr().out
    assert printed.startswith("100 samples on the CPU, ")
    assert "G op/s, multiply-adds that wait for nothing" in printed
    [row] = [line for line in printed.splitlines() if line.startswith("oscillator ")]
    assert ["oscillator", "float64"] == row.split()[:2]
    assert "5" == row.split()[4], "operations a step: two fused ones and an addition"
    assert row.endswith("%")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_every_batch_of_the_bench_runs_to_its_end() -> None:
    for batch in bench.batches(3):
        end = batch.given["t_end"]
        begin = {name: plane.copy() for name, plane in batch.state.items()}
        result = eagle.simulate(batch.kernel, max_steps=bench.MAX_STEPS, **batch.given, **begin)
        assert result.done
        assert np.all(begin["t"] >= end)
        assert all(np.isfinite(plane).all() for plane in begin.values()), batch.name


def test_without_matplotlib_the_bench_says_what_to_install_before_it_measures(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli.importlib.util, "find_spec", lambda name: None)

    with pytest.raises(SystemExit):
        main(["bench", "--plot", "picture.png"])

    assert "for --plot: pip install 'accipiter[plot]'" in capsys.readouterr().err


def test_the_doctor_says_what_is_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["doctor"])

    printed = capsys.readouterr().out
    for word in ("versions", f"Python {sys.version_info[0]}.", "CPU", "threads", "L2 cache", "GPU"):
        assert word in printed
    assert "37 samples" in printed
    assert "every bit as it should be" in printed
    assert printed.endswith("all is well\n")


def test_the_doctor_notices_a_wrong_bit(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(program: object, values: dict[str, object]) -> dict[str, object]:
        after = interpret(program, values)
        return after | {"x": np.nextafter(after["x"], 2.0)} if values["omega"] == 1.0 else after

    monkeypatch.setattr(doctor, "interpret", wrong)

    assert 1 == main(["doctor"])
    assert "FAILED: 1 of 37 samples are not what their program means" in capsys.readouterr().out


def test_the_doctor_survives_a_kernel_that_does_not_compile(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no such target")

    monkeypatch.setattr(doctor, "simulate", broken)

    assert 1 == main(["doctor"])
    printed = capsys.readouterr().out
    assert "no such target" in printed
    assert printed.endswith("something is wrong: see above\n")


def test_a_command_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([])

    assert 2 == caught.value.code
    assert "COMMAND" in capsys.readouterr().err


@pytest.mark.usefixtures("small_bench")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--n", "1_000_000_000_000"], r"--n 1,000,000,000,000 takes 256,000\.0 GB; .*: --n \d+"),
        (["--plot", "{folder}"], r"is a folder: --plot \S+bench\.png"),
        (["--plot", "{folder}/bench.doc"], r"the ending says the format, one of .*png"),
        (["--plot", "{folder}/file/bench.png"], r"nothing can be written in \S+file"),
    ],
)
def test_what_the_bench_cannot_do_is_said_before_it_measures(
    options: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["bench", *(each.format(folder=tmp_path) for each in options)])
    written = capsys.readouterr()
    assert re.search(says, written.err)
    assert "what the machine does" not in written.out


@pytest.mark.usefixtures("small_bench")
def test_the_bench_names_the_file_that_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    assert 0 == main(["bench", "--n", "100", "--plot", str(tmp_path / "bench")])
    written = tmp_path / "bench.png"
    assert f"wrote {written}" in capsys.readouterr().out
    assert written.exists()
