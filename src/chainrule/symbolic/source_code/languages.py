"""The languages in which source code is written.

How to add a language, for example Fortran:

1. Write a function `fortran(prefix, routines)` that returns the text of a file, with one function for each `Routine`
   (`source_code/routine.py`): its arguments, then `assignments` in order, then the entries of `matrix`.
   `source_code/julia.py` is a short example.
2. Write expressions with `ExpressionWriter(printer, routine, place, first)`: a printer of SymPy for the language
   (sympy.printing has many), how the entry {i} of an argument {x} is written, and the index of the first entry. Write
   no other names than those of the routine: they are safe identifiers.
3. List the language: `LANGUAGES["fortran"] = Language(".f90", fortran, reserved)`. `reserved` are the words that no
   identifier may be, apart from those in `exports.RESERVED`. From then on, `export(..., "fortran")` and
   `robot.equations().source_code("fortran")` write it, and so does `chainrule equations ROBOT --code fortran`.
4. Test it: run the code, or read it line by line, and compare with the robot's kernels.

`tests/symbolic/source_code/test_recipe_language.py` follows these steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chainrule.symbolic.source_code.c import c
from chainrule.symbolic.source_code.julia import julia
from chainrule.symbolic.source_code.modelica import modelica
from chainrule.symbolic.source_code.numpy import numpy
from chainrule.symbolic.source_code.octave import octave
from chainrule.symbolic.source_code.routine import Routine


class Language(NamedTuple):
    """A language: the ending of its files, the function that writes routines in it, and words that are reserved."""

    suffix: str
    write: Callable[[str, Sequence[Routine]], str]
    reserved: frozenset[str] = frozenset()


LANGUAGES = {
    "c": Language(".c", c),
    "numpy": Language(".py", numpy),
    "octave": Language(".m", octave),
    "julia": Language(".jl", julia),
    "modelica": Language(".mo", modelica),
}
