"""Wrenches that keep their direction while a link turns: a weight, written as a force in base axes, is gravity."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.model import Free
from simulation.motions import ADAPTIVE, FIXED, body

G = 9.81


def weightless_with_weights(name):
    """A robot, the same without gravity, and the weights of its links as wrenches at frames in their centers of mass."""
    robot = cr.load(name)
    light, weights = robot.edit(gravity=(0, 0, 0)), {}
    g = robot.gravity
    for link in robot.model.links[1:]:
        if link.mass:
            origin = np.eye(4)
            origin[:3, 3] = list(link.com)
            light = light.with_frame(f"{link.name}_com", link=link.name, origin=origin)
            weights[f"{link.name}_com"] = np.concatenate([np.zeros(3), link.mass * g])
    return robot, light, weights


@pytest.mark.parametrize("method", [*FIXED, *ADAPTIVE])
def test_a_force_in_base_axes_keeps_its_direction_as_gravity_does(method):
    robot, light, weights = weightless_with_weights("double_pendulum")
    start, options = [1.0, 0.5], {"duration": 0.3, "integrator": method, "dt": 2e-3}
    expected = robot.simulate(start, **options)
    made = light.simulate(start, external=weights, **options)
    assert_allclose(made.q, expected.q, atol=2e-6)
    assert_allclose(made.qdd, expected.qdd, atol=2e-4)
    turning = light.simulate(start, external=weights, **options, frame="body")
    assert np.abs(turning.q - expected.q).max() > 0.01


def test_the_work_of_a_force_in_base_axes_is_force_times_way():
    robot = body(Free(), com=(0.1, 0.0, -0.2), gravity=(0.0, 0.0, 0.0))
    q0 = robot.random_state(np.random.default_rng(0))
    qd0, F = [1.0, -2.0, 3.0, 0.1, 0.2, 0.3], np.array([0.0, 0.0, 0.0, 1.0, -2.0, 0.5])
    motion = robot.simulate(q0, qd0, 0.5, external={"body": F})
    way = robot.pose(motion.q[-1])[:3, 3] - robot.pose(motion.q[0])[:3, 3]
    assert_allclose(motion.work[-1, 2], F[3:] @ way, rtol=1e-8)
    gained = robot.kinetic_energy(motion.q[-1], motion.qd[-1]) - robot.kinetic_energy(motion.q[0], motion.qd[0])
    assert_allclose(gained, F[3:] @ way, rtol=1e-8)


def test_the_tip_pushes_in_base_axes():
    robot = body(Free(), gravity=(0.0, 0.0, 0.0))
    push = [0.0, 0.0, 0.0, 0.0, 0.0, -2 * G]  # on its surroundings: they push back, upwards
    q0 = robot.random_state(np.random.default_rng(1))
    motion = robot.simulate(q0, [2.0, 1.0, -1.0, 0, 0, 0], 0.4, tip_wrench=push)
    rise = robot.pose(motion.q)[:, :3, 3] - robot.pose(motion.q[0])[:3, 3]
    assert_allclose(rise, np.outer(G * motion.t**2 / 2, [0, 0, 1]), atol=1e-7)


def test_samples_functions_and_traced_functions_are_in_base_axes_too():
    robot, light, weights = weightless_with_weights("double_pendulum")
    start, options = [1.0, 0.5], {"duration": 0.2, "dt": 1e-3}
    expected = robot.simulate(start, duration=0.2, dt=1e-3)
    samples = {name: ([0.0, 1.0], [F, F]) for name, F in weights.items()}
    functions = {name: (lambda t, q, qd, F=F: np.broadcast_to(F, (*q.shape[:-1], 6))) for name, F in weights.items()}
    traced = {name: cr.traceable(lambda t, q, qd, F=F: F.tolist()) for name, F in weights.items()}
    for wrenches in (samples, functions, traced):
        assert_allclose(light.simulate(start, external=wrenches, **options).q, expected.q, atol=1e-9)


def test_batches_and_single_steps_are_in_base_axes_too():
    robot, light, weights = weightless_with_weights("double_pendulum")
    starts = np.random.default_rng(2).normal(size=(5, 2))
    expected = robot.simulate(starts, duration=0.1)
    made = light.simulate(starts, duration=0.1, external=weights)
    assert_allclose(made.q, expected.q, atol=1e-10)
    sim = light.simulation(starts, external=weights)
    sim.step(None, 100)
    assert_allclose(sim.q, expected.q[:, -1], atol=1e-10)
    reference = light.reference.simulate(starts, duration=0.02, external=weights)
    assert_allclose(reference.q, made.q[:, :21], atol=1e-11)


def test_closed_loops_feel_forces_in_base_axes():
    robot, light, weights = weightless_with_weights("four_bar")
    q0 = robot.loops.close(robot.neutral() + 0.3)
    expected = robot.simulate(q0, duration=0.2)
    made = light.simulate(q0, duration=0.2, external=weights)
    assert_allclose(made.q, expected.q, atol=1e-8)


def test_dry_friction_holds_against_forces_in_base_axes():
    robot, light, weights = weightless_with_weights("double_pendulum")
    robot, light = (r.edit(joints={"*": {"coulomb": 0.5}}) for r in (robot, light))
    start = [0.4, 0.1]
    expected = robot.simulate(start, duration=0.4)
    made = light.simulate(start, duration=0.4, external=weights)
    assert_allclose(made.q, expected.q, atol=1e-8)
