"""Every bundled robot has a home that it can stand in."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.core.closure import closure_of

pytestmark = pytest.mark.interpreted


SERIAL = ("cartesian_3p", "human_arm", "iiwa14", "panda", "panda_hand", "planar_2r", "planar_3r", "planar_rp", "puma560",
          "puma560_craig", "scara", "stanford", "ur5", "wx250s")  # fmt: skip
READY = [0, -pi / 4, 0, -3 * pi / 4, 0, pi / 2, pi / 4]


@pytest.mark.parametrize("name", cr.robots())
def test_every_named_configuration_is_inside_the_limits_and_closed(name):
    robot = cr.load(name)
    assert "home" in robot.configurations
    for label, q in robot.configurations.items():
        assert ((q >= robot.model.layout.lower) & (q <= robot.model.layout.upper)).all(), label
        if robot.model.constraints:
            assert closure_of(robot).is_closed(q), label
    assert np.array_equal(robot.home(), robot.configurations["home"])


@pytest.mark.parametrize("name", SERIAL)
def test_arms_are_not_singular_at_home(name):
    robot = cr.load(name)
    values = robot.singular_values(robot.home())
    rank = robot.analysis.task_rank()
    assert values[rank - 1] > 0.05


@pytest.mark.parametrize("name", ["panda", "panda_hand"])
def test_panda_is_ready_where_its_maker_has_it(name):
    robot = cr.load(name)
    assert_allclose(robot.configurations["ready"][:7], READY)
    assert_allclose(robot.home()[:7], READY)
    assert not robot.is_singular(robot.home())


def test_the_fingers_open_and_close():
    hand = cr.load("panda_hand")
    apart = {
        name: np.linalg.norm(hand.pose(q, "panda_leftfinger")[:3, 3] - hand.pose(q, "panda_rightfinger")[:3, 3])
        for name, q in hand.configurations.items()
    }
    assert_allclose([apart["open"], apart["closed"]], [0.08, 0.0], atol=1e-12)


@pytest.mark.parametrize("label", ["home", "crouched"])
def test_the_quadruped_stands_on_its_feet(label):
    robot = cr.load("quadruped")
    q = robot.configurations[label]
    assert_allclose([robot.pose(q, foot)[2, 3] for foot in robot.model.tips], 0.0, atol=1e-12)
    assert_allclose(robot.center_of_mass(q)[:2], 0.0, atol=2e-3)


def test_the_human_arm_bends_its_elbow_at_home():
    arm = cr.human_arm(60.0, 1.6)
    at = dict(zip(arm.coordinate_names, arm.home(), strict=True))
    assert at["elbow_flexion"] == pytest.approx(pi / 2)
    assert arm.configurations["hanging"].tolist() == [0.0] * 7


@pytest.mark.parametrize("name", cr.robots())
@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_bundled_robots_are_saved_and_loaded_exactly(name, suffix, tmp_path):
    robot = cr.load(name)
    robot.save(tmp_path / f"robot.{suffix}")
    if "puma560" in name:  # as published: link 3 cannot exist
        with pytest.warns(cr.ModelWarning, match="link 'link3'"):
            assert cr.load(tmp_path / f"robot.{suffix}") == robot
    else:
        assert cr.load(tmp_path / f"robot.{suffix}") == robot


@pytest.mark.parametrize("name", cr.robots())
def test_edited_robots_are_saved_and_loaded_exactly(name, tmp_path):
    robot = cr.load(name)
    changed = robot.lock(
        {joint: 0.3 for joint in robot.joint_names[:1] if robot.model.layout.by_joint[joint].joint.kind.nq == 1}
    )
    for k, edited in enumerate(
        (changed, changed.merge_fixed(), robot.floating(), robot.with_payload(1.0, link=robot.link_names[-1]))
    ):
        edited.save(tmp_path / f"robot{k}.toml")
        again = cr.load(tmp_path / f"robot{k}.toml", check=False)
        assert replace(again.model, notes=edited.model.notes) == edited.model  # loading notes what it finds wrong
