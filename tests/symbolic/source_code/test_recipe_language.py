"""How to add a language, from outside: the steps of `source_code/languages.py`, for Fortran."""

import re

import pytest
import sympy as sp
from sympy.printing.fortran import FCodePrinter

import chainrule as cr
from chainrule.symbolic.source_code.exports import export, suffix
from chainrule.symbolic.source_code.languages import LANGUAGES, Language
from chainrule.symbolic.source_code.routine import ExpressionWriter

pytestmark = pytest.mark.interpreted


def fortran(prefix, routines):
    """Steps 1 and 2: a subroutine for each routine."""
    parts = [f"! Written by chainrule: {prefix}. SI units.\n"]
    for routine in routines:
        printer = FCodePrinter({"source_format": "free", "standard": 2008})
        write = ExpressionWriter(printer, routine, "{x}({i})", 1)
        rows, columns = routine.matrix.shape
        lines = [f"subroutine {routine.name}({', '.join([*routine.arguments, 'out'])})"]
        lines += [f"  real(8), intent(in) :: {x}({n})" for x, n in routine.arguments.items()]
        lines.append(f"  real(8), intent(out) :: out({rows}, {columns})")
        lines += [f"  real(8) :: {a.name}" for a in routine.assignments]
        lines += [f"  {a.name} = {write(a.value)}" for a in routine.assignments]
        lines += [f"  out({i + 1}, {j + 1}) = {write(x)}" for i, j, x in routine.entries]
        parts.append("\n".join([*lines, "end subroutine\n"]))
    return "\n".join(parts)


@pytest.fixture
def listed(monkeypatch):
    """Step 3."""
    monkeypatch.setitem(LANGUAGES, "fortran", Language(".f90", fortran, frozenset({"subroutine", "kind"})))


@pytest.mark.usefixtures("listed")
def test_equations_are_written_in_the_new_language():
    robot = cr.load("pendulum")
    text = robot.equations().source_code("fortran")
    assert suffix("fortran") == ".f90"
    assert text.count("end subroutine") == 4
    scope = {"sin": sp.sin, "cos": sp.cos, "q": lambda i: sp.Float(0.3)}  # step 4: read line by line
    body = text[text.index("subroutine pendulum_g") :]
    for name, value in re.findall(r"^  (\w+|out\(1, 1\)) = (.*)$", body[: body.index("end subroutine")], re.MULTILINE):
        scope[name] = eval(value.replace("d0", ""), scope)
    assert float(scope["out(1, 1)"]) == pytest.approx(robot.gravity_torque([0.3])[0])


@pytest.mark.usefixtures("listed")
def test_reserved_words_of_the_new_language_are_no_identifiers():
    kind = sp.Symbol("kind")
    assert " kind_2 = 2.0" in export({"f": sp.Matrix([kind])}, "fortran", {kind: 2.0})
