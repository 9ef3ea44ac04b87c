# ruff: noqa: RUF001 (mathematical letters)
"""Parser of the LaTeX that this library writes: a tree, from which other notations are written.

SymPy's LaTeX is the best of its notations; MathML and plain text are made from it. A small part of LaTeX is enough:
letters, numbers, scripts, fractions, roots, accents, brackets and grids.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from chainrule.errors import ChainruleError

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ",
    "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ",
    "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ", "partial": "∂", "infty": "∞",
}  # fmt: skip
SCRIPT_LETTERS = dict(zip("AFGLSVW", "𝒜ℱ𝒢ℒ𝒮𝒱𝒲", strict=True))
FRAKTUR = {"I": "ℑ"}
OPERATORS = {
    "cdot": "·", "times": "×", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "ne": "≠", "approx": "≈",
    "sum": "∑", "int": "∫", "to": "→", "ldots": "…", "cdots": "⋯", "wedge": "∧", "vee": "∨", "pm": "±", "in": "∈",
    "top": "⊤",
    "{": "{", "}": "}", "%": "%", "#": "#", "$": "$", "_": "_", "lvert": "|", "rvert": "|",
}  # fmt: skip
FUNCTIONS = frozenset({"sin", "cos", "tan", "log", "exp", "max", "min", "atan", "asin", "acos", "det"})
SPACES = {",": 0.17, ":": 0.22, ";": 0.28, " ": 0.25, "quad": 1.0, "qquad": 2.0, "!": 0.0}
ACCENTS = {"dot": "˙", "ddot": "¨", "hat": "^", "bar": "¯", "tilde": "~"}
GRIDS = {"matrix": "matrix", "array": "matrix", "bmatrix": "bmatrix", "aligned": "aligned", "cases": "cases"}


@dataclass(frozen=True)
class Atom:
    """A letter, a number, an operator, a word, the name of a function, or a space with its width in em."""

    kind: str
    text: str


@dataclass(frozen=True)
class Row:
    """Nodes in a row."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Script:
    """A node with a subscript, a superscript, or both."""

    base: Node
    lower: Node | None
    upper: Node | None


@dataclass(frozen=True)
class Fraction:
    """A fraction."""

    top: Node
    bottom: Node


@dataclass(frozen=True)
class Root:
    """A square root."""

    body: Node


@dataclass(frozen=True)
class Accent:
    """A node with a mark above it."""

    body: Node
    mark: str


@dataclass(frozen=True)
class Fence:
    """Brackets that grow with their content."""

    opening: str
    body: Node
    closing: str


@dataclass(frozen=True)
class Grid:
    """A matrix, aligned lines, or cases."""

    kind: str
    rows: tuple[tuple[Node, ...], ...]


Node: TypeAlias = Atom | Row | Script | Fraction | Root | Accent | Fence | Grid

