"""Forms in which named terms of a robot are written: NumPy functions, LaTeX, MathML, text, source code."""

from __future__ import annotations

import builtins
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from keyword import iskeyword
from typing import Any, ClassVar, Self

import numpy as np
import sympy as sp

from chainrule.arguments import Array, number, rows_of
from chainrule.core.derived import merged_model
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, UnknownNameError, short_repr
from chainrule.symbolic.answers.alphabet import Alphabet, CoordinateSymbols, Known
from chainrule.symbolic.answers.answer import Answer, check
from chainrule.symbolic.closed_form.symbol_table import SymbolTable
from chainrule.symbolic.closed_form.symbolic_model import SymbolicModel, symbolic_model
from chainrule.symbolic.documents import printing
from chainrule.symbolic.source_code.exports import MatrixFunction, export

STATE = {"q": "q", "qd": "qd", "qdd": "qdd", "tau": "torques", "wrench": "wrench"}
"""Argument of a term -> the attribute with its symbols."""


class Forms(ABC):
    """Named terms, expressions or matrices in the symbols of a state and in parameters, and how they are written."""

    SUBJECT: ClassVar[str]
    """What the terms belong to, as error messages name it."""
    ARGUMENTS: ClassVar[Mapping[str, tuple[str, ...]]]
    """Term -> its arguments, among q, qd, qdd, tau and wrench."""
    MAIN_TERM: ClassVar[str]
    """The term that is written if none is named."""
    MAIN_TERMS: ClassVar[tuple[str, ...]]
    """The terms whose operations are counted."""
    PARTS: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Term -> the terms that it is the sum of."""

    robot: Mechanism
    symbolic: SymbolicModel

    @property
    def symbols(self) -> SymbolTable:
        """Symbols by name, such as symbols["L_2"]; shown as a table with the meaning, unit and number of each."""
        return self.symbolic.symbols

    def subs(self, old: Any, new: Any = None) -> Self:
        """The same equations with numbers or other symbols for some of the symbols.

        `subs("m_1", 2.0)`, or a dictionary. A symbol is given itself or by its name; a name that is none is refused.
        """
        table = self.symbols
        chosen: dict[str, Any] = {}
        for key, value in _pairs(old, new):
            symbol = table.find(key).symbol
            chosen |= {entry.name: value for entry in table.entries if entry.symbol == symbol}
        choices = self.symbolic.choices.with_others(chosen)
        return replace(self, symbolic=symbolic_model(merged_model(self.robot), choices))  # type: ignore[type-var]

    @property
    @abstractmethod
    def q(self) -> list[sp.Symbol]:
        """Coordinates."""

    @property
    @abstractmethod
    def parameters(self) -> dict[sp.Symbol, float]:
        """Symbols of the robot, and the numbers they stand for, in SI units."""

    def term(self, name: str) -> Any:
        """A term by its name: a SymPy matrix, or an expression."""
        if not isinstance(name, str) or name not in self.ARGUMENTS:
            raise UnknownNameError.of("term", name, self.ARGUMENTS, self.SUBJECT)
        return getattr(self, name)

    @abstractmethod
    def refuse_long_terms(self, *names: str) -> None:
        """Refuse the named terms if they would have too many terms, by an estimate, before they are computed."""

    # --- common subexpressions, functions, source code ---

    @property
    def operations(self) -> dict[str, int]:
        """Number of additions, multiplications, sines and cosines, common subexpressions counted once.

        Of the equations of motion, those in M, c and g; of kinematic equations, those in T and J.
        """
        shared, reduced = self.cse()
        whole = [expression for _, expression in shared]
        whole += [entry for matrix in reduced.values() for entry in matrix]
        return count_operations(whole)

    def cse(self, *names: str) -> tuple[list[tuple[sp.Symbol, sp.Expr]], dict[str, sp.Matrix]]:
        """Common subexpressions of the named terms, and the terms in them; M, c and g, or T and J, by default."""
        chosen = names or self.MAIN_TERMS
        matrices = [_as_matrix(self.term(name)) for name in chosen]
        shared, reduced = sp.cse(matrices, symbols=self._new_symbols())
        return shared, dict(zip(chosen, reduced, strict=True))

    def _new_symbols(self) -> Iterator[sp.Symbol]:
        """Names for common subexpressions that no parameter has."""
        taken = {symbol.name for symbol in self.parameters}
        return (symbol for symbol in sp.numbered_symbols("x_") if symbol.name not in taken)

    def lambdify(self, name: str | None = None, parameters: Mapping[Any, float] | None = None) -> Callable[..., Array]:
        """A NumPy function for a term, batched over leading dimensions.

        Terms of the equations of motion are functions of (q, qd, qdd, wrench), "tau" by default, but "accelerations"
        of (q, qd, tau, wrench); those of kinematic equations of q, "T" by default. `parameters`, by symbol or name,
        replace values of the robot.
        """
        values = dict(self.parameters)
        for key, value in (parameters or {}).items():
            values[self._parameter(key)] = number(value, f"the parameter {key}")
        term = self._main(name)
        from_torques = "tau" in self.ARGUMENTS[name or self.MAIN_TERM]
        groups = {key: group for key, group in self._state().items() if key != ("qdd" if from_torques else "tau")}
        symbols = [*(s for group in groups.values() for s in group), *self.parameters]
        safe = _safe_symbols(symbols)
        entries = [x.xreplace(safe) for x in _as_matrix(term)]
        function = sp.lambdify([safe.get(s, s) for s in symbols], entries, modules="numpy", cse=True)
        shape = _shape(term)
        order = [values[symbol] for symbol in self.parameters]

        def evaluate(q: Any, qd: Any = None, qdd: Any = None, wrench: Any = None) -> Array:
            state = {"q": q, "qd": qd, "tau" if from_torques else "qdd": qdd, "wrench": wrench}
            parts = [_rows(state[key], len(group), key) for key, group in groups.items()]
            arguments = [part[..., i] for part in parts for i in range(part.shape[-1])]
            batch = np.broadcast_shapes(*(a.shape for a in arguments))
            entries = function(*arguments, *order)
            return np.stack([np.broadcast_to(e, batch) for e in entries], axis=-1).reshape((*batch, *shape))

        def evaluate_position(q: Any) -> Array:
            return evaluate(q)

        def evaluate_motion(q: Any, qd: Any = None, tau: Any = None, wrench: Any = None) -> Array:
            return evaluate(q, qd, tau, wrench)

        if from_torques:
            return evaluate_motion
        return evaluate if len(groups) > 1 else evaluate_position

    def _parameter(self, key: Any) -> sp.Symbol:
        """The parameter that is meant by a symbol or a name."""
        shown = next((symbol for symbol in self.parameters if symbol.name == str(key)), None)
        if shown is not None:
            return shown
        symbol = self.symbols.get(str(key))
        if symbol not in self.parameters:
            raise UnknownNameError.of("parameter", str(key), map(str, self.parameters), self.SUBJECT)
        return symbol

    # --- answers ---

    def check(
        self, name: str, mine: Any, *, symbols: Mapping[Any, Any] | None = None, rows: Sequence[int] | None = None
    ) -> Answer:
        """Compare an answer with a term: equal, or which entry and which term differ, and how.

        Parameters
        ----------
        name
            The term, such as "M" or "tau", or "J" of kinematic equations.
        mine
            A SymPy expression or matrix, nested lists of them, or LaTeX, in one's own symbols: theta_1 and q1 are q_1,
            l1 is L_1, dtheta1 is qdot_1, c_12 the cosine of q_1 + q_2. What could be two things is refused.
        symbols
            What symbols of the answer are, where their names do not say so: {"a": "L_1"}.
        rows
            The rows that the answer has, from 0, if not all: rows=[3, 4] of a planar Jacobian.

        >>> import chainrule as cr
        >>> print(cr.load("pendulum").equations().check("g", r"-m L g \\sin\\theta"))
        g: wrong
          g[1]: the term has the wrong sign: it should be m L g sin(θ) [N m]
          read: L as L_1, m as m_1, theta as q_1
        """
        found = self.term(name)
        groups = self.symbolic.ring.groups
        return check(name, found, mine, self.alphabet(), symbols=symbols, groups=groups, rows=rows)

    def alphabet(self) -> Alphabet:
        """The symbols of these equations, for answers in other ones."""
        rates = [getattr(self, group, self.q) for group in ("q", "qd", "qdd")]
        by_symbol = {entry.symbol: entry for entry in self.symbols.entries}
        coordinates = [
            CoordinateSymbols(k + 1, own, unit == "rad", self._offset(k + 1))
            for k, (own, unit) in enumerate(
                zip(
                    zip(*rates, strict=True), (by_symbol[s].unit if s in by_symbol else "" for s in self.q), strict=True
                )
            )
        ]
        known = tuple(Known(entry.name, entry.symbol, entry.unit) for entry in self.symbols.entries)
        efforts = [("N m" if coordinate.is_angle else "N") for coordinate in coordinates]
        torques = zip(getattr(self, "torques", ()), efforts, strict=False)
        known += tuple(Known(symbol.name, symbol, effort) for symbol, effort in torques)
        return Alphabet(known, tuple(coordinates), self.SUBJECT)

    def _offset(self, index: int) -> str:
        """The name of what a textbook's angle has beside a coordinate, if there is any."""
        name = f"theta_0{index}"
        return name if name in self.symbols else ""

    def source_code(self, language: str, names: Sequence[str] | None = None, *, prefix: str | None = None) -> str:
        """Source code of terms, one function for each; parameters are constants at the top of every function.

        language: "c", "numpy", "octave" (also for MATLAB), "julia" or "modelica". names: the terms; M, c, g and tau,
        or T and J, by default. prefix: the first part of the functions' names, the robot's name by default.
        """
        if isinstance(names, str):
            raise ShapeError(f"source_code takes a list of terms, such as [{names!r:.60}], not a text")
        chosen = tuple(dict.fromkeys((*self.MAIN_TERMS, self.MAIN_TERM) if names is None else names))
        for name in chosen:
            if name not in self.ARGUMENTS:
                raise UnknownNameError.of("term", name, self.ARGUMENTS, self.SUBJECT)
        self.refuse_long_terms(*(part for name in chosen for part in self.PARTS.get(name, (name,))))
        groups = self._state()
        sources = {
            name: MatrixFunction(
                _as_matrix(self.term(name)), {group: groups[group] for group in self.arguments_of(name)}
            )
            for name in chosen
        }
        return export(sources, language, self.parameters, prefix or self.robot.model.name)

    def arguments_of(self, name: str) -> tuple[str, ...]:
        """The arguments of a term, among q, qd, qdd, tau and wrench."""
        return tuple(group for group in self.ARGUMENTS[name] if group in self._state())

    def _state(self) -> dict[str, list[sp.Symbol]]:
        """The symbols of each part of the state that any term depends on."""
        used = {group for groups in self.ARGUMENTS.values() for group in groups}
        groups = {group: getattr(self, attribute) for group, attribute in STATE.items() if group in used}
        return {name: symbols for name, symbols in groups.items() if symbols}

    # --- text ---

    def latex(self, name: str | None = None, *, shorthand: bool = False) -> str:
        """LaTeX of a term, tau or T by default; `shorthand` writes c_1 and s_12 for cosines and sines."""
        return printing.latex(self._printable(name, shorthand))

    def mathml(self, name: str | None = None, *, shorthand: bool = False) -> str:
        """Presentation MathML of a term, tau or T by default."""
        return printing.mathml(self._printable(name, shorthand))

    def pretty(self, name: str | None = None, *, shorthand: bool = False) -> str:
        """Unicode text of a term, tau or T by default."""
        return printing.pretty(self._printable(name, shorthand))

    def _printable(self, name: str | None, shorthand: bool) -> Any:
        term = self._main(name)
        if not shorthand:
            return term
        return printing.abbreviate(term, self.q, (symbol.name for symbol in self.parameters))

    def _main(self, name: str | None) -> Any:
        return self.term(self.MAIN_TERM if name is None else name)


