# ruff: noqa: RUF001 (mathematical letters)
"""Expressions from the LaTeX that textbooks print. Nothing in the text is run: it is parsed, and symbols are names.

Products have no sign between their factors, `\\sin \\theta_2 (...)` is the sine of theta_2 times the bracket,
`\\cos^2 x` is a square, and `a / b c` is (a / b) c.
"""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from chainrule.errors import ShapeError
from chainrule.symbolic.answers.alphabet import GREEK
from chainrule.symbolic.documents.formula import (
    Accent,
    Atom,
    Fence,
    FormulaError,
    Fraction,
    Grid,
    Node,
    Root,
    Row,
    Script,
    parse,
)

MAX_LETTERS = 200_000
MAX_DEPTH = 40
"""Length of a text, and depth of its brackets; more is refused."""

MAX_POWER = 12
"""Largest exponent; larger ones stand in no equation of motion."""

MAX_DIGITS = 30
MAX_BITS = 2000
"""Digits of a number, and bits of what a power of a number may have."""

FONTS = re.compile(r"\\(?:mathbf|boldsymbol|mathrm|mathit|bm|mathcal|operatorname|text)\s*\{([A-Za-z]|\\[A-Za-z]+)\}")
SIZES = re.compile(r"\\(?:displaystyle|textstyle|limits|nonumber|[bB]igg?[lrm]?)(?![A-Za-z])")
SHORT_FRACTION = re.compile(r"\\frac\s*(\d)\s*(\d)")
BRACKETS = {"(": ")", "[": "]", "{": "}"}
FUNCTIONS = {"sin": sp.sin, "cos": sp.cos, "tan": sp.tan, "exp": sp.exp, "atan": sp.atan}
SIGNS = frozenset({"+", "−"})
TIMES = frozenset({"·", "×", "*", "∗"})


def expression_from_latex(text: str) -> Any:
    r"""The SymPy expression or matrix of a formula, in symbols of the names that are in it.

    >>> expression_from_latex(r"\frac{1}{2} m_1 \dot{\theta}_1^2 + m_1 g L_1 \sin\theta_1")
    L_1*g*m_1*sin(theta_1) + m_1*thetadot_1**2/2
    """
    if len(text) > MAX_LETTERS:
        raise ShapeError(f"the LaTeX of the answer has {len(text)} letters, of {MAX_LETTERS} at most")
    plain = _normalize(text)
    try:
        _refuse_depth(plain)
        return _Translator(text).value(parse(plain))
    except FormulaError as error:
        raise ShapeError(f"the LaTeX of the answer cannot be read: {error}") from error


def _normalize(text: str) -> str:
    """The formula without fonts, sizes and signs of mathematics around it."""
    plain = text.strip().strip("$").strip()
    plain = re.sub(r"\\[\[\]]", " ", plain)
    plain = SIZES.sub(" ", plain).replace(r"\dfrac", r"\frac").replace(r"\tfrac", r"\frac").replace("~", " ")
    for other in ("pmatrix", "smallmatrix", "Bmatrix"):
        plain = plain.replace(f"{{{other}}}", "{bmatrix}")
    plain = SHORT_FRACTION.sub(r"\\frac{\1}{\2}", FONTS.sub(r"{\1}", plain))
    return plain.rstrip(".,;")


def _refuse_depth(text: str) -> None:
    depth = 0
    for token in re.findall(r"\\left|\\right|\\begin|\\end|\\[{}]|[{}()\[\]^_]|\\d?dot|\\sqrt", text):
        depth += token in ("{", "(", "[", "\\begin", "\\sqrt")
        depth -= token in ("}", ")", "]", "\\end")
        if depth > MAX_DEPTH:
            raise ShapeError(f"the LaTeX of the answer has more than {MAX_DEPTH} brackets inside one another")
    if re.search(rf"(\\d?dot\s*|\\sqrt\s*|[\^_]\s*){{{MAX_DEPTH // 4}}}", text):
        raise ShapeError("the LaTeX of the answer has too many accents or indices on one letter")
    if re.search(r"\^\s*(\{[^{}]*\}|[^{\\\s]|\\[A-Za-z]+)\s*\^", text):
        raise ShapeError("the LaTeX of the answer has a power of a power without brackets")


