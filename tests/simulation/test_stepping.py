"""Simulations that are moved on step by step: equal to `simulate`, in batches, with resets."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import chainrule as cr
from chainrule.compile import memory

ARM = cr.load("planar_2r")
HARD = ARM.with_joint_properties(coulomb=0.5, lower=-1.0, upper=1.0)
CASES = {
    "arm": (ARM, {}),
    "midpoint": (ARM, {"method": "implicit_midpoint", "dt": 2e-3}),
    "floating": (cr.load("quadruped"), {}),
    "loop": (cr.load("four_bar"), {}),
    "friction and stops": (HARD, {"stops": cr.Impacts(0.5)}),
    "wrench in time": (ARM, {"wrenches": {"tip": cr.Samples([0.0, 0.05], [[0.0] * 6, [1.0] * 6])}}),
    "reference": (ARM.reference, {}),
}


@pytest.mark.parametrize(("robot", "options"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_steps_are_those_of_simulate(robot, options, batch):
    tau = np.zeros((*batch, robot.nv))
    tau[..., robot.actuated[0]] = 0.5
    start = np.broadcast_to(robot.neutral(), (*batch, robot.nq))
    motion = robot.simulate(start, None, 0.02, tau, **options)
    sim = robot.simulation(start, **options)
    for k in range(len(motion) - 1):
        assert_array_equal(sim.q, motion.q[..., k, :])
        sim.step(tau)
    assert_array_equal(sim.qd, motion.qd[..., -1, :])
    assert round(sim.t, 12) == 0.02
    again = robot.simulation(start, **options)
    again.step(tau, steps=len(motion) - 1)
    assert_array_equal(again.state, sim.state)


def test_a_loop_of_ones_own_is_a_sampled_law():
    law = cr.PD(ARM, [0.5, 0.4], 20.0, 6.0)
    sim = ARM.simulation([0.0, 0.0])
    for _ in range(10):
        sim.step(law(sim.t, sim.q, sim.qd), steps=20)
    motion = ARM.simulate([0.0, 0.0], None, 0.2, cr.Sampled(law.__call__, 0.02))
    np.testing.assert_allclose(sim.q, motion.q[-1], atol=1e-13)


def test_steps_compile_nothing(monkeypatch):
    sim = ARM.simulation(np.zeros((3, 2)))
    sim.step(np.zeros((3, 2)))
    monkeypatch.setattr(memory, "keep", lambda key, build: pytest.fail(f"compiles {key}"))
    for k in range(5):
        sim.step([k, -k])
        sim.step()


def test_states_are_copies_and_can_be_restored():
    sim = ARM.simulation([0.0, 0.0])
    before, q = sim.state, sim.q
    sim.step([1.0, 2.0])
    after = sim.state
    assert_array_equal(q, [0.0, 0.0])
    sim.state = before
    sim.step([1.0, 2.0])
    assert_array_equal(sim.state, after)
    sim.reset()
    assert_array_equal(sim.state, before)
    assert sim.t == 0.0


def test_rows_are_reset_alone():
    sim = ARM.simulation(np.zeros((3, 2)))
    sim.step(np.ones((3, 2)), steps=5)
    moved = sim.q
    sim.reset(where=[False, True, False])
    assert_array_equal(sim.q, [moved[0], [0, 0], moved[2]])
    sim.reset([0.1, 0.2], where=[True, False, False])
    assert_array_equal(sim.q, [[0.1, 0.2], [0, 0], moved[2]])
    sim.reset([0.3, 0.3], [1.0, 1.0])
    assert_array_equal(sim.qd, np.ones((3, 2)))


def test_motions_that_diverge_are_said_or_kept():
    wild = ARM.with_joint_properties(viscous=1e6)
    sim = wild.simulation([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(cr.SimulationError, match="diverges at about t"):
        sim.step(steps=500)
    kept = wild.simulation([0.0, 0.0], [1.0, 1.0], diverged="keep")
    kept.step(steps=500)
    assert np.isnan(kept.q).any()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: ARM.simulation([0, 0], method="dop853"), "chooses its own steps"),
        (lambda: ARM.simulation([0, 0]).step([1.0]), "tau"),
        (lambda: ARM.simulation([0, 0]).step([np.nan, 0.0]), "tau must be finite"),
        (lambda: ARM.simulation([0, 0]).step(np.zeros((3, 2))), "tau has the shape"),
        (lambda: ARM.simulation([0, 0]).step([0, 0], steps=0), "steps"),
        (lambda: ARM.simulation(np.zeros((2, 2))).reset(where=[True]), "where must be"),
        (lambda: cr.load("four_bar").simulation([0.5, 0, 0]).step([0, 1, 0]), "effort limit of 0"),
        (lambda: setattr(ARM.simulation([0, 0]), "state", [1.0]), "state must have the shape"),
    ],
)
def test_what_does_not_fit_is_refused(act, words):
    with pytest.raises(cr.ShapeError, match=words):
        act()
