"""Base parameters: the same equations in fewer symbols."""

import numpy as np
import pytest
from tiers import with_slow

import chainrule as cr
from chainrule.symbolic.closed_form.equations import EquationsInBaseParameters


@pytest.mark.parametrize("name", with_slow(["planar_2r", "planar_3r", "scara", "planar_rp", "puma560"], "puma560"))
def test_base_parameters_say_the_same_in_fewer_words(name):
    robot = cr.load(name)
    written = robot.equations()
    few = written.in_base_parameters()
    q, qd, qdd = robot.random_state(np.random.default_rng(0)), *np.random.default_rng(1).normal(size=(2, robot.nv))
    for term, value in (("M", robot.mass_matrix(q)), ("tau", robot.inverse_dynamics(q, qd, qdd))):
        assert np.allclose(few.lambdify(term)(q, qd, qdd), value, rtol=1e-10, atol=1e-10)
    assert few.operations["total"] < written.operations["total"]
    for symbol, meaning in few.definitions.items():
        assert float(meaning.subs(written.parameters)) == pytest.approx(few.parameters[symbol], rel=1e-12)


def test_the_mass_matrix_of_three_joints_fits_a_page_in_base_parameters():
    few = cr.load("planar_3r").equations().in_base_parameters()
    assert max(len(str(entry)) for entry in few.M) < 80
    assert len(few.definitions) <= 9


def test_grouped_is_another_name():
    assert isinstance(cr.load("planar_2r").equations().in_base_parameters(), EquationsInBaseParameters)
