"""A human body that cannot be is refused by name."""

import math

import numpy as np
import pytest
from refusals import refused

import chainrule as cr
from chainrule import ModelError, ShapeError, UnknownNameError

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

NAN = math.nan

HUMANS = [
    ((0,), ModelError, r"body mass must be a positive number in kg, got 0"),
    ((70, -1), ModelError, r"body height must be a positive number in m, got -1"),
    ((NAN,), ShapeError, r"body mass must be finite"),
    (("70",), ShapeError, r"body mass must be real numbers, got str"),
    (([70],), ShapeError, r"body mass must be one number"),
    ((10**400,), ShapeError, r"body mass must be real numbers"),
    ((70, 1e308), ModelError, r"body height must be in m, got 1e\+308"),
    ((70, 1.7, "winters"), UnknownNameError, r"'winters'; did you mean 'winter'"),
    ((70, 1.7, ["winter"]), UnknownNameError, r"no anthropometric table named \['winter'\]"),
    ((70, 1.7, "winter", None), ModelError, r"a robot has no name but None"),
    (
        (9, 1.75),
        ModelError,
        r"no human has a body mass index of 2\.94 kg/m\^2 \(9 kg, 1\.75 m\): it is between 6 and 250",
    ),
    ((600, 1.2), ModelError, r"no human has a body mass index of 417"),
    ((3, 0.3), ModelError, r"no human has a body height of 0\.3 m: it is between 0\.4 and 3"),
]

OPTIONS = [
    ({"side": "rigth"}, UnknownNameError, r"'rigth'; did you mean 'right'"),
    ({"side": None}, UnknownNameError, r"a body has no side named None"),
    ({"sex": "femal"}, UnknownNameError, r"'femal'; did you mean 'female'"),
    (
        {"sex": "female", "table": "de_leva_men"},
        ModelError,
        r"'de_leva_men' is not that of sex 'female'; .*'de_leva_women'",
    ),
]


@pytest.mark.parametrize(("arguments", "error", "pattern"), HUMANS, ids=[str(h[0])[:30] for h in HUMANS])
def test_a_body_that_cannot_be_is_refused(arguments, error, pattern):
    refused(lambda: cr.human_arm(*arguments), error, pattern)


@pytest.mark.parametrize(("options", "error", "pattern"), OPTIONS, ids=[str(o[0]) for o in OPTIONS])
def test_an_option_of_a_body_that_cannot_be_is_refused(options, error, pattern):
    refused(lambda: cr.human_arm(**options), error, pattern)


def test_a_body_that_no_adult_has_is_warned_about():
    with pytest.warns(
        cr.ModelWarning, match=r"adults do not have a body mass index of 53\.9 .*between 12 and 50; .*tables"
    ):
        cr.human_arm(165, 1.75)
    with pytest.warns(cr.ModelWarning, match=r"adults do not have a body height of 1\.1 m, but between 1\.2 and 2\.3"):
        cr.human_arm(20, 1.1)


def test_bad_angles_of_the_isb_are_refused():
    arm = cr.human_arm()
    refused(
        lambda: cr.isb_angles(cr.load("panda"), np.zeros(7)), ModelError, r"'panda' is no human arm: .*'shoulder_flex"
    )
    refused(
        lambda: cr.from_isb_angles(arm, {"elevaton": 1.0}), UnknownNameError, r"'elevaton'; did you mean 'elevation'"
    )
    refused(lambda: cr.from_isb_angles(arm, [0.0, 1.0]), ShapeError, r"must have 7 numbers .*'plane_of_elevation'")
    batches = {"elevation": np.zeros(2), "axial_rotation": np.zeros(3)}
    refused(lambda: cr.from_isb_angles(arm, batches), ShapeError, r"from_isb_angles: the leading \(batch\) dimensions")
    refused(lambda: cr.isb_angles(arm, np.zeros(6)), ShapeError, r"isb_angles: q must have 7 numbers")


def test_a_bad_body_of_points_is_refused():
    refused(lambda: cr.body_points(0.0), ModelError, r"body height must be a positive number in m, got 0")
    refused(lambda: cr.body_points(1.8, "up"), UnknownNameError, r"a body has no side named 'up'")
