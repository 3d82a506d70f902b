"""The environment as a value."""

import pytest

from eagle.config import Config


@pytest.mark.parametrize(
    ("env", "threads"),
    [
        ({}, None),
        ({"EAGLE_NUM_THREADS": ""}, None),
        ({"EAGLE_NUM_THREADS": "1"}, 1),
        ({"EAGLE_NUM_THREADS": " 12 "}, 12),
    ],
)
def test_the_number_of_threads_is_read(env: dict[str, str], threads: int | None) -> None:
    assert threads == Config.from_env(env).threads


@pytest.mark.parametrize("text", ["0", "-1", "2.5", "all", "²"])
def test_a_wrong_number_of_threads_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="EAGLE_NUM_THREADS") as caught:
        Config.from_env({"EAGLE_NUM_THREADS": text})

    assert (
        f"EAGLE_NUM_THREADS must be a whole number of at least 1, got {text!r}; "
        "unset it to use the cores this process may use"
    ) == str(caught.value)