WORD = re.compile(r"\\(text|mathrm|operatorname|mathtt)\{([^{}]*)\}")
TOKEN = re.compile(WORD.pattern.replace("(", "(?:") + r"|\\[A-Za-z]+|\\\\|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
LEAF = re.compile(r"[A-Za-z\u0370-\u03ff]")


class FormulaError(ChainruleError, ValueError):
    """The formula is not in the part of LaTeX that this parser reads."""


def parse(latex: str) -> Node:
    r"""The tree of a formula.

    >>> parse(r"\dot{q}_{1}")
    Script(base=Accent(body=Atom(kind='letter', text='q'), mark='dot'), lower=Atom(kind='number', text='1'), upper=None)
    """
    reader = _Reader(latex)
    tree = reader.row(())
    if reader.tokens:
        raise FormulaError(f"unexpected {reader.tokens[-1]!r} in the formula {latex!r:.80}")
    return tree


class _Reader:
    """A recursive-descent parser. The list of tokens is reversed, so that the next one is the last."""

    def __init__(self, latex: str) -> None:
        self.latex = latex
        self.tokens = [token for token in TOKEN.findall(latex) if not token.isspace()][::-1]

    def _next(self, expected: str | None = None) -> str:
        token = self.tokens.pop() if self.tokens else ""
        if (expected is not None and token != expected) or not token:
            raise FormulaError(f"{token or 'the end'!r} instead of {expected or 'more'!r} in {self.latex!r:.80}")
        return token

    def row(self, ends: tuple[str, ...]) -> Node:
        """The nodes up to one of the given tokens, which is not consumed."""
        parts: list[Node] = []
        while self.tokens and self.tokens[-1] not in ends:
            if self.tokens[-1] in ("}", "&", "\\\\", "\\right", "\\end"):
                break
            parts.append(self._with_scripts())
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def _group(self) -> Node:
        if self.tokens and self.tokens[-1] != "{":
            return self._one()
        self._next("{")
        body = self.row(("}",))
        self._next("}")
        return body

    def _name(self) -> str:
        """The name between braces."""
        self._next("{")
        letters = []
        while self.tokens and self.tokens[-1] != "}":
            letters.append(self._next())
        self._next("}")
        return "".join(letters)

    def _with_scripts(self) -> Node:
        base = self._one()
        lower: Node | None = None
        upper: Node | None = None
        while self.tokens and self.tokens[-1] in ("_", "^"):
            if self._next() == "_":
                lower = self._group()
            else:
                upper = self._group()
        return base if lower is None and upper is None else Script(base, lower, upper)

    def _one(self) -> Node:
        token = self._next()
        if token == "{":
            self.tokens.append(token)
            return self._group()
        if word := WORD.fullmatch(token):
            return Atom("function" if word[1] == "operatorname" else "word", word[2])
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[0].isdigit():
            return Atom("number", token)
        if LEAF.match(token):
            return Atom("letter", token)
        return Atom("operator", "−" if token == "-" else "′" if token == "'" else token)

    def _command(self, name: str) -> Node:
        if name in LETTERS:
            return Atom("letter", LETTERS[name])
        if name in FUNCTIONS:
            return Atom("function", name)
        if name in SPACES:
            return Atom("space", str(SPACES[name]))
        if name in OPERATORS:
            return Atom("operator", OPERATORS[name])
        if name in ACCENTS:
            return Accent(self._group(), name)
        if name in ("mathcal", "mathfrak"):
            letter = self._name()
            return Atom("letter", (SCRIPT_LETTERS if name == "mathcal" else FRAKTUR).get(letter, letter))
        if name == "frac":
            return Fraction(self._group(), self._group())
        if name == "sqrt":
            return Root(self._group())
        if name == "left":
            return self._fence()
        if name == "begin":
            return self._grid()
        raise FormulaError(f"the command \\{name} in {self.latex!r:.80} is not among those that are read")

    def _fence(self) -> Node:
        opening = self._next().lstrip("\\")
        body = self.row(("\\right",))
        self._next("\\right")
        closing = self._next().lstrip("\\")
        marks = {".": "", "lvert": "|", "rvert": "|"}
        return Fence(marks.get(opening, opening), body, marks.get(closing, closing))

    def _grid(self) -> Node:
        name = self._name()
        if name not in GRIDS:
            raise FormulaError(f"{name!r} in {self.latex!r:.80} is not among the grids that are read: {sorted(GRIDS)}")
        if name == "array":
            self._name()
        rows: list[list[Node]] = [[]]
        while True:
            rows[-1].append(self.row(("&", "\\\\", "\\end")))
            token = self._next()
            if token == "\\\\":
                rows.append([])
            elif token == "\\end":
                break
        self._name()
        grid = Grid(GRIDS[name], tuple(map(tuple, rows)))
        return Fence("[", Grid("matrix", grid.rows), "]") if name == "bmatrix" else grid


def is_function(node: Node) -> bool:
    """Whether a node is the name of a function, with scripts or without."""
    base = node.base if isinstance(node, Script) else node
    return isinstance(base, Atom) and base.kind == "function"


def is_operand(node: Node) -> bool:
    """Whether a node is neither an operator nor a space."""
    return not (isinstance(node, Atom) and node.kind in ("operator", "space"))


def width(node: Node) -> float:
    """The approximate width of a formula, in letters."""
    if isinstance(node, Atom):
        return float(node.text) if node.kind == "space" else len(node.text) * (2.0 if node.kind == "operator" else 1.0)
    if isinstance(node, Row):
        return sum(map(width, node.parts))
    if isinstance(node, Script):
        return width(node.base) + 0.7 * max(width(s) if s else 0.0 for s in (node.lower, node.upper))
    if isinstance(node, Fraction):
        return max(width(node.top), width(node.bottom))
    if isinstance(node, (Root, Accent)):
        return width(node.body) + isinstance(node, Root)
    if isinstance(node, Fence):
        return width(node.body) + 2
    columns = max(map(len, node.rows))
    return sum(max(width(row[k]) if k < len(row) else 0.0 for row in node.rows) + 2 for k in range(columns))
