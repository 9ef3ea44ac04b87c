"""Views of a robot are joined in any order: numbers bound, units, degrees, interpreted, frameworks."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

pytestmark = pytest.mark.interpreted

ARM = cr.load("planar_2r").reference
Q = np.array([[0.1, 0.2], [0.3, -0.4]])
QD = np.array([[0.5, -0.6], [0.7, 0.8]])
MASSES = {"link2.mass": np.array([1.5, 2.5])}
FRICTION = {"joint1.viscous": 0.4, "joint2.coulomb": np.array([0.2, 0.3])}


def test_numbers_are_bound_in_steps():
    both = ARM.at({**MASSES, **FRICTION}).bias(Q, QD)
    assert np.array_equal(ARM.at(MASSES).at(FRICTION).bias(Q, QD), both)
    assert np.array_equal(ARM.at({"link2.mass": 9.0}).at({**MASSES, **FRICTION}).bias(Q, QD), both)


def test_numbers_are_bound_before_or_after_units():
    expected = ARM.at(MASSES).gravity_torque(Q)
    for view in (ARM.at(MASSES).units, ARM.units.at(MASSES), ARM.units.at(FRICTION).at(MASSES)):
        torque = view.gravity_torque(Q)
        assert str(torque.units) == "meter * newton"
        assert np.array_equal(torque.magnitude, expected)
    momentum = ARM.at(MASSES).units.centroidal.momentum(Q, QD)["linear"]
    assert np.array_equal(momentum.magnitude, ARM.at(MASSES).centroidal.momentum(Q, QD)[:, 3:])


def test_numbers_are_bound_before_or_after_degrees():
    expected = ARM.at(MASSES).gravity_torque(Q)
    for view in (ARM.at(MASSES).degrees, ARM.degrees.at(MASSES)):
        assert np.allclose(view.gravity_torque(np.degrees(Q)), expected, rtol=1e-14)
        assert np.array_equal(view.home(), np.degrees(ARM.home()))


def test_views_of_the_reference_are_interpreted():
    expected = ARM.at(MASSES).gravity_torque(Q)
    arm = cr.load("planar_2r")
    for view in (arm.at(MASSES).reference, arm.units.at(MASSES).reference, arm.units.reference.at(MASSES)):
        torque = view.gravity_torque(Q)
        assert np.array_equal(getattr(torque, "magnitude", torque), expected)


def test_numbers_of_the_robot_itself_are_not_those_of_a_view_with_others():
    for ask in (lambda: ARM.units.at(MASSES).mass, lambda: ARM.at(MASSES).mass, lambda: ARM.at(MASSES).limits):
        with pytest.raises(AttributeError, match=r"does not take bound parameters|has the functions of states"):
            ask()


def test_numbers_are_bound_for_a_framework():
    torch = pytest.importorskip("torch")
    masses = torch.tensor([1.5, 2.5], dtype=torch.float64, requires_grad=True)
    torque = ARM.torch.at({"link2.mass": masses}).gravity_torque(torch.tensor(Q))
    torque.sum().backward()
    assert np.allclose(torque.detach(), ARM.at(MASSES).gravity_torque(Q), rtol=1e-14)
    more = ARM.at({"link2.mass": MASSES["link2.mass"] + 1.0}).gravity_torque(Q) - ARM.at(MASSES).gravity_torque(Q)
    assert np.allclose(masses.grad, more.sum(axis=-1), rtol=1e-12)  # torques are linear in the mass
    assert np.allclose(ARM.at(MASSES).torch.gravity_torque(torch.tensor(Q)), torque.detach(), rtol=1e-14)
