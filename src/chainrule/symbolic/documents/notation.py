"""The notations of textbooks: letters, scripts and brackets of the formulas in a document.

Documents are written in one notation, with an index for the link, and translated formula by formula:

    chainrule      omega_i, R_i, V_i, F_i, Ad_{T_{i,p}}, with p the parent of link i
    craig          left superscripts name the frame of a vector: ^i omega_i, ^p_i R, ^i f_i; V and G in the equations
    lynch-park     twists, wrenches, screws and inertias in script letters, adjoints in brackets: [Ad_{T_{i,p}}]
    duindam        V_i^{i,s}, S_i^{i,p}, W_p^{i,i}, H_p^i and Ad_{H_p^i}: of what, in which frame, and seen from where
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock

NOTATIONS = ("chainrule", "craig", "lynch-park", "duindam")
"""Names of the notations."""

PARENTS = {"i": "p", "k": "i", "c": "i"}
"""Letters that stand for a link -> the letter of its parent."""

QUANTITY = re.compile(
    r"(?<![A-Za-z\\])(?P<dot>\\d?dot\{)?(?P<letter>\\omega|\\hat\{z\}|[A-Za-z])(?(dot)\})"
    r"(?:_(?P<index>\{(?:[^{}]|\{[^{}]*\})*\}|[A-Za-z0-9]))?(?P<transposed>\^T)?(?![A-Za-z_}\^])"
    r"|(?<![A-Za-z\\])(?P<plain>\\omega|\\hat\{z\}|[A-Za-z])_(?P<at>\{(?:[^{}]|\{[^{}]*\})*\}|[A-Za-z0-9])(?P<turned>\^T)?"
)
"""A letter with a dot, an index and a transposition, each of which may be missing."""

ADJOINT = re.compile(r"\\mathrm\{([Aa]d)\}_(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|[A-Za-z0-9])(\^T)?")

BEFORE_LEFT_SUPERSCRIPT = re.compile(r"(?<!\\times)(?<=[A-Za-z0-9}]) (?=\{\}\^)")

COORDINATE = re.compile(r"(?<![A-Za-z\\])q(?![A-Za-z])")

IN_OWN_FRAME = {r"\omega", "v", "F", "N", "f", "n", "V", "A", "S", "G", "W"}
"""Quantities of a link that are in its own frame."""

SCRIPT = {"V", "F", "A", "S", "G", "W", "L"}
"""Twists, wrenches, screws and inertias, and the matrices of all links."""


@dataclass(frozen=True)
class Notation:
    """A notation, the parents of a robot's links by index, and the letter of the coordinates."""

    name: str = "chainrule"
    parents: Mapping[str, str] = field(default_factory=dict)
    coordinates: str = "q"
    has_twists: bool = False
    """Whether capital letters are twists and wrenches, and not forces and moments."""

    @staticmethod
    def of(name: str, coordinates: str, bodies: Iterable[Any], *, has_twists: bool = False) -> Notation:
        """The notation of documents about bodies, whose indices and parents it takes."""
        parents = {str(body.index): str(body.parent) for body in bodies}
        letter = coordinates if len(coordinates) == 1 else f"\\{coordinates}"
        return Notation(name, parents, letter, has_twists)

    def blocks(self, blocks: Iterable[Block]) -> tuple[Block, ...]:
        """The blocks with all formulas in this notation."""
        return tuple(map(self._block, blocks))

    def latex(self, formula: str) -> str:
        r"""A formula in this notation.

        >>> Notation("craig", {"2": "1"}).latex(r"\dot{v}_{C2} + R_i^T \omega_p")
        '{}^{2}\\dot{v}_{C2} + {}^{i}_{p} R \\, {}^{p}\\omega_{p}'
        >>> Notation("lynch-park", has_twists=True).latex(r"\mathrm{Ad}_{T_{i,p}} V_p")
        '\\left[\\mathrm{Ad}_{T_{i,p}}\\right] \\mathcal{V}_{p}'
        """
        if self.name == "craig":
            formula = _craig_terms(formula)
        if self.name == "craig" or (self.name != "chainrule" and self.has_twists):
            write = {"craig": self._craig, "lynch-park": self._lynch_park, "duindam": self._duindam}[self.name]
            formula = QUANTITY.sub(lambda match: _translate(match, write), formula)
            formula = ADJOINT.sub(self._adjoint, formula)
            formula = BEFORE_LEFT_SUPERSCRIPT.sub(r" \\, ", formula)
        if self.coordinates != "q":
            formula = COORDINATE.sub(lambda _: self.coordinates, formula)
        return formula

    def _block(self, block: Block) -> Block:
        if isinstance(block, Equation):
            return replace(block, sides=tuple(map(self._piece, block.sides)))
        if isinstance(block, (Heading, Paragraph)):
            return replace(block, text=self._text(block.text))
        if isinstance(block, TableBlock):
            rows = tuple(tuple(map(self._text, row)) for row in block.rows)
            return replace(block, header=tuple(map(self._text, block.header)), rows=rows)
        return block

    def _text(self, text: Any) -> Any:
        return tuple(map(self._piece, text)) if isinstance(text, (tuple, list)) else self._piece(text)

    def _piece(self, piece: Any) -> Any:
        return Formula(self.latex(piece.latex)) if isinstance(piece, Formula) else piece

    def _parent(self, index: str) -> str | None:
        return PARENTS.get(index, self.parents.get(index))

    def _craig(self, letter: str, body: str, index: str, transposed: bool) -> str | None:
        own = index.removeprefix("C")
        parent = self._parent(own)
        pair = index.split(",")
        if letter in ("T", "M") and len(pair) == 2:
            return f"{{}}^{{{pair[0]}}}_{{{pair[1]}}} {body}"
        if not (own.isdigit() or own in ("p", *PARENTS)):
            return None
        if letter == "R" and parent is not None:
            above, below = (own, parent) if transposed else (parent, own)
            return f"{{}}^{{{above}}}_{{{below}}} {body}"
        if letter == "P" and (parent is not None or own != index):
            return f"{{}}^{{{own if own != index else parent}}}{body}_{{{index}}}"
        if letter == r"\hat{z}":
            return rf"{{}}^{{{own}}}\hat{{Z}}_{{{own}}}"
        if letter == "I":
            return f"{{}}^{{C{own}}}{body}_{{{own}}}"
        if letter not in IN_OWN_FRAME:
            return None
        return f"{{}}^{{{own}}}{body}_{{{index}}}" + "^T" * transposed

    def _lynch_park(self, letter: str, body: str, index: str, transposed: bool) -> str | None:
        if letter not in SCRIPT:
            return None
        return body.replace(letter, rf"\mathcal{{{letter}}}") + f"_{{{index}}}" * bool(index) + "^T" * transposed

    def _duindam(self, letter: str, body: str, index: str, transposed: bool) -> str | None:
        pair, parent = index.split(","), self._parent(index)
        if letter in ("T", "M") and len(pair) == 2:
            return f"H_{{{pair[1]}}}^{{{pair[0]}}}" + r" \left(0\right)" * (letter == "M")
        if letter == "H" and index and index != "p":
            return f"{{H_{{{index}}}^{{0}}}}"
        if letter not in SCRIPT:
            return None
        if not index:
            own = r"\mathfrak{I}" if letter == "G" else rf"\mathcal{{{letter}}}"
            return body.replace(letter, own) + "^T" * transposed
        wrench = f"_{{{parent}}}^{{{index},{index}}}" if parent is not None else None
        name, scripts = {
            "V": (r"\mathcal{V}", f"_{{{index}}}^{{{index},s}}"),
            "G": (r"\mathfrak{I}", f"^{{{index},{index}}}"),
            "S": (r"\mathcal{S}", f"_{{{index}}}^{{{index},{parent}}}" if parent is not None else None),
            "A": (r"\mathcal{S}", f"_{{{index}}}^{{{index},{parent}}}" if parent is not None else None),
            "F": (r"\mathcal{W}", wrench), "W": (r"\mathcal{W}", wrench),
        }.get(letter, (letter, None))  # fmt: skip
        if scripts is None:
            return None
        found = body.replace(letter, name) + scripts
        return rf"\left({found}\right)^T" if transposed else found

    def _adjoint(self, match: re.Match[str]) -> str:
        kind, index, transposed = match[1], match[2], match[3] or ""
        if self.name == "lynch-park":
            return rf"\left[\mathrm{{{kind}}}_{index}\right]{transposed}"
        if self.name == "duindam" and kind == "Ad":
            pair = index.strip("{}").split(",")
            parent = self._parent(pair[0])
            pair = [pair[0], parent] if len(pair) == 1 and parent is not None else pair
            if len(pair) == 2 and all(part.isalnum() for part in pair):
                return rf"\mathrm{{Ad}}_{{H_{{{pair[1]}}}^{{{pair[0]}}}}}{transposed}"
        return match[0]


def _translate(match: re.Match[str], write: Callable[[str, str, str, bool], str | None]) -> str:
    """A quantity as a notation writes it, or as it is."""
    letter = match["letter"] or match["plain"]
    body = f"{match['dot']}{letter}}}" if match["dot"] else letter
    index = match["index"] or match["at"] or ""
    index = index[1:-1] if index.startswith("{") else index
    found = write(letter, body, index, bool(match["transposed"] or match["turned"]))
    return match[0] if found is None else found


def _craig_terms(formula: str) -> str:
    """The terms of the equations of motion: V for the velocity torques, G for gravity."""
    formula = formula.replace(r"C \dot{q}", "V")
    formula = re.sub(r"(?<![A-Za-z\\_{])g(?![A-Za-z_])", "G", formula)
    return re.sub(r"(?<![A-Za-z\\])g_\{([1-9]\d*)\}", r"G_{\1}", formula)
