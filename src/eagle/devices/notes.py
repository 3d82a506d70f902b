"""What an exception that ends the replays of a graph says of them, as Ctrl-C does."""

from __future__ import annotations


def ended_after(done: int, n: int, begun: str = "") -> str:
    """When the replays that were begun are over; `begun`: a function that it came out of."""
    if not done:
        return f"before replay 1 of {n}: arrays are as they were"
    but = f", but for what `{begun}` does, where this came" if begun else ""
    return f"after replay {done} of {n}: arrays are those of whole replays{but}"


def ended_launching(least: int, most: int, n: int) -> str:
    """Of replays that go on when they were launched: how many were, as far as that is known."""
    launched = f"{least}" if least == most else f"{least} or {most}"
    go_on = "those go on, and the next call waits for them; arrays are those of whole replays then"
    return f"{launched} of {n} replays were launched: {go_on}"


def ended_within(replay: int, n: int, node: str) -> str:
    """In the middle of a replay."""
    at = f", at the node `{node}`" if node else ""
    hold = "arrays hold a part of that replay; the next launch begins a new one"
    return f"within replay {replay} of {n}{at}: {hold}"
