"""The code of every error of hawk, with what the rule behind it is.

Codes are stable: documentation and users refer to them. `docs/errors.md` is made from this table.
"""

from __future__ import annotations

from collections.abc import Mapping

FAMILIES: Mapping[str, str] = {
    "H1": "Text and structure",
    "H2": "Types and values",
    "H3": "Names and calls",
    "H4": "Limits",
    "H5": "The machine",
    "H6": "Checks",
}
"""How codes begin, and what such codes are about."""

CODES: Mapping[str, str] = {
    # text and structure
    "H101": "The source text of a function cannot be found.",
    "H102": "The source text found is not the one the function was made from.",
    "H103": "A statement or expression that is not part of the language.",
    "H104": "A parameter of a kernel has no annotation.",
    "H105": "An annotation that does not say what a parameter or output is.",
    "H106": "A parameter that collects any number of arguments.",
    "H107": "A name that a plane cannot have.",
    "H108": "More than one Terminated parameter.",
    "H109": "What is returned and what the signature says are not of the same form.",
    "H110": "A function that is not plain Python: async, or a generator.",
    "H111": "A number of steps that the kernel cannot take.",
    "H112": "A kernel that leaves nothing behind.",
    "H113": "A Terminated that is never assigned.",
    # types and values
    "H201": "An operator that these types do not have.",
    "H202": "A float where an integer is needed; a float never becomes an integer silently.",
    "H203": "A number known now that the type it meets cannot hold.",
    "H204": "Integers of different types that do not mix without a conversion.",
    "H205": "A value of one type on one path and of another type on another.",
    "H206": "A loop that changes the type of a value it carries.",
    "H207": "A value stored or returned whose type does not fit its plane.",
    "H208": "A truth value of something that has none at run time.",
    "H209": "An operation that is not there yet.",
    "H210": "An error of Python in the part of a kernel that runs while it is traced.",
    "H211": "A wider float where the kernel's float is needed.",
    "H212": "A value that must be known when the kernel is traced.",
    "H213": "Numbers that do not fit the parts they are assigned to.",
    "H214": "Shapes of small arrays that do not go together.",
    "H215": "An index that is not one of the places of a table or a grid.",
    "H216": "Something given to a table that does not take it, or not in this way.",
    "H217": "Neighbours of numbers that the step itself changes.",
    # names and calls
    "H301": "A name that is not defined.",
    "H302": "A name that is bound on one path only, or read before it is bound.",
    "H303": "A call of something a kernel cannot call.",
    "H304": "A function of a library that has no meaning in a kernel.",
    "H305": "Arguments that do not fit the parameters.",
    "H306": "An array captured as data.",
    "H307": "An attribute that is not there, or not on a number.",
    "H308": "An assignment to something that is not a local name of this function.",
    "H309": "An array, or an object, that changed under another name.",
    # limits
    "H401": "Calls nested too deeply: recursion without an end.",
    "H402": "A loop that unrolls into too many passes.",
    "H403": "An expression nested too deeply.",
    "H404": "Something of unknown length.",
    "H405": "A reduction or a scatter of all samples where only some come by.",
    # the machine
    "H501": "A processor that cannot run what hawk compiles.",
    "H502": "A GPU that hawk makes no code for.",
    # checks
    "H601": "An assertion that does not hold for a sample.",
    "H602": "A number that became NaN.",
    "H603": "A number without a true result: out of range as an integer, or divided by 0.",
    "H604": "An index outside of a table or grid: the nearest place is read, and nothing is given.",
}
