"""Questions without an answer: what is not finite, and what does not move, is neither yes nor no."""

import sys
from operator import attrgetter

import numpy as np
import pytest
from processes import run_python
from refusals import refused

import chainrule as cr
from chainrule import ModelError, ShapeError

NAN, INF = np.nan, np.inf
TURNING = (
    '<robot name="disc"><link name="base"/><link name="disc"><inertial><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link><joint name="j" type="continuous">'
    '<parent link="base"/><child link="disc"/></joint></robot>'
)
"""A robot whose end-effector turns on the spot: nothing gives it a translation."""


@pytest.mark.parametrize("path", ["compiled", "reference"])
@pytest.mark.parametrize("question", ["is_singular", "textbook.angles_are_singular"])
@pytest.mark.parametrize("value", [NAN, INF, -INF], ids=str)
def test_a_question_about_a_configuration_that_is_not_finite_is_refused(question, value, path):
    robot = cr.load("scara") if path == "compiled" else cr.load("scara").reference
    ask = attrgetter(question)(robot)
    for joint in range(robot.nq):
        q = np.full(robot.nq, 0.1)
        q[joint] = value
        message = refused(lambda q=q: ask(q), ShapeError, f"{question.rpartition('.')[2]} is neither true nor false")
        assert "(row" not in message


@pytest.mark.parametrize("question", ["is_singular", "textbook.angles_are_singular"])
def test_the_row_of_a_batch_is_named(question):
    ask = attrgetter(question)(cr.load("planar_2r"))
    q = np.full((3, 4, 2), 0.3)
    assert ask(q).shape == (3, 4)
    q[1, 2, 0] = NAN
    refused(lambda: ask(q), ShapeError, r"not finite \(row 1, 2\); leave out rows")


def test_inverse_kinematics_of_what_is_not_finite_is_no_success():
    arm = cr.load("planar_2r")
    target = np.stack([arm.pose([0.3, 0.4]), np.full((4, 4), NAN)])
    answer = arm.inverse_kinematics(target, task="position")
    assert answer.success.tolist() == [True, False]
    assert answer.reason.tolist() == ["", "not finite"]
    assert not arm.ik.branches([NAN, 0.0, 0.0]).valid.any()


@pytest.mark.parametrize(
    "function",
    [
        "manipulability",
        "analysis.dynamic_manipulability",
        "analysis.gradient",
        "analysis.condition_number",
        "is_singular",
        "analysis.singularity",
    ],
)
def test_a_part_of_the_motion_that_is_never_made_has_no_volume(function):
    robot = cr.Robot.from_urdf(TURNING)
    assert robot.analysis.task_rank(task="position") == 0
    for one in (robot, robot.reference):
        refused(
            lambda one=one: attrgetter(function)(one)([0.3], task="position"),
            ModelError,
            "no joint of robot 'disc' gives 'disc' a position motion",
        )
        assert np.isfinite(np.asarray(attrgetter(function)(one)([0.3], task="orientation"), dtype=object).size)


def test_a_direction_of_any_length_is_a_direction():
    arm = cr.load("planar_2r").edit(joints={"*": {"effort": 10.0}})
    expected = arm.analysis.push([0.0, 1.0], [1, 0, 0], gravity=False)
    for length in (1e-200, 1e200, 1e308):
        assert arm.analysis.push([0.0, 1.0], [length, 0, 0], gravity=False) == expected
        ellipsoid = arm.analysis.ellipsoid([0.0, 1.0])
        assert ellipsoid.along([length, 0, 0]) == ellipsoid.along([1.0, 0, 0])
    for wrong in ([0, 0, 0], [NAN, 0, 0], [INF, 0, 0]):
        refused(
            lambda wrong=wrong: arm.analysis.push([0.0, 1.0], wrong), ShapeError, "must not be zero, nor have numbers"
        )


def test_a_payload_is_not_known_where_the_holding_torque_is_not():
    arm = cr.load("planar_2r").edit(joints={"*": {"effort": 100.0}})
    assert np.isnan(arm.analysis.payload([NAN, 0.0]))
    assert np.isnan(arm.analysis.payload([0.0, NAN], "link1"))


@pytest.mark.parametrize("count", [23, 25, 40, 63])
def test_dimensions_of_a_batch_are_counted(count):
    q = np.full((1,) * (count - 1) + (2,), 0.3)
    for robot in (cr.load("planar_2r"), cr.load("planar_2r").reference):
        for name in (
            "pose",
            "poses",
            "mass_matrix",
            "jacobian",
            "is_singular",
            "analysis.gradient",
            "analysis.null_space",
        ):
            function = attrgetter(name)(robot)
            if count < 24:
                assert np.array_equal(np.squeeze(function(q)), np.squeeze(function(q.reshape(2))))
            else:
                refused(lambda f=function: f(q), ShapeError, f"q has {count} dimensions, and at most 24")


def test_more_states_than_memory_holds_are_refused_at_once():
    arm = cr.load("planar_2r")
    for shape in (10**30, 10**15, (10**9, 10**9), (1,) * 30):
        refused(lambda shape=shape: arm.random_state(shape=shape), ShapeError, "ask for less|larger than any memory")
    refused(lambda: arm.workspace(10**15), ShapeError, "samples would take .* GiB, and there are")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for memory")
def test_what_a_limited_process_can_no_longer_map_is_refused_before_it_is_tried():
    """A limit of memory holds for what a process has mapped already, too: what is left of it counts."""
    code = """
import resource, chainrule as cr
arm = cr.load("pendulum")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 28), resource.getrlimit(resource.RLIMIT_AS)[1]))
for ask in (
    lambda: arm.random_state(shape=1 << 25),
    lambda: arm.workspace(1 << 22),
    lambda: arm.simulate([0.1], None, duration=1e8, dt=4.0),
):
    try:
        ask()
    except cr.ChainruleError as error:
        print("GiB, and there are" in str(error))
"""
    assert run_python(code).stdout.split() == ["True"] * 3
