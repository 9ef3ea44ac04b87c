"""Motions of a family of robots: numbers of the robot for each row of a batch."""

import numpy as np
import pytest
from families import bodies, edited
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr
from chainrule.compile.scan import CompiledScan
from chainrule.core.derived import backend_of
from chainrule.model.parameters import parameter_length

ARM = cr.load("planar_2r").with_frame("tool", [[1, 0, 0, 0.5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
Q0 = np.array([0.4, -0.3])


def row_of(robot, name, x, rows, k):
    """The numbers of one parameter for row k."""
    own = np.shape(x)[-1:] if parameter_length(robot.model, name) > 1 else ()
    return np.broadcast_to(x, (rows, *own))[k]


def assert_rows_are_edited_robots(robot, parameters, q0, duration=0.02, tolerance=1e-12, **options):
    """The rows of one motion with parameters are those of robots edited one by one."""
    motion = robot.at(parameters).simulate(q0, None, duration, **options)
    rows = motion.q.shape[0]
    for k in range(rows):
        one = edited(robot, {name: row_of(robot, name, x, rows, k) for name, x in parameters.items()})
        alone = (one if backend_of(robot).compiles else one.reference).simulate(q0, None, duration, **options)
        for name in ("q", "qd", "qdd", "tau", "friction", "work", "energy"):
            ours, theirs = getattr(motion, name)[k], getattr(alone, name)
            assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1.0, np.abs(theirs).max()), err_msg=name)
    return motion


@given(seed=st.integers(0, 1000))
@settings(max_examples=4, phases=[Phase.explicit, Phase.generate])
def test_rows_are_robots_edited_one_by_one(seed):
    robot = tree(seed, ["revolute", "fixed", "prismatic", "spherical"], drives=seed % 2 == 0, mimic=False).reference
    rng = np.random.default_rng(seed)
    parameters = {
        "gravity": rng.normal(size=(2, 3)) * 5,
        f"{robot.link_names[-1]}.payload": bodies(rng, 2),
        f"{robot.link_names[2]}.inertial": bodies(rng, 2),
        f"{robot.model.joints[1].name}.origin": rng.uniform(-0.5, 0.5, 3),
        "*.viscous": rng.uniform(0, 1, (2, robot.nv)),
    }
    assert_rows_are_edited_robots(robot, parameters, robot.random_state(rng), 0.003, 1e-10)


@pytest.mark.parametrize("method", ["euler", "semi_implicit_euler", "rk4", "implicit_midpoint"])
def test_compiled_loops_of_every_method(method):
    bodies_ = bodies(np.random.default_rng(0), 3)
    assert_rows_are_edited_robots(ARM, {"tool.payload": bodies_, "link1.length": [1.2]}, Q0, integrator=method)


def test_adaptive_steps():
    numbers = {"tool.payload": [[0.5], [2.0]], "*.viscous": [0.1, 0.2]}
    numbers["tool.payload"] = np.pad(numbers["tool.payload"], ((0, 0), (0, 9)))
    assert_rows_are_edited_robots(ARM, numbers, Q0, 0.1, 1e-11, integrator="dop853")


def test_friction_that_differs_from_row_to_row():
    dry = {"*.coulomb": [[1.0, 0.5], [40.0, 40.0]]}
    motion = assert_rows_are_edited_robots(ARM, dry, Q0, 0.1, 1e-9)
    assert np.ptp(motion.q[1], axis=0).max() == 0  # held
    assert np.ptp(motion.q[0], axis=0).min() > 0


def test_impacts_take_the_masses_of_each_row():
    arm = ARM.edit(joints={"*": {"lower": [0.38, -0.35], "upper": [0.5, 0.5]}})
    masses = {"link2.mass": [0.5, 3.0]}
    motion = assert_rows_are_edited_robots(arm, masses, Q0, 0.15, 1e-10, stops=cr.Impacts(0.5))
    assert motion.q[..., 0].min() == 0.38


def test_a_function_that_only_python_can_call():
    masses = {"link2.mass": [0.5, 3.0]}
    motion = ARM.at(masses).simulate(Q0, None, 0.01, lambda t, q, qd: -np.asarray(qd))
    same = ARM.at(masses).simulate(Q0, None, 0.01, cr.traceable(lambda t, q, qd: [-qd[0], -qd[1]]))
    assert_allclose(motion.q, same.q, atol=1e-13)


def test_other_numbers_compile_nothing(monkeypatch):
    made = []
    init = CompiledScan.__init__
    monkeypatch.setattr(CompiledScan, "__init__", lambda self, *a, **k: made.append(a) or init(self, *a, **k))
    arm = ARM.edit(gravity=(0.3, -9.0, 0.0))
    for mass in (0.5, 1.0, 2.0):
        arm.at({"tool.payload": mass}).simulate(np.tile(Q0, (2, 1)), None, 0.01)
        arm.at({"tool.payload": [[mass], [2 * mass], [3 * mass]]}).simulate(Q0, None, 0.01)
    assert len(made) == 1


def test_numbers_make_the_batch():
    masses = np.array([0.0, 1.0, 2.0])[:, None]
    motion = ARM.at({"tool.payload": masses, "gravity": [0, 0, -9.81]}).simulate(Q0, None, 0.01)
    assert motion.batch == (3,)
    assert motion.parameters["tool.payload"].shape == (3, 10)
    grid = ARM.at({"tool.payload": masses}).simulate(Q0 + np.zeros((2, 1, 2)), None, 0.01)
    assert grid.batch == (2, 3)
    with pytest.raises(cr.ShapeError, match=r"q0 \(2, 2\) and qd0 .*, 'tool.payload' \(3, 10\) do not"):
        ARM.at({"tool.payload": masses}).simulate(np.zeros((2, 2)), None, 0.01)


@pytest.mark.parametrize("nothing", [None, 0, np.zeros(10)])
def test_no_payload_is_the_robot_itself(nothing):
    ours = ARM.reference.at({"tool.payload": nothing}).simulate(Q0, None, 0.005)
    assert_allclose(ours.q, ARM.reference.simulate(Q0, None, 0.005).q, atol=1e-15)


def test_a_controller_keeps_the_numbers_of_its_own_robot():
    law = cr.GravityCompensation(ARM)
    heavy = ARM.at({"tool.payload": [[0.0], [1.0]]}).simulate(Q0, None, 0.1, law)
    assert np.abs(heavy.q[0] - Q0).max() < 1e-12
    assert np.abs(heavy.q[1, -1] - Q0).max() > 1e-3
    assert_allclose(heavy.tau[1, 0], ARM.gravity_torque(Q0))


def test_energy_and_terms_are_those_of_each_row():
    motion = ARM.at({"tool.payload": [[0.5], [2.0]]}).simulate(Q0, None, 0.05)
    assert np.abs(motion.energy_error).max() < 1e-9
    assert_allclose(motion.terms["total"], motion.tau, atol=1e-9)
    one = motion.row(1)
    assert_allclose(one.energy, motion.energy[1], atol=1e-12)
    assert one.parameters["tool.payload"].shape == (10,)
    assert_allclose(motion[10:].energy, motion.energy[:, 10:], atol=1e-12)
    loose = ARM.with_payload(2.0, link="tool")
    assert_allclose(
        one.joint_wrenches(frame="body"), loose.joint_wrenches(one.q, one.qd, one.qdd, frame="body"), atol=1e-9
    )


def test_a_motion_is_saved_with_its_numbers(tmp_path):
    motion = ARM.at({"tool.payload": [[0.5], [2.0]]}).simulate(Q0, None, 0.01)
    with pytest.raises(cr.ShapeError, match=r"the robots of this batch .* differ by their parameters"):
        motion.save(tmp_path / "all.npz")
    motion.row(1).save(tmp_path / "one.npz")
    back = cr.Trajectory.load(tmp_path / "one.npz")
    assert_allclose(back.energy, motion.energy[1], atol=1e-11)


def test_motions_with_other_numbers_are_not_joined():
    light, heavy = (ARM.at({"tool.payload": mass}).simulate(Q0, None, 0.01) for mass in (0.5, 2.0))
    assert len(light[:6].then(light[5:])) == len(light)
    with pytest.raises(cr.ShapeError, match="the parameters of these two differ"):
        light[:6].then(heavy[5:])


def test_steps_with_a_payload_that_is_picked_up():
    sim = ARM.at({"tool.payload": None, "gravity": [0, -9.81, 0]}).simulation(np.tile(Q0, (2, 1)), dt=1e-3)
    sim.step(steps=10)
    middle = sim.q, sim.qd
    sim.change({"tool.payload": [[0.0], [1.5]]})
    sim.step(steps=10)
    sim.step()
    for k, mass in enumerate((0.0, 1.5)):
        arm = ARM.edit(gravity=(0, -9.81, 0)).with_payload(mass, link="tool")
        after = arm.simulate(middle[0][k], middle[1][k], 0.011).q[-1]
        assert_allclose(sim.q[k], after, atol=1e-12)
    with pytest.raises(cr.UnknownNameError, match=r"change: this simulation has no parameter named 'link2.mass'"):
        sim.change({"link2.mass": 1.0})
    with pytest.raises(cr.ShapeError, match=r"'tool.payload' has the shape \(3, 10\), and the batch"):
        sim.change({"tool.payload": np.zeros((3, 10))})


def test_closed_loops():
    linkage = cr.load("four_bar")
    link, q0 = linkage.link_names[1], linkage.home()
    assert_rows_are_edited_robots(linkage, {f"{link}.mass": [0.5, 2.0]}, q0, 0.01, 1e-9)
    joint = linkage.joint_names[0]
    moved = linkage.at({f"{joint}.origin": [0, 0, 0]})
    for call in (moved.simulate, moved.simulation):
        with pytest.raises(cr.ModelError, match=f"parameter '{joint}.origin' moves a joint or frame .* closed loops"):
            call(q0)
