"""Source code of symbolic matrices: a function for each, with common subexpressions computed once.

No name from a robot's file reaches the text as it is: every identifier is made here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from chainrule.errors import ChainruleError, ModelError, ShapeError, UnknownNameError
from chainrule.symbolic.algebra.evaluation import Evaluator, evaluate, stack
from chainrule.symbolic.algebra.expressions import matrix
from chainrule.symbolic.source_code.languages import LANGUAGES
from chainrule.symbolic.source_code.routine import Assignment, Routine

MAX_PREFIX = 48
"""Letters of the first part of a function's name: MATLAB tells names apart by 63 letters."""

CHECKED_STATES = 3
"""Random numbers of each symbol at which common subexpressions are checked."""


@dataclass(frozen=True)
class MatrixFunction:
    """A matrix to be written as a function, and its arguments: lists of symbols by name."""

    matrix: sp.Matrix
    arguments: Mapping[str, Sequence[sp.Symbol]]


def export(
    sources: Mapping[str, MatrixFunction | sp.Matrix],
    language: str,
    constants: Mapping[sp.Symbol, float] | None = None,
    prefix: str = "robot",
    arguments: Mapping[str, Sequence[sp.Symbol]] | None = None,
) -> str:
    """Source code of named matrices, one function for each.

    Parameters
    ----------
    sources
        The matrices by name. A plain matrix is a function of all `arguments`.
    language
        "c", "numpy", "octave" (also for MATLAB), "julia" or "modelica".
    constants
        Numbers of the symbols that are in no argument.
    prefix
        The first part of the functions' names.
    arguments
        Lists of symbols by the name of the argument.
    """
    if language not in LANGUAGES:
        raise UnknownNameError.of("language", language, LANGUAGES, "chainrule")
    reserved = LANGUAGES[language].reserved
    values = dict(constants or {})
    start = identifier(str(prefix)[:MAX_PREFIX])
    routines: list[Routine] = []
    for name, given in sources.items():
        source = (
            given
            if isinstance(given, MatrixFunction)
            else MatrixFunction(matrix(given, f"{name!r:.60}"), dict(arguments or {}))
        )
        own = identifier(f"{start}_{identifier(name)}", frozenset(routine.name for routine in routines))
        routines.append(_routine(own, name, source, values, reserved))
    return LANGUAGES[language].write(start, routines)


def identifier(name: str, taken: frozenset[str] = frozenset()) -> str:
    """A name of letters, digits and underscores like the given one, and not among those that are taken.

    >>> identifier("left arm/1"), identifier("int"), identifier("3R")
    ('left_arm_1', 'int_', 'r_3R')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", str(name)) or "robot"
    plain = plain if plain[0].isalpha() else f"r_{plain}"
    plain = f"{plain}_" if plain in RESERVED else plain
    unique, k = plain, 2
    while unique in taken:
        unique, k = f"{plain}_{k}", k + 1
    return unique


WORDS = """
algorithm and annotation as assert async auto await baremodule begin block break case catch char class connect connector
const constant continue def default del der do double elif else elseif elsewhen encapsulated end endfunction endif enum
equation except export extends extern external false final finally float flow for from function global goto if import in
inline inner input int is lambda let local long loop macro model module nonlocal not operator or outer output package
parameter partial pass persistent protected public quote raise record redeclare register replaceable restrict return
short signed sizeof static struct switch then true try type typedef union unsigned until unwind_protect using void
volatile when while with within yield
e i j pi E I Boolean Integer Real abs cos float64 main np numpy out pow q qd qdd sign sin sqrt zeros
Inf Infinity INFINITY M_E M_PI NA NAN NaN None True False ans assert batch complex double errno eps fabs im inf initial
match nan nothing predefined pre print reinit sample self smooth terminal terminate time tan exp log mutable where
"""
RESERVED = frozenset(WORDS.split())
"""Words of the languages, and names that the written code uses."""


def _routine(
    own: str, label: str, source: MatrixFunction, constants: Mapping[sp.Symbol, float], reserved: frozenset[str]
) -> Routine:
    """The routine of a matrix: common subexpressions found, and a safe name for every symbol."""
    places: dict[sp.Symbol, tuple[str, int]] = {}
    for group, symbols in source.arguments.items():
        if identifier(group) not in (group, f"{group}_"):
            raise ShapeError(f"the argument {group!r} must be named by letters, digits and underscores")
        places |= {symbol: (group, i) for i, symbol in enumerate(symbols)}
    free = source.matrix.free_symbols
    unknown = sorted(str(s) for s in free - places.keys() - constants.keys())
    if unknown:
        raise ShapeError(f"{label!r} has the symbol {unknown[0]!r}, which is no argument and has no number")
    shared, (reduced,) = sp.cse(
        [source.matrix], symbols=sp.numbered_symbols("x", exclude=free, real=True), order="none"
    )
    used = sorted((s for s in constants if s in free), key=str)
    _check_common_subexpressions(label, source.matrix, shared, reduced)
    names: dict[sp.Symbol, str] = {}
    taken = {*source.arguments, *reserved}
    for symbol in (*used, *(s for s, _ in shared)):
        names[symbol] = identifier(symbol.name, frozenset(taken))
        taken.add(names[symbol])
    return Routine(
        own,
        {group: len(symbols) for group, symbols in source.arguments.items()},
        places,
        names,
        [Assignment(names[s], float(constants[s])) for s in used]
        + [Assignment(names[s], value) for s, value in shared],
        sp.Matrix(reduced),
    )


def _check_common_subexpressions(
    label: str, whole: sp.Matrix, shared: Sequence[tuple[sp.Symbol, sp.Expr]], reduced: sp.Matrix
) -> None:
    """Refuse common subexpressions that do not give the matrix back, at random numbers."""
    rng = np.random.default_rng(3)
    values = {symbol: rng.uniform(0.3, 1.3, CHECKED_STATES) for symbol in sorted(whole.free_symbols, key=str)}
    evaluator = Evaluator(values)
    with np.errstate(all="ignore"):
        try:
            expected, sizes = evaluate(list(whole), values, CHECKED_STATES)
            for symbol, expression in shared:
                evaluator.assign(symbol, evaluator(expression))
            found, _ = stack([evaluator(x) for x in reduced], CHECKED_STATES)
        except (ModelError, TypeError):  # functions that only the printers know
            return
        wrong = np.isfinite(expected) & ~(np.abs(found - expected) <= 1e-9 * np.max(sizes, initial=0.0))
    if wrong.any():
        raise ChainruleError(f"the source code of {label!r} differs from its matrix; please report it with the matrix")


def suffix(language: str) -> str:
    """The ending of files in this language."""
    return LANGUAGES[language].suffix
