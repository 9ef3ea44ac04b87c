"""A derivation as a document whose quantities answers are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from chainrule.errors import ModelError, UnknownNameError
from chainrule.symbolic.answers.alphabet import Alphabet, compact
from chainrule.symbolic.answers.answer import Answer, check
from chainrule.symbolic.documents.blocks import Block, Equation, Formula
from chainrule.symbolic.documents.document import Document


@dataclass(frozen=True, repr=False)
class Derivation(Document):
    r"""A derivation: a document, and the symbols of its quantities, with which one's own results are compared.

    >>> import chainrule as cr
    >>> derivation = cr.load("planar_2r").derivation("newton-euler")
    >>> answer = derivation.check("omega_2", r"\begin{bmatrix} 0 \\ 0 \\ \dot\theta_1 - \dot\theta_2 \end{bmatrix}")
    >>> print(answer)
    omega_2: 1 of 3 entries is wrong
      omega_2[3]: the term has the wrong sign: it should be θ̇₂ [rad/s]
      read: thetadot_1 as qdot_1, thetadot_2 as qdot_2
    """

    alphabet: Alphabet | None = None
    groups: Sequence[Sequence[sp.Expr]] = ()
    plain_blocks: tuple[Block, ...] = ()
    """The blocks in the library's own notation, where the document is in another one."""

    def check(self, name: str, mine: Any, *, symbols: Mapping[Any, Any] | None = None) -> Answer:
        """Compare an answer with a quantity of the derivation: equal, or which entry and which term differ, and how.

        Parameters
        ----------
        name
            The quantity, as the derivation writes it: "omega_2", "v_dot_1", "tau_1", or in LaTeX.
        mine
            A SymPy expression or matrix, nested lists of them, or LaTeX, in one's own symbols.
        symbols
            What symbols of the answer are, where their names do not say so: {"a": "L_1"}.
        """
        known = self._quantities()
        if self.alphabet is None or not known:
            raise ModelError(f"the derivation {self.title!r} has no quantities in symbols to compare an answer with")
        key = _key(name) if isinstance(name, str) else ""
        if key not in known:
            raise UnknownNameError.of("quantity", name, (shown for shown, _ in known.values()), f"{self.title!r}")
        return check(name, known[key][1], mine, self.alphabet, symbols=symbols, groups=self.groups)

    def _quantities(self) -> dict[str, tuple[str, Any]]:
        """The quantities that equations begin with: their names without marks -> names, and expressions."""
        found: dict[str, tuple[str, Any]] = {}
        for block in (*self.blocks, *self.plain_blocks):
            if isinstance(block, Equation) and isinstance(block.sides[0], Formula):
                values = [side for side in block.sides[1:] if isinstance(side, (sp.Expr, sp.MatrixBase))]
                if values:
                    name = block.sides[0].latex
                    found[_key(name)] = name.replace("{", "").replace("}", "").replace("\\", ""), values[-1]
        return found


def _key(name: str) -> str:
    """A name without underscores, its dots at the end: v_dot_1 and \\dot{v}_{1} are one."""
    plain = compact(name)
    dots = "ddot" if "ddot" in plain else "dot" if "dot" in plain else ""
    return plain.replace("ddot", "").replace("dot", "") + dots