class _Translator:
    """Translates the tree of a formula."""

    def __init__(self, text: str) -> None:
        self.text = text

    def refuse(self, what: str) -> ShapeError:
        return ShapeError(f"the LaTeX of the answer cannot be read: {what}, in {self.text!r:.80}")

    def value(self, node: Node) -> Any:
        """The expression of a node."""
        if isinstance(node, Row):
            return self.sum(list(node.parts))
        if isinstance(node, Fraction):
            return self.quotient(self.value(node.top), self.value(node.bottom))
        if isinstance(node, Root):
            return sp.sqrt(self.value(node.body))
        if isinstance(node, Fence):
            if (node.opening, node.closing) not in {("(", ")"), ("[", "]"), ("{", "}"), ("", "")}:
                raise self.refuse(f"the brackets {node.opening}{node.closing}")
            return self.value(node.body)
        if isinstance(node, Grid):
            return self.matrix(node)
        if isinstance(node, Script):
            return self.script(node)
        if isinstance(node, Accent):
            return sp.Symbol(self.name(node))
        if node.kind == "number":
            if len(node.text) > MAX_DIGITS:
                raise self.refuse(f"a number of {len(node.text)} digits")
            return sp.Rational(node.text)
        if node.kind in ("letter", "word"):
            return sp.pi if node.text == "π" else sp.Symbol(self.name(node))
        raise self.refuse(f"{node.text!r} is not expected here")

    def matrix(self, grid: Grid) -> sp.Matrix:
        rows = [[self.value(cell) for cell in row] for row in grid.rows if row != (Row(()),)]
        if grid.kind != "matrix" or len({len(row) for row in rows}) != 1:
            raise self.refuse("rows of a matrix that differ in length, or aligned lines; give one expression or matrix")
        return sp.Matrix(rows)

    # --- names and powers ---

    def name(self, node: Node, dots: str = "") -> str:
        """The name of a letter with its dots and its index."""
        if isinstance(node, Accent):
            if node.mark not in ("dot", "ddot"):
                raise self.refuse(f"the accent \\{node.mark}")
            return self.name(node.body, node.mark)
        if isinstance(node, Script) and node.lower is not None and node.upper is None:
            return f"{self.name(node.base, dots)}_{self.index(node.lower)}"
        if isinstance(node, Atom) and node.kind in ("letter", "word") and re.fullmatch(r"[^\W\d_]+", node.text):
            return GREEK.get(node.text, node.text) + dots
        raise self.refuse("an index or a dot on something that is no letter")

    def index(self, node: Node) -> str:
        parts = node.parts if isinstance(node, Row) else (node,)
        letters = []
        for part in parts:
            if isinstance(part, Script) and part.lower is not None and part.upper is None:  # l_{c_1}
                letters.append(self.index(part.base) + self.index(part.lower))
            elif isinstance(part, Atom) and part.kind != "space" and (part.text.isalnum() or part.text in (",", "−")):
                letters.append("-" if part.text == "−" else GREEK.get(part.text, part.text))
            elif not isinstance(part, Atom) or part.kind != "space":
                raise self.refuse("an index that is not of letters and digits")
        return "".join(letters)

    def script(self, node: Script) -> Any:
        if node.upper is None:
            return sp.Symbol(self.name(node))
        base = self.value(node.base if node.lower is None else Script(node.base, node.lower, None))
        if isinstance(base, sp.MatrixBase):
            if isinstance(node.upper, Atom) and node.upper.text in ("T", "⊤"):
                return base.T
            raise self.refuse("a power of a matrix")
        return self.power(base, self.value(node.upper))

    def power(self, base: Any, exponent: Any) -> Any:
        halves = getattr(exponent, "is_Rational", False) and (2 * exponent).is_Integer
        if not halves or abs(exponent) > MAX_POWER:
            raise self.refuse(f"the power {exponent!s:.30}; powers are whole or half numbers up to {MAX_POWER}")
        if any(max(x.p.bit_length(), x.q.bit_length()) * MAX_POWER > MAX_BITS for x in base.atoms(sp.Rational)):
            raise self.refuse("a power of a number that is too large")
        return base**exponent

    def quotient(self, top: Any, bottom: Any) -> Any:
        if isinstance(bottom, sp.MatrixBase) or bottom == 0:
            raise self.refuse("a division by a matrix or by zero")
        return top / bottom

    # --- sums and products ---

    def sum(self, parts: list[Node]) -> Any:
        """A sum, of the parts of a row in order."""
        parts = _with_fences([p for p in parts if not (isinstance(p, Atom) and p.kind == "space")], self)
        terms: list[tuple[int, list[Node]]] = [(1, [])]
        for part in parts:
            if isinstance(part, Atom) and part.kind == "operator" and part.text in SIGNS:
                sign = -1 if part.text == "−" else 1
                if terms[-1][1] and not _is_times(terms[-1][1][-1]):
                    terms.append((sign, []))
                else:
                    terms[-1] = (terms[-1][0] * sign, terms[-1][1])
            else:
                terms[-1][1].append(part)
        values = [self.times(sp.Integer(sign), self.product(factors)) for sign, factors in terms]
        matrices = [isinstance(x, sp.MatrixBase) for x in values]
        if not any(matrices):
            return sp.Add(*values)
        if not all(matrices) or len({x.shape for x in values}) != 1:
            raise self.refuse("a sum of matrices of different sizes")
        return sum(values[1:], start=values[0])

    def product(self, parts: list[Node]) -> Any:
        """A product, whose factors stand beside one another."""
        if not parts:
            raise self.refuse("a term is missing")
        total: Any = None
        divide = False
        while parts:
            part = parts.pop(0)
            if isinstance(part, Atom) and part.kind == "operator":
                if part.text not in TIMES | {"/"} or total is None or not parts:
                    hint = "; give the right-hand side alone" if part.text == "=" else ""
                    raise self.refuse(f"{part.text!r} is not expected here{hint}")
                if divide:
                    raise self.refuse("two signs of division beside each other")
                divide = part.text == "/"
                continue
            factor = self.function(part, parts) if _is_function(part) else self.factor(part, parts)
            if total is None:
                total = factor
            else:
                total = self.quotient(total, factor) if divide else self.times(total, factor)
            divide = False
        return total

    def times(self, a: Any, b: Any) -> Any:
        if isinstance(a, sp.MatrixBase) and isinstance(b, sp.MatrixBase) and a.cols != b.rows:
            raise self.refuse("a product of matrices whose sizes do not fit")
        return a * b

    def factor(self, part: Node, rest: list[Node]) -> Any:
        """A factor; digits right after a letter are its index, L1 for L_1."""
        follows = rest and isinstance(rest[0], (Atom, Script))
        if isinstance(part, Atom) and part.kind == "letter" and follows:
            after = rest[0].base if isinstance(rest[0], Script) else rest[0]
            if isinstance(after, Atom) and after.kind == "number" and after.text.isdigit():
                script = rest.pop(0)
                upper = script.upper if isinstance(script, Script) else None
                if isinstance(script, Script) and script.lower is not None:
                    raise self.refuse("an index of an index")
                return self.script(Script(part, after, upper))
        return self.value(part)

    def function(self, part: Node, rest: list[Node]) -> Any:
        """A function of what follows it: of a bracket, or of one letter, with a number before it."""
        base, upper = (part.base, part.upper) if isinstance(part, Script) else (part, None)
        assert isinstance(base, Atom)
        if base.text not in FUNCTIONS or (isinstance(part, Script) and part.lower is not None):
            raise self.refuse(f"the function {base.text!r}; there are: {', '.join(FUNCTIONS)}")
        if not rest:
            raise self.refuse(f"{base.text} of nothing")
        argument = rest.pop(0)
        if isinstance(argument, Script) and isinstance(argument.base, Fence) and argument.upper is not None:
            raise self.refuse(
                f"{base.text}(...)^n may be a power of {base.text} or of its angle; write \\{base.text}^n(...)"
            )
        value = self.factor(argument, rest)
        if isinstance(argument, Atom) and argument.kind == "number" and rest and not isinstance(rest[0], (Fence, Grid)):
            value = value * self.factor(rest.pop(0), rest)
        if isinstance(value, sp.MatrixBase):
            raise self.refuse(f"{base.text} of a matrix")
        found = FUNCTIONS[base.text](value)
        if upper is None:
            return found
        exponent = self.value(upper)
        if exponent == -1:
            raise self.refuse(f"{base.text}^{{-1}} may be an inverse function or a quotient")
        return self.power(found, exponent)


def _is_times(part: Node) -> bool:
    return isinstance(part, Atom) and part.kind == "operator" and part.text in TIMES | {"/"}


def _is_function(part: Node) -> bool:
    base = part.base if isinstance(part, Script) else part
    return isinstance(base, Atom) and base.kind == "function"


def _with_fences(parts: list[Node], translator: _Translator) -> list[Node]:
    """Put what is between plain brackets into fences; the power of a bracket is on its closing one."""
    stack: list[tuple[str, list[Node]]] = [("", [])]
    for part in parts:
        base = part.base if isinstance(part, Script) else part
        text = base.text if isinstance(base, Atom) and base.kind == "operator" else ""
        if text in BRACKETS:
            stack.append((text, []))
        elif text in BRACKETS.values():
            opening, inside = stack.pop()
            if not stack or BRACKETS[opening] != text:
                raise translator.refuse("a bracket that is not opened")
            fence: Node = Fence(opening, Row(tuple(inside)), text)
            stack[-1][1].append(Script(fence, part.lower, part.upper) if isinstance(part, Script) else fence)
        else:
            stack[-1][1].append(part)
    if len(stack) != 1:
        raise translator.refuse("a bracket that is not closed")
    return stack[0][1]
