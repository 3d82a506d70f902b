"""The code of every error of a graph, with what the rule behind it is. Codes are stable."""

from __future__ import annotations

from collections.abc import Mapping

from hawk.errors import NOWHERE, HawkError, Loc, render


class GraphError(HawkError):
    """A graph that cannot be built as it is written.

    `code` names the rule, `what` says what is wrong, `loc` is the place and `fix` what to write
    instead. No array was touched.
    """

    def __init__(self, code: str, what: str, loc: Loc = NOWHERE, fix: str = "") -> None:
        # What to write mostly stands on another line, so it is told and never pasted: no edits.
        self.code, self.what, self.loc, self.fix, self.edits = code, what, loc, fix, ()
        self.message = render(code, what, loc, fix)
        Exception.__init__(self, self.message)


GraphError.__module__ = "eagle"

GRAPH_FAMILIES: Mapping[str, str] = {
    "G1": "Builders of graphs",
    "G2": "Nodes of graphs",
    "G3": "Branches that run at once",
    "G4": "What a device cannot do",
}
"""How codes begin, and what such codes are about."""

GRAPH_CODES: Mapping[str, str] = {
    "G101": "A statement that cannot be part of a graph.",
    "G102": "A builder that does not make one graph and return it.",
    "G103": "The truth of something whose numbers are known only at replay.",
    "G104": "Computing with a plane while a graph is built: its numbers are known only at replay.",
    "G105": "A Python value that would depend on what is known only at replay.",
    "G106": "A list, dict or array that changes where nobody knows yet how often it runs.",
    "G107": "A loop that cannot be recorded.",
    "G108": "A pattern that cannot be compared with a cell.",
    "G109": "A plane in which paths meet, used as if it were the array of one of them.",
    "G201": "A node with planes on both sides.",
    "G202": "A host kernel of a device's graph whose output has no array.",
    "G203": "Two ends that a copy cannot have.",
    "G204": "A Python function whose planes are not said, or said wrongly.",
    "G205": "A reduction that cannot be a node.",
    "G206": "An array that a node would have to copy in and out.",
    "G207": "A number that every launch of a node must know when the graph is built.",
    "G301": "Two branches that touch the same memory, in no order.",
    "G302": "A wait for nothing.",
    "G303": "A fork that is not written as one.",
    "G401": "A node that a device cannot have in a graph, or not at this place.",
}


def graph_error(code: str, what: str, loc: Loc, fix: str = "") -> GraphError:
    """The error of this code, which is one of the table."""
    assert code in GRAPH_CODES
    return GraphError(code, what, loc, fix)
