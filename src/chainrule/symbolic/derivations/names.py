"""Names of a link's quantities, in LaTeX."""

from __future__ import annotations

LETTERS = {
    "omega": r"\omega", "omega_dot": r"\dot{\omega}", "v_dot": r"\dot{v}", "v_dot_com": r"\dot{v}_{C", "F": "F",
    "N": "N", "f": "f", "n": "n",
}  # fmt: skip


def at(letter: str, i: int | str) -> str:
    """A letter with an index."""
    return f"{letter}_{{{i}}}"


def of_link(quantity: str, i: int | str) -> str:
    r"""A column of the Newton-Euler table, of link i.

    >>> of_link("omega_dot", 2), of_link("v_dot_com", 2)
    ('\\dot{\\omega}_{2}', '\\dot{v}_{C2}')
    """
    letter = LETTERS[quantity]
    return f"{letter}{i}}}" if letter.endswith("{C") else at(letter, i)
