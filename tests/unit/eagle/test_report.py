"""What a run says it did."""

import pickle
from dataclasses import replace

import pytest

from eagle.runs.report import RunReport

DONE = RunReport(
    n=1000,
    finished=1000,
    done=True,
    status="done",
    launches=63,
    steps=1008,
    exact_steps=False,
    launches_by_k={16: 63},
    max_steps=10_000,
    worst=None,
    compactions=0,
    reorders=0,
    mode="steps=16",
    mapped=False,
    threads=2,
    wall_s=0.12345,
    build_s=0.02,
)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "all 1,000 samples done: at most 1,008 steps in 63 launches (steps=16), 0.123 s"),
        (
            {"exact_steps": True, "launches": 1, "mode": "one pass"},
            "all 1,000 samples done: 1,008 steps in 1 launch (one pass), 0.123 s",
        ),
        (
            {
                "n": 1,
                "finished": 1,
                "steps": 1,
                "exact_steps": True,
                "launches": 1,
                "mode": "steps=1",
            },
            "1 sample done: 1 step in 1 launch (steps=1), 0.123 s",
        ),
        (
            {"n": 0, "finished": 0, "steps": 0, "exact_steps": True, "launches": 0},
            "no samples: 0 steps in 0 launches (steps=16), 0.123 s",
        ),
        (
            {
                "finished": 996,
                "done": False,
                "status": "max_steps",
                "worst": 17,
                "max_steps": 500,
                "steps": 500,
                "exact_steps": True,
                "launches": 32,
            },
            (
                "996 of 1,000 samples done, 4 stopped at max_steps=500 (worst: sample 17): "
                "500 steps in 32 launches (steps=16), 0.123 s"
            ),
        ),
        (
            {"finished": 996, "done": False, "status": "interrupted", "worst": 17},
            (
                "interrupted with 996 of 1,000 samples done: "
                "at most 1,008 steps in 63 launches (steps=16), 0.123 s"
            ),
        ),
        (
            {"finished": 996, "done": False, "status": "running", "worst": 17},
            (
                "996 of 1,000 samples done so far: "
                "at most 1,008 steps in 63 launches (steps=16), 0.123 s"
            ),
        ),
    ],
)
def test_a_report_is_a_sentence(changes: dict[str, object], sentence: str) -> None:
    assert sentence == str(replace(DONE, **changes))


def test_a_report_shows_its_sentence_at_a_prompt() -> None:
    assert f"<RunReport: {DONE}>" == repr(DONE)


def test_reports_are_equal_whatever_the_clock_said() -> None:
    assert DONE == replace(DONE, wall_s=9.0, build_s=9.0)
    assert DONE != replace(DONE, launches=62)


def test_a_report_pickles() -> None:
    assert DONE == pickle.loads(pickle.dumps(DONE))