def _rows(value: Any, n: int, name: str) -> Array:
    """A part of the state (..., n), zero unless given."""
    if value is None:
        return np.zeros(n)
    return rows_of(value, n, name, "moment and force" if name == "wrench" else "the joints")


def _pairs(old: Any, new: Any) -> list[tuple[Any, Any]]:
    """Old and new symbols, from two arguments, a dictionary or a list of pairs."""
    if new is not None:
        return [(old, new)]
    if isinstance(old, Mapping):
        return list(old.items())
    if isinstance(old, (list, tuple)) and all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in old):
        return [(key, value) for key, value in old]
    raise ShapeError(f"subs takes an old and a new symbol, or a dictionary of them, got {short_repr(old)}")


def _as_matrix(term: Any) -> sp.Matrix:
    """A term as a matrix; an expression is its only entry."""
    return term if isinstance(term, sp.MatrixBase) else sp.Matrix([term])


def _shape(term: Any) -> tuple[int, ...]:
    """The shape of the array of a term: columns are vectors, expressions are scalars."""
    if not isinstance(term, sp.MatrixBase):
        return ()
    return (term.rows,) if term.cols == 1 else tuple(term.shape)


def _safe_symbols(symbols: Sequence[sp.Symbol]) -> dict[sp.Symbol, sp.Symbol]:
    """Other symbols for those whose names mean something to Python or NumPy, such as lambda and sin."""
    taken = {symbol.name for symbol in symbols}
    found = {}
    for symbol in symbols:
        name = symbol.name
        while iskeyword(name) or hasattr(np, name) or hasattr(builtins, name) or name.startswith("_"):
            name = f"v_{name}"
            while name in taken:
                name = f"{name}_"
        if name != symbol.name:
            taken.add(name)
            found[symbol] = sp.Symbol(name, **symbol.assumptions0)
    return found


def count_operations(expressions: Sequence[sp.Expr]) -> dict[str, int]:
    """Numbers of additions, multiplications (divisions and powers included), sines and cosines in expressions.

    A fraction is one number: 8/5 x is one multiplication.
    """
    plain = [e.xreplace({x: sp.Dummy() for x in e.atoms(sp.Number) if not x.is_Integer}) for e in expressions]
    visual = sp.Add(*(sp.count_ops(e, visual=True) for e in plain))
    found = {str(term.as_coeff_Mul()[1]): int(term.as_coeff_Mul()[0]) for term in sp.Add.make_args(visual)}
    found.pop("1", None)
    trigonometric = sum(found.pop(name, 0) for name in ("SIN", "COS"))
    additions = sum(found.pop(name, 0) for name in ("ADD", "SUB", "NEG"))
    multiplications = sum(found.pop(name, 0) for name in ("MUL", "DIV", "POW"))
    return {
        "additions": additions, "multiplications": multiplications, "trigonometric": trigonometric,
        "total": additions + multiplications + trigonometric + sum(found.values()),
    }  # fmt: skip
