"""Inertias with fewer numbers need the same torques."""

from __future__ import annotations

import numpy as np
import pytest
import trees

import chainrule as cr
from chainrule.algorithms.rnea import inward, project
from chainrule.algorithms.rnea_derivatives import link_wrenches, outward
from chainrule.core.derived import merged_model
from chainrule.model.minimal_inertias import minimal_inertias
from chainrule.spatial import Inertia

pytestmark = pytest.mark.interpreted


def torques(model, inertias, q, qd, qdd):
    bodies = model.at(q)
    links = outward(model, bodies, qd, qdd)
    return np.array(project(model, bodies, inward(bodies, link_wrenches(bodies, links, inertias))))


@pytest.mark.parametrize("seed", range(3))
def test_torques_of_trees_are_the_same(seed):
    robot = trees.tree(seed, ("revolute", "prismatic", "helical", "screw", "universal", "spherical", "continuous"))
    model = merged_model(robot)
    state = [x.tolist() for x in trees.state(robot, seed)]
    own = [Inertia.zero(), *(body.link.spatial_inertia for body in model.bodies)]
    np.testing.assert_allclose(torques(model, minimal_inertias(model), *state), torques(model, own, *state), atol=1e-12)


def test_a_turning_link_keeps_no_mass_and_a_sliding_one_no_inertia():
    turning, sliding = minimal_inertias(merged_model(cr.load("planar_rp")))[1:]
    assert sliding.inertia.entries() == (0, 0, 0, 0, 0, 0)
    assert turning.mass == 0
    assert turning.moment.z == 0


def test_axes_off_the_origin_are_minded():
    robot = cr.Robot.from_screws(
        home=np.eye(4), screws=np.array([[0, 0, 1.0, 0.3, -0.2, 0], [0, 1.0, 0, -0.5, 0, 0.1]]).T,
        frames=np.tile(np.eye(4), (3, 1, 1)), inertias=[np.diag([0.1, 0.2, 0.25, 2, 2, 2])] * 2,
    )  # fmt: skip
    model = merged_model(robot)
    state = np.random.default_rng(0).normal(size=(3, 2)).tolist()
    own = [Inertia.zero(), *(body.link.spatial_inertia for body in model.bodies)]
    np.testing.assert_allclose(torques(model, minimal_inertias(model), *state), torques(model, own, *state), atol=1e-13)
