"""Numbers that cannot be right are refused, or warned about, with what was probably meant."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

ARM = cr.load("panda")
DEGREES = np.array([0.0, -45.0, 0.0, -135.0, 0.0, 90.0, 45.0])
HINT = (
    r"joint 'panda_joint2' is at -45 rad, far outside its limits .* if these are degrees, convert them with np.deg2rad"
)


def test_body_height_in_centimeters() -> None:
    with pytest.raises(cr.ModelError, match=r"body height must be in m, got 175; 1\.75 m, if that is in cm"):
        cr.human_arm(75.0, 175)
    with pytest.raises(cr.ModelError, match="body mass must be in kg, got 75000; 75 kg, if that is in g"):
        cr.human_arm(75000.0, 1.75)


def test_dh_tables_in_degrees() -> None:
    with pytest.raises(cr.ShapeError, match=r"DH row 1: alpha is 90 rad, .* multiples of 15, .* degrees=True"):
        cr.Robot.from_dh([(0, 90, 0.3, 0), (0.4, 0, 0, -30)], convention="standard", check=False)
    turned = cr.Robot.from_dh([(0, 90, 0.3, 0.1), (0.4, 0, 0, 0)], convention="standard", check=False)
    assert turned.nv == 2  # not all are multiples of 15


def test_starts_in_degrees() -> None:
    with pytest.raises(cr.ShapeError, match="outside its limits .*" + HINT):
        ARM.simulate(DEGREES, None, 0.01)
    with pytest.warns(cr.ModelWarning, match="simulate: " + HINT):
        cr.load("panda").simulate(DEGREES, None, 0.002, limits=False)


def test_way_points_in_degrees() -> None:
    with pytest.raises(cr.ShapeError, match=r"np\.deg2rad"):
        cr.plan(ARM, [DEGREES, DEGREES + 5])
    with pytest.warns(cr.ModelWarning, match="plan: " + HINT):
        cr.plan(cr.load("panda"), [DEGREES, DEGREES + 5], times=1.0, limits=False)


def test_seeds_targets_and_pictures_in_degrees() -> None:
    T = ARM.pose(ARM.home())
    with pytest.warns(cr.ModelWarning, match="inverse_kinematics: " + HINT):
        cr.load("panda").inverse_kinematics(T, DEGREES)
    with pytest.warns(cr.ModelWarning, match="PD: " + HINT):
        cr.PD(cr.load("panda"), DEGREES, 1.0, 1.0)
    pytest.importorskip("matplotlib")
    with pytest.warns(cr.ModelWarning, match="plot: " + HINT):
        cr.load("panda").plot(DEGREES)


@pytest.mark.parametrize(
    "q",
    [np.deg2rad(DEGREES), DEGREES * 100, np.full(7, np.nan), np.full(7, 3.0)],
    ids=["radians", "no degrees either", "nan", "a little outside"],
)
def test_nothing_is_said_of_other_numbers(q: np.ndarray) -> None:
    if np.isfinite(q).all():
        cr.PD(ARM, q, 1.0, 1.0)
    ARM.inverse_kinematics(ARM.pose(ARM.home()), q, restarts=1)


CALLS = {
    "an array": lambda arm: arm.pose(DEGREES),
    "a list": lambda arm: arm.gravity_torque(DEGREES.tolist()),
    "a tuple": lambda arm: arm.jacobian(tuple(DEGREES)),
    "a batch": lambda arm: arm.mass_matrix([DEGREES, DEGREES]),
    "a name": lambda arm: arm.q(panda_joint2=-45),
    "an option": lambda arm: arm.jacobian(DEGREES, frame="body"),
    "a composition": lambda arm: arm.is_singular(DEGREES),
    "a path": lambda arm: arm.ik.follow([arm.pose(arm.home())], DEGREES),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_degrees_in_any_function_are_warned_about_once_a_robot(call) -> None:
    arm = cr.load("panda").reference
    with pytest.warns(cr.ModelWarning, match="if these are degrees, .* or call robot.degrees"):
        call(arm)
    call(arm)


def test_a_compiled_function_warns_in_its_first_call() -> None:
    with pytest.warns(cr.ModelWarning, match="inverse_dynamics: q: " + HINT):
        cr.load("panda").inverse_dynamics(DEGREES)


@pytest.mark.interpreted
def test_degrees_of_joints_without_limits_are_multiples_of_15() -> None:
    with pytest.warns(cr.ModelWarning, match=r"'joint1' is at 90 rad, 14\.3 turns, and all angles are multiples of 15"):
        cr.load("planar_2r").reference.pose([90.0, -45.0])
    for q in ([9.0, 4.0], [90.0, 44.0], [10 * np.pi, 0.0], [1500.0, 0.0]):
        cr.load("planar_2r").reference.pose(q)


@pytest.mark.interpreted
def test_arrays_that_went_astray_are_not_taken_for_degrees() -> None:
    cr.load("panda").reference.pose(DEGREES + 0.5)


def test_the_view_in_degrees_has_every_function_and_no_warning() -> None:
    arm = cr.load("panda")
    assert np.allclose(arm.degrees.pose(DEGREES), arm.pose(np.deg2rad(DEGREES)))
    with pytest.raises(cr.ArgumentError, match=r"there is no joint 'degrees'; .* robot\.degrees"):
        arm.q(panda_joint1=30, degrees=True)
