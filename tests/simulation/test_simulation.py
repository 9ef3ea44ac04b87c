"""Simulations that are moved on step by step: equal to `simulate`, in batches, with resets."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import chainrule as cr
from chainrule.compile.runtime import memory_cache
from chainrule.core.derived import driven_velocities

ARM = cr.load("planar_2r")
HARD = ARM.edit(joints={"*": {"coulomb": 0.5, "lower": -1.0, "upper": 1.0}})
CASES = {
    "arm": (ARM, {}),
    "midpoint": (ARM, {"integrator": "implicit_midpoint", "dt": 2e-3}),
    "floating": (cr.load("quadruped"), {}),
    "loop": (cr.load("four_bar"), {}),
    "friction and stops": (HARD, {"stops": cr.Impacts(0.5)}),
    "wrench in time": (ARM, {"external": {"tip": cr.Samples([0.0, 0.05], [[0.0] * 6, [1.0] * 6])}}),
    "reference": (ARM.reference, {}),
}


@pytest.mark.parametrize(("robot", "options"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("batch", [(), (2, 3)])
def test_steps_are_those_of_simulate(robot, options, batch):
    tau = np.zeros((*batch, robot.nv))
    tau[..., driven_velocities(robot)[0]] = 0.5
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
    monkeypatch.setattr(memory_cache, "get_or_build", lambda key, build: pytest.fail(f"compiles {key}"))
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
    wild = ARM.edit(joints={"*": {"viscous": 1e6}})
    sim = wild.simulation([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(cr.SimulationError, match="diverges at about t"):
        sim.step(steps=500)
    kept = wild.simulation([0.0, 0.0], [1.0, 1.0], diverged="keep")
    kept.step(steps=500)
    assert np.isnan(kept.q).any()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: ARM.simulation([0, 0], integrator="dop853"), "chooses its own steps"),
        (lambda: ARM.simulation([0, 0]).step([1.0]), "tau"),
        (lambda: ARM.simulation([0, 0]).step([np.nan, 0.0]), "tau must be finite"),
        (lambda: ARM.simulation([0, 0]).step(np.zeros((3, 2))), "tau has the shape"),
        (lambda: ARM.simulation([0, 0]).step([0, 0], steps=0), "steps"),
        (lambda: ARM.simulation(np.zeros((2, 2))).reset(where=[True]), "where must be"),
        (lambda: cr.load("four_bar").simulation(cr.load("four_bar").home()).step([0, 1, 0]), "effort limit of 0"),
        (lambda: setattr(ARM.simulation([0, 0]), "state", [1.0]), "state must have the shape"),
    ],
)
def test_what_does_not_fit_is_refused(act, words):
    with pytest.raises(cr.ShapeError, match=words):
        act()


# --- laws, pushes and records ---

LAWS = {
    "PD": (ARM, cr.PD(ARM, [0.5, 0.4])),
    "PID with an integral": (ARM, cr.PID(ARM, [0.5, 0.4])),
    "a moving reference": (ARM, cr.PD(ARM, cr.plan(ARM, [[0.0, 0.0], [0.3, 0.2]], times=[0.0, 0.04]))),
    "a function": (ARM, lambda t, q, qd: -2.0 * qd),
    "samples": (ARM, cr.Samples([0.0, 0.02], [[0.0, 0.0], [3.0, -1.0]])),
    "friction and stops": (HARD, cr.PD(HARD, [0.9, 0.9], 400.0, 1.0)),
    "reference path": (ARM.reference, cr.PD(ARM.reference, [0.5, 0.4])),
}


@pytest.mark.parametrize(("robot", "law"), LAWS.values(), ids=LAWS)
def test_a_law_acts_in_steps_as_in_simulate(robot, law):
    options = {"stops": cr.Impacts(0.5)} if robot is HARD else {}
    motion = robot.simulate([0.0, 0.1], None, 0.05, law, **options)
    sim = robot.simulation([0.0, 0.1], torque=law, **options)
    for k in (0, 20, 50):
        sim.step(steps=k - round(sim.t / sim.dt)) if k else None
        for name, array in sim.record().items():
            np.testing.assert_allclose(array, getattr(motion, name)[k], atol=1e-12, err_msg=name)


def test_a_record_leaves_the_simulation_as_it_is_and_has_the_shape_of_the_batch():
    sim = ARM.simulation(np.zeros((3, 2)), torque=cr.GravityCompensation(ARM))
    before = sim.state
    found = sim.record()
    assert_array_equal(sim.state, before)
    assert {name: array.shape for name, array in found.items()} == {
        "q": (3, 2), "qd": (3, 2), "qdd": (3, 2), "tau": (3, 2), "friction": (3, 2), "work": (3, 3), "states": (3, 0),
    }  # fmt: skip
    assert_array_equal(found["tau"], np.broadcast_to(ARM.gravity_torque([0.0, 0.0]), (3, 2)))


def test_a_simulation_with_a_law_takes_no_torques():
    sim = ARM.simulation([0.0, 0.0], torque=cr.GravityCompensation(ARM))
    with pytest.raises(cr.ShapeError, match=r"made with torque=\.\.\., which gives the torques; leave out tau"):
        sim.step([0.0, 0.0])


@pytest.mark.parametrize("frame", ["body", "world"])
def test_pushes_are_wrenches_of_simulate_and_compile_nothing(frame, monkeypatch):
    push = {"link2": [0.0, 0.0, 1.0, 3.0, -2.0, 0.0]}
    law = cr.PD(ARM, [0.0, 0.1])
    nothing = {name: np.zeros(6) for name in ("link1", "link2", "tip")}
    sim = ARM.simulation([0.0, 0.1], torque=law, external=nothing, frame=frame)
    sim.step(steps=2)
    monkeypatch.setattr(memory_cache, "get_or_build", lambda key, build: pytest.fail(f"compiles {key}"))
    sim.reset()
    sim.push(push)
    sim.step(steps=50)
    state = sim.state
    sim.push({"link2": np.zeros(6)})
    sim.step(steps=50)
    monkeypatch.undo()
    pushed = ARM.simulate([0.0, 0.1], None, 0.05, law, external=push, frame=frame)
    np.testing.assert_allclose(state[:4], [*pushed.q[-1], *pushed.qd[-1]], atol=1e-12)
    after = ARM.simulate(pushed.q[-1], pushed.qd[-1], 0.05, law)
    np.testing.assert_allclose(sim.q, after.q[-1], atol=1e-12)


def test_pushes_of_a_batch_differ():
    sim = ARM.simulation(np.zeros((2, 2)), external={"tip": np.zeros(6)})
    sim.push({"tip": [[0.0] * 6, [0.0, 0.0, 0.0, 0.0, 9.0, 0.0]]})
    sim.step(steps=10)
    assert sim.qd[0, 0] < sim.qd[1, 0]


def test_pushes_that_are_refused():
    sim = ARM.simulation([0.0, 0.0], external={"tip": np.zeros(6), "link1": lambda t, q, qd: np.zeros(6)}, frame="body")
    with pytest.raises(cr.ShapeError, match="push takes a dictionary of links and wrenches, got 3"):
        sim.push(3)
    for name in ("link1", "link2"):
        with pytest.raises(cr.UnknownNameError, match=f"constant wrench.*{name}"):
            sim.push({name: np.zeros(6)})
    with pytest.raises(cr.ShapeError, match=r"push: 'tip'"):
        sim.push({"tip": [1.0, 2.0]})
    with pytest.raises(cr.ShapeError, match=r"push: 'tip'.*finite"):
        sim.push({"tip": [np.nan] * 6})
    with pytest.raises(cr.ShapeError, match=r"push: 'tip' of shape \(4,\) does not fit into the batch"):
        sim.push({"tip": np.zeros((4, 6))})


def test_another_target_of_the_same_law():
    sim = ARM.simulation([0.0, 0.0], torque=cr.PD(ARM, [0.0, 0.0]))
    sim.control(cr.PD(ARM, [0.4, 0.3], 30.0, 9.0))
    sim.step(steps=50)
    motion = ARM.simulate([0.0, 0.0], None, 0.05, cr.PD(ARM, [0.4, 0.3], 30.0, 9.0))
    assert_array_equal(sim.q, motion.q[-1])


def test_another_law_is_refused():
    law = cr.PD(ARM, [0.0, 0.0])
    for made_with in (law, None, lambda t, q, qd: -qd):
        sim = ARM.simulation([0.0, 0.0], torque=made_with)
        with pytest.raises(cr.ShapeError, match="control takes a controller of the same law"):
            sim.control(cr.ComputedTorque(ARM, [0.0, 0.0]))
    with pytest.raises(
        cr.ShapeError, match=r"control: the controller of shape \(3,\) does not fit into the batch \(\)"
    ):
        ARM.simulation([0.0, 0.0], torque=law).control(cr.PD(ARM, np.zeros((3, 2))))
