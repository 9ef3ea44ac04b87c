"""The recipe of chainrule/simulation/integrators.py, followed from outside the package: Heun's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from trees import state, tree

import chainrule as cr
from chainrule.simulation.integrators import INTEGRATORS, FixedStep, advance, register


# 1. a subclass with a name and its order
class Heun(FixedStep):
    """Heun's method: the mean of the rates at the start, and of those where Euler's step leads to. Order 2."""

    name = "heun"
    order = 2

    # 2. its step, over lists of scalars; 3. the state after it, and no equations that are solved by iteration
    def step(self, system, start, q, v, x, h):
        a1, r1 = start
        c1 = system.coordinate_rates(q, v)
        q2, v2, x2 = advance(q, h, c1), advance(v, h, a1), advance(x, h, r1)
        a2, r2 = system.rates(2, q2, v2, x2)
        c2 = system.coordinate_rates(q2, v2)
        q = system.normalize(advance(q, h / 2, c1, c2))
        return q, advance(v, h / 2, a1, a2), advance(x, h / 2, r1, r2), 0


@dataclass(frozen=True)
class TwoStages(FixedStep):
    """Two stages with a second one at a share of the step that is an option; that of Heun's method is 1."""

    share: float = 0.5
    name = "two_stages"
    order = 2

    def step(self, system, start, q, v, x, h):
        a1, r1 = start
        b, part = 1 / (2 * self.share), self.share * h
        q2, v2, x2 = advance(q, part, system.coordinate_rates(q, v)), advance(v, part, a1), advance(x, part, r1)
        a2, r2 = system.rates({0.5: 1, 1.0: 2}[self.share], q2, v2, x2)
        c2 = system.coordinate_rates(q2, v2)
        mean = [[(1 - b) * y + b * z for y, z in zip(first, second, strict=True)] for first, second in
                ((system.coordinate_rates(q, v), c2), (a1, a2), (r1, r2))]  # fmt: skip
        return system.normalize(advance(q, h, mean[0])), advance(v, h, mean[1]), advance(x, h, mean[2]), 0


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    """4. in the table, for the time of a test."""
    for kind in (Heun, TwoStages):
        monkeypatch.setitem(INTEGRATORS, kind.name, kind)
        register(kind)


# 5. its order, and the compiled motion against the interpreted one


@pytest.mark.parametrize("integrator", [Heun(), TwoStages(), TwoStages(share=1.0)])
@pytest.mark.parametrize("kinds", [("revolute", "prismatic"), ("free", "spherical")])
def test_it_has_its_order_on_every_manifold(integrator, kinds):
    robot = tree(7, kinds, drives=False, mimic=False)
    q, qd, _ = state(robot, 1)
    push = cr.traceable(lambda t, q, qd: np.sin(3 * t) - 0.2 * qd)
    exact = robot.simulate(q, qd, 0.25, push, integrator=cr.RK4(0.25 / 2048), record=2048)
    errors = []
    for count in (64, 128, 256):
        step = type(integrator)(**{**vars(integrator), "dt": 0.25 / count})
        motion = robot.simulate(q, qd, 0.25, push, integrator=step, record=count)
        gap = robot.difference(motion.q[-1], exact.q[-1])
        errors.append(np.abs(np.concatenate([gap, motion.qd[-1] - exact.qd[-1]])).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert slopes[-1] == pytest.approx(integrator.order, abs=0.3), (errors, slopes)


def test_it_runs_compiled_and_interpreted_alike_by_name_and_as_an_object():
    robot = tree(3, ("revolute", "free", "prismatic"))
    q, qd, tau = state(robot, 3, (3,))
    push = {"torque": tau, "duration": 0.02, "limits": False, "tip_wrench": np.ones(6)}
    motions = [
        robot.simulate(q, qd, integrator="heun", **push),
        robot.simulate(q, qd, integrator=Heun(), **push),
        robot.reference.simulate(q, qd, integrator=Heun(), **push),
        robot.simulate(q, qd, integrator=Heun(), **{**push, "torque": lambda t, q, qd: tau}),
    ]
    for motion in motions:
        assert motion.method == "heun"
        for name in ("q", "qd", "qdd", "tau", "friction", "work"):
            a, b = getattr(motions[0], name), getattr(motion, name)
            assert np.abs(a - b).max() < 1e-9 * (1 + np.abs(a).max()), name


def test_its_options_shape_its_text():
    robot = cr.load("double_pendulum")
    half, whole, heun = (
        robot.simulate([1.0, 0.5], None, 0.1, integrator=each).q
        for each in (TwoStages(1e-2), TwoStages(1e-2, 1.0), Heun(1e-2))
    )
    assert np.abs(half - whole).max() > 1e-9
    assert np.abs(whole - heun).max() < 1e-13


def test_a_step_belongs_into_the_integrator():
    with pytest.raises(cr.ShapeError, match=r"dt belongs into the integrator"):
        cr.load("pendulum").simulate([0.1], None, 0.1, integrator=cr.RK4(), dt=1e-3)


def test_the_name_of_another_integrator_is_refused():
    class Other(FixedStep):
        name = "rk4"

    with pytest.raises(cr.ShapeError, match=r"already an integrator named 'rk4'"):
        register(Other)
    assert INTEGRATORS["rk4"] is cr.RK4
