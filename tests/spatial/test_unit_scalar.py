"""Numbers that carry units."""

from __future__ import annotations

import pytest

import chainrule as cr
from chainrule.algorithms import rnea
from chainrule.spatial import UnitScalar, scalar
from chainrule.spatial.units import UnitError

pytestmark = pytest.mark.interpreted


M, KG = UnitScalar(2.0, "m"), UnitScalar(3.0, "kg")


def test_arithmetic_keeps_units():
    assert repr(KG * M / UnitScalar(1.0, "s") ** 2) == "6 N"
    assert (M * M).unit == "m^2"
    assert (1 / M).unit == "m^-1"
    assert (M**0.5 * M**0.5).has_unit("m")
    assert (M + 0) is M
    assert M - 0 == M
    assert UnitScalar(-2.0, "m") == (0 - M)
    assert M * 0 == 0
    assert 0 / M == 0
    assert abs(-M) == M
    assert float(5 * M) == 10.0
    assert M > 0
    assert UnitScalar(1.0, "m") < M
    assert M != KG
    assert hash(M) == hash(UnitScalar(2.0, "m"))
    assert repr(UnitScalar(0.5) + 1) == "1.5"


def test_functions_take_angles_and_plain_numbers():
    angle = M / UnitScalar(4.0, "m")
    assert float(scalar.sin(angle)) == pytest.approx(0.479425538604203)
    assert float(scalar.cos(angle) ** 2 + scalar.sin(angle) ** 2) == pytest.approx(1.0)
    assert float(scalar.exp(0 * M + UnitScalar(0.0))) == 1.0
    assert scalar.sqrt(M * M) == M
    assert float(scalar.atan2(M, M)) == pytest.approx(0.7853981633974483)
    assert scalar.where(M > 0, M, 0) is M


BROKEN = {
    "a sum": (lambda: M + KG, "2 m and 3 kg cannot be added"),
    "a difference": (lambda: M - 1.0, "2 m and 1 cannot be subtracted"),
    "a comparison": (lambda: M < KG, "cannot be compared"),
    "a sine": (lambda: scalar.sin(M), "2 m has a unit, and sin takes a plain number or an angle"),
    "an exponential": (lambda: scalar.exp(KG), "exp takes a plain number"),
    "an angle": (lambda: scalar.atan2(M, KG), "no sides of one triangle"),
    "a unit": (lambda: UnitScalar(1.0, "furlong"), "'furlong' in 'furlong' is not among the units that are known"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_does_not_fit_together_is_refused(name):
    call, match = BROKEN[name]
    with pytest.raises(UnitError, match=match):
        call()


def test_an_algorithm_runs_on_them_and_finds_a_length_that_has_lost_its_unit():
    arm = cr.load("planar_2r")
    model = arm.model.map(lambda x, unit: x if x == 0 or unit == "1" else UnitScalar(x, unit))
    tau = rnea.gravity_torque(model, [UnitScalar(0.3), UnitScalar(-0.5)])
    assert [t.unit for t in tau] == ["N m", "N m"]
    assert [float(t) for t in tau] == pytest.approx(arm.reference.gravity_torque([0.3, -0.5]).tolist())
    broken = arm.model.map(lambda x, unit: x if x == 0 or unit in ("1", "m") else UnitScalar(x, unit))
    assert [t.unit for t in rnea.gravity_torque(broken, [UnitScalar(0.3), UnitScalar(-0.5)])] == ["N", "N"]
