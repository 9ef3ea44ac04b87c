"""Names of the quantities of a link, in LaTeX."""

from __future__ import annotations

LETTERS = {
    "omega": r"\omega", "omega_dot": r"\dot{\omega}", "v_dot": r"\dot{v}", "v_dot_com": r"\dot{v}_{C", "F": "F",
    "N": "N", "f": "f", "n": "n",
}  # fmt: skip
"""Column of the Newton-Euler table -> letter; "_{C" is where an index begins."""


def subscript(letter: str, i: int | str) -> str:
    """A letter with an index."""
    return f"{letter}_{{{i}}}"


def link_quantity(column: str, i: int | str) -> str:
    r"""The name of a column of the Newton-Euler table for link i.

    >>> link_quantity("omega_dot", 2), link_quantity("v_dot_com", 2)
    ('\\dot{\\omega}_{2}', '\\dot{v}_{C2}')
    """
    letter = LETTERS[column]
    return f"{letter}{i}}}" if letter.endswith("{C") else subscript(letter, i)
