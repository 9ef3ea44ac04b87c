"""Elements of the ring as scalars of the library's algorithms."""

import pytest
import sympy as sp

import chainrule as cr
from chainrule.spatial import Vector, scalar
from chainrule.symbolic.algebra.ring import Ring

pytestmark = pytest.mark.interpreted


def test_elements_have_sines_and_cosines():
    a = sp.Symbol("a", real=True)
    x = Ring().angle(a)
    assert scalar.sin(x).sympy() == sp.sin(a)
    assert (scalar.sin(x) ** 2 + scalar.cos(x) ** 2).sympy() == 1


def test_other_classes_of_the_library_are_no_scalars_after_equations():
    cr.load("pendulum").equations()
    with pytest.raises(TypeError, match="not a scalar"):
        scalar.sin(Vector(0, 0, 0))
