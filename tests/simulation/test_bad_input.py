"""Bad input: what is refused, and how it is said."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.errors import ChainruleError, FormatError

from .motions import ARM, START


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0.0}, "dt must be positive"),
        ({"dt": -1e-3}, "dt must be positive"),
        ({"dt": np.nan}, "dt"),
        ({"dt": 2.0}, "longer than the duration"),
        ({"dt": "fast"}, "dt"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"duration": np.inf}, "duration"),
        ({"record": 0}, "record"),
        ({"record": 1.5}, "record must be a whole number"),
        ({"integrator": "rk5"}, "rk4"),
        ({"q0": [1.0]}, "q0"),
        ({"q0": [np.nan, 0.0]}, "q0 must be finite"),
        ({"q0": np.zeros((0, 2))}, "no start"),
        ({"qd0": [1.0]}, "qd0"),
        ({"qd0": np.zeros((3, 2)), "q0": np.zeros((4, 2))}, "do not fit"),
        ({"torque": [1.0]}, "torque"),
        ({"torque": [1.0, np.inf]}, "lower_hinge"),
        ({"torque": np.zeros((3, 2))}, "batch"),
        ({"torque": "full"}, "torque"),
        ({"torque": cr.Samples([0, 1], [[1.0], [2.0]])}, "samples of 1"),
        ({"torque": lambda t, q, qd: [1.0]}, "torque"),
        ({"torque": lambda t, q, qd: None}, "torque"),
        ({"tip_wrench": [1.0]}, "tip_wrench"),
        ({"external": [1.0]}, "dictionary"),
        ({"external": {"elbow": np.zeros(6)}}, "elbow"),
        ({"stops": 1000.0}, "Stops"),
        ({"stops": cr.Stops(-1.0)}, "stiffness"),
        ({"stops": cr.Impacts(1.5)}, "restitution"),
        ({"events": 3}, "Event"),
        ({"events": lambda t, q, qd: q}, "one number"),
        ({"loops": "glue"}, "way to close loops"),
        ({"diverged": "ignore"}, "raise"),
    ],
)
def test_wrong_arguments_are_named(arm, options, message):
    arguments = {"q0": START, "qd0": None, "duration": 0.1, **options}
    with pytest.raises(cr.ChainruleError, match=message):
        arm.simulate(**arguments)


def test_a_torque_that_is_no_number_is_named_with_its_time_and_joint(arm):
    def broken(t, q, qd):
        return np.array([0.0, np.nan if t > 0.0501 else 0.0])

    with pytest.raises(cr.ShapeError, match=r"nan for 'lower_hinge' at t = 0\.05"):
        arm.simulate(START, None, 1.0, broken)
    with pytest.raises(cr.ShapeError, match="lower_hinge"):
        arm.simulate(START, None, 1.0, broken, integrator="dop853")


def test_an_error_in_a_users_function_is_their_own(arm):
    def broken(t, q, qd):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        arm.simulate(START, None, 1.0, broken)


def test_a_start_outside_the_limits_is_refused_by_name():
    robot = cr.load("panda")
    with pytest.raises(cr.ShapeError, match=r"panda_joint4.*limits=False"):
        robot.simulate(np.zeros(7), None, 0.1)
    robot.simulate(np.zeros(7), None, 0.01, limits=False)
    with pytest.raises(cr.ShapeError, match="row"):
        robot.simulate(np.zeros((2, 7)), None, 0.1)


def test_a_controller_for_another_robot_is_refused():
    controller = cr.GravityCompensation(cr.load("ur5"))
    with pytest.raises(cr.ShapeError, match=r"ur5.*panda"):
        cr.load("panda").simulate(np.array([0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0]), None, 0.1, controller)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_torque_where_none_can_act_is_refused(method):
    robot = cr.load("four_bar")
    tau = np.array([0.0, 1.0, 0.0])
    for told in (tau, ([0, 1], [tau, tau]), lambda t, q, qd: tau):
        with pytest.raises(cr.ShapeError, match=r"'coupler'.*effort limit of 0"):
            robot.simulate(robot.neutral(), None, 0.1, told, integrator=method)


def test_a_controller_must_be_made_before_it_is_used(arm):
    with pytest.raises(cr.ShapeError, match=r"PD\(\.\.\.\)"):
        arm.simulate(START, None, 0.1, cr.PD)


def test_what_cannot_be_done_is_said_in_words(tmp_path):
    motion = ARM.simulate([0.0, 0.0], None, 0.01)
    wrong = [
        lambda: ARM.simulate([0.0, 0.0], None, 1.0, dt=1e-320),
        lambda: ARM.simulate([0.0, 0.0], None, 1e13, integrator="dop853"),
        lambda: ARM.simulate([0.0, 0.0], None, 1.0, ([0, 1], [[1, 2], [3]])),
        lambda: ARM.simulate([0.0, 0.0], None, 1.0, events=lambda t, q, qd: "a"),
        lambda: motion.between("a", 1.0),
        lambda: motion["a":],
        lambda: motion[::0],
        lambda: motion.resample(1e-13),
        lambda: motion.column(3),
    ]
    for call in wrong:
        with pytest.raises(ChainruleError):
            call()
    for end in ("npz", "csv", "parquet"):
        with pytest.raises(FormatError, match="cannot be written"):
            motion.save(tmp_path / "none" / f"a.{end}")
        motion[:0].save(tmp_path / f"a.{end}")
