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
        ARM.simulate(DEGREES, None, 0.002, limits=False)


def test_way_points_in_degrees() -> None:
    with pytest.raises(cr.ShapeError, match=r"np\.deg2rad"):
        cr.plan(ARM, [DEGREES, DEGREES + 5])
    with pytest.warns(cr.ModelWarning, match="plan: " + HINT):
        cr.plan(ARM, [DEGREES, DEGREES + 5], times=1.0, limits=False)


def test_seeds_targets_and_pictures_in_degrees() -> None:
    T = ARM.pose(ARM.home())
    with pytest.warns(cr.ModelWarning, match="inverse_kinematics: " + HINT):
        ARM.inverse_kinematics(T, DEGREES)
    with pytest.warns(cr.ModelWarning, match="PD: " + HINT):
        cr.PD(ARM, DEGREES, 1.0, 1.0)
    pytest.importorskip("matplotlib")
    with pytest.warns(cr.ModelWarning, match="plot: " + HINT):
        ARM.plot(DEGREES)


@pytest.mark.parametrize(
    "q",
    [np.deg2rad(DEGREES), DEGREES * 100, np.full(7, np.nan), np.full(7, 3.0)],
    ids=["radians", "no degrees either", "nan", "a little outside"],
)
def test_nothing_is_said_of_other_numbers(q: np.ndarray) -> None:
    if np.isfinite(q).all():
        cr.PD(ARM, q, 1.0, 1.0)
    ARM.inverse_kinematics(ARM.pose(ARM.home()), q, restarts=1)
