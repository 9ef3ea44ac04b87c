"""Integrators: their orders, their energy, one text compiled and interpreted; objects and options."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from tiers import with_slow
from trees import state, tree

import chainrule as cr
from chainrule.simulation.integrators import INTEGRATORS, FixedStep

from .motions import ALL, ARM, FIXED, kinds_of

ORDERS = {name: kind.order for name, kind in INTEGRATORS.items() if issubclass(kind, FixedStep)}


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("kinds", [("revolute", "universal", "prismatic"), ("free", "spherical", "moved", "planar")])
def test_every_integrator_has_its_order_on_every_manifold(method, kinds):
    robot = tree(7, kinds, drives=False, mimic=False)
    q, qd, _ = state(robot, 1)
    push = cr.traceable(lambda t, q, qd: np.sin(3 * t) - 0.2 * qd)
    steps = (32, 64, 128) if method == "rk4" else (64, 128, 256)
    exact = robot.simulate(q, qd, 0.25, push, dt=0.25 / 4096, integrator="rk4", record=4096)
    errors = []
    for count in steps:
        motion = robot.simulate(q, qd, 0.25, push, dt=0.25 / count, integrator=method, record=count)
        gap = robot.difference(motion.q[-1], exact.q[-1])
        errors.append(np.abs(np.concatenate([gap, motion.qd[-1] - exact.qd[-1]])).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes[-1] == pytest.approx(ORDERS[method], abs=0.3), (errors, slopes)


def test_a_frictionless_panda_in_free_swing_loses_energy_with_the_fourth_power_of_the_step():
    robot = cr.load("panda").without_friction()
    q0 = robot.random_state(np.random.default_rng(3))

    def drift(duration, dt):
        motion = robot.simulate(q0, None, duration, dt=dt, record=10)
        return np.abs(motion.energy - motion.energy[0]).max() / np.ptp(motion.kinetic_energy)

    assert drift(10.0, 1e-3) < 1e-6
    errors = [drift(1.0, dt) for dt in (2e-3, 1e-3, 5e-4)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (slopes > 3.7).all(), (errors, slopes)


def test_implicit_midpoint_keeps_the_energy_of_a_double_pendulum_bounded():
    robot = cr.load("double_pendulum")
    motion = robot.simulate([1.5, 0.5], None, 200.0, integrator="implicit_midpoint", dt=5e-3)
    error = motion.energy - motion.energy[0]
    early, late = (np.abs(part).max() for part in np.array_split(error, 2))
    assert late < 2 * early
    assert abs(np.polyfit(motion.t, error, 1)[0]) * 200 < np.abs(error).max()


def test_a_last_short_step_lands_on_the_end():
    robot = cr.load("double_pendulum")
    motion = robot.simulate([1.0, 0.2], None, 0.1234567, dt=1e-3)
    fine = robot.simulate([1.0, 0.2], None, 0.1234567, dt=0.1234567 / 500)
    assert motion.t[-1] == 0.1234567
    assert np.allclose(motion.t[:-1], np.arange(124) * 1e-3, atol=1e-15)
    assert np.abs(motion.q[-1] - fine.q[-1]).max() < 1e-10


ROLLOUTS = [*product(FIXED, range(3)), ("rk4", 3)]
LONG_ROLLOUTS = [case for case in ROLLOUTS if case[1] != 2]


@pytest.mark.parametrize(("method", "seed"), with_slow(ROLLOUTS, *LONG_ROLLOUTS))
def test_compiled_rollouts_equal_the_text_they_are_made_of(method, seed):
    robot = tree(seed, kinds_of(seed), mimic=seed != 2)
    q, qd, tau = state(robot, seed, (3,))
    qd[:, ::2] = 0.0
    options = {
        "integrator": method, "dt": 1e-3, "stops": cr.Impacts(0.5) if seed == 1 else cr.Stops(50.0, 1.0), "limits": False,
        "tip_wrench": np.ones(6), "external": {"link2": cr.Samples([0, 1], np.arange(12.0).reshape(2, 6))},
    }  # fmt: skip
    motions = [
        robot.simulate(q, qd, 0.01, tau, **options),
        robot.reference.simulate(q, qd, 0.01, tau, **options),
        robot.simulate(q, qd, 0.01, lambda t, q, qd: tau, **options),
    ]
    for other in motions[1:]:
        for name in ("q", "qd", "qdd", "tau", "friction", "work"):
            a, b = getattr(motions[0], name), getattr(other, name)
            assert np.abs(a - b).max() < 1e-9 * (1 + np.abs(a).max()), name


# --- integrators as objects ---

OBJECTS = {
    "euler": cr.Euler,
    "semi_implicit_euler": cr.SemiImplicitEuler,
    "rk4": cr.RK4,
    "implicit_midpoint": cr.ImplicitMidpoint,
    "dop853": cr.DOP853,
    "radau": cr.Radau,
    "lsoda": cr.LSODA,
}


@pytest.mark.parametrize("method", ALL)
def test_an_integrator_object_moves_the_robot_as_its_name_does(method):
    by_name = ARM.simulate([0.3, 0.2], None, 0.1, integrator=method, dt=2e-3)
    by_object = ARM.simulate([0.3, 0.2], None, 0.1, integrator=OBJECTS[method](dt=2e-3))
    assert by_object.method == by_name.method == method
    for name in ("t", "q", "qd", "qdd", "tau", "work"):
        assert np.array_equal(getattr(by_object, name), getattr(by_name, name)), name


def test_an_integrator_without_options_has_those_of_its_name():
    assert (cr.RK4().dt, cr.DOP853().dt, cr.DOP853().rtol, cr.DOP853().atol) == (1e-3, 1e-3, 1e-8, 1e-10)
    for method in ("rk4", "lsoda"):
        by_object = ARM.simulate([0.3, 0.2], None, 0.05, integrator=OBJECTS[method]())
        assert np.array_equal(by_object.q, ARM.simulate([0.3, 0.2], None, 0.05, integrator=method).q)
    default = ARM.simulate([0.3, 0.2], None, 0.05)
    assert (default.method, len(default)) == ("rk4", 51)


def test_integrators_take_their_options_in_order_and_cannot_be_changed():
    assert cr.RK4(1e-2) == cr.RK4(dt=1e-2) != cr.Euler(1e-2)
    assert cr.Radau(1e-6, 1e-9, dt=1e-2) == cr.Radau(dt=1e-2, atol=1e-9, rtol=1e-6)
    assert repr(cr.RK4(1e-2)) == "RK4(dt=0.01)"
    assert len({cr.RK4(1e-2), cr.RK4(1e-2), cr.RK4(1e-3)}) == 2
    with pytest.raises(AttributeError):
        cr.RK4().dt = 1.0


def test_every_integrator_of_the_table_is_a_public_object():
    assert OBJECTS == INTEGRATORS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integrator": cr.RK4(), "dt": 1e-2}, r"dt belongs into the integrator: integrator=cr.RK4\(dt=0.01"),
        ({"integrator": cr.DOP853(), "dt": 1e-2}, r"dt belongs into the integrator: integrator=cr.DOP853\(dt=0.01"),
        ({"integrator": "rk5"}, r"no integrator named 'rk5'"),
        ({"integrator": cr.RK4}, r"integrator must be an integrator"),
        ({"integrator": ["rk4"]}, r"integrator must be an integrator"),
        ({"integrator": cr.RK4(dt=1.0)}, r"longer than the duration"),
        ({"integrator": "rk4", "dt": -1.0}, r"simulate: dt must be positive"),
    ],
)
def test_options_that_an_integrator_does_not_have_are_refused(options, message):
    with pytest.raises(cr.ChainruleError, match=message):
        ARM.simulate([0.3, 0.2], None, 0.1, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cr.RK4(0.0), r"RK4: dt must be positive, got 0.0"),
        (lambda: cr.Euler("fast"), r"Euler: dt must be"),
        (lambda: cr.DOP853(rtol=-1e-3), r"DOP853: rtol must be positive"),
        (lambda: cr.LSODA(atol=np.inf), r"LSODA: atol must be finite"),
        (lambda: cr.Radau(dt=np.nan), r"Radau: dt must be finite"),
    ],
)
def test_options_of_integrators_are_positive_numbers(make, message):
    with pytest.raises(cr.ShapeError, match=message):
        make()
