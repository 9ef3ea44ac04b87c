"""A human body that cannot be is refused by name."""

import math

import pytest
from refusals import refused

import chainrule as cr
from chainrule import ModelError, ShapeError, UnknownNameError

pytestmark = pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")

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
]


@pytest.mark.parametrize(("arguments", "error", "pattern"), HUMANS, ids=[str(h[0])[:30] for h in HUMANS])
def test_a_body_that_cannot_be_is_refused(arguments, error, pattern):
    refused(lambda: cr.human_arm(*arguments), error, pattern)
