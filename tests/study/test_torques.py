import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chainrule as cr
from chainrule import study
from chainrule.robot.human_arm import TABLES
from chainrule.study.motions import Grasp, Motion
from chainrule.study.torques import TorqueFunction


def motion(seed=0, samples=50, **options):
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.normal(size=(3, samples, 7))
    return Motion("test", np.arange(samples) / 100, q, qd, qdd, **options)


@given(
    mass=st.floats(55, 90),
    height=st.floats(1.45, 2.0),
    side=st.sampled_from(["right", "left"]),
    gravity=st.sampled_from([None, (-9.81, 0, 0), (3.0, -4.0, -5.0)]),
)
@settings(max_examples=10)
def test_a_scaled_body_has_the_torques_of_its_own_robot(mass, height, side, gravity):
    subject = study.Subject.human(mass, height, side=side, gravity=gravity)
    there = motion()
    found = TorqueFunction(subject.base)(subject, there)
    own = subject.robot.reference.torque_terms(there.q, there.qd, there.qdd)
    for name, values in own.items():
        np.testing.assert_allclose(found.terms[name], values, atol=1e-11, err_msg=name)
    parts = sum(values for name, values in found.terms.items() if name != "total")
    np.testing.assert_allclose(parts, found.total, atol=1e-11)
    np.testing.assert_allclose(found.dynamic + found.gravity, found.total, atol=1e-11)


def test_gravity_of_the_body_that_kernels_are_made_for():
    subject, there = study.Subject.human(gravity=(-9.81, 0, 0)), motion()
    found = TorqueFunction(subject.base)(subject, there).gravity
    own = subject.robot.reference.torque_terms(there.q, there.qd, there.qdd)["gravity"]
    np.testing.assert_allclose(found, own, atol=1e-11)


def test_an_object_counts_while_it_is_held_and_an_exoskeleton_always():
    box = cr.rigid_body(shape="box", size=(0.1, 0.2, 0.3), mass=2.0)
    shell = {"forearm": cr.rigid_body(mass=0.8, com=(0, 0.03, -0.1)), "shoulder_2": cr.rigid_body(mass=0.5)}
    subject = study.Subject.human(60, 1.6, exoskeleton=shell)
    during = np.arange(50) % 3 == 0
    there = motion(grasps=(Grasp("box", box, during),))
    found = TorqueFunction(subject.base)(subject, there).total
    empty = subject.robot.reference.inverse_dynamics(there.q, there.qd, there.qdd)
    holding = subject.robot.with_payload(box.mass, box.com, box.inertia).reference
    full = holding.inverse_dynamics(there.q, there.qd, there.qdd)
    np.testing.assert_allclose(found[~during], empty[~during], atol=1e-11)
    np.testing.assert_allclose(found[during], full[during], atol=1e-11)
    assert np.abs(full - empty).max() > 1


def test_a_force_of_the_hand_adds_its_static_torque():
    subject = study.Subject.human(90, 1.9)
    wrench = np.tile([0.3, -0.2, 0.1, 10.0, -5.0, 20.0], (50, 1))
    there = motion(contact=wrench)
    found = TorqueFunction(subject.base)(subject, there)
    arm = subject.robot.reference
    expected = arm.inverse_dynamics(there.q, there.qd, there.qdd, tip_wrench=wrench)
    np.testing.assert_allclose(found.total, expected, atol=1e-10)
    assert np.abs(found.terms["contact"]).max() > 1


@pytest.mark.parametrize("table", TABLES)
def test_an_arm_stretched_forward_is_held_by_its_moment_about_the_shoulder(table):
    mass, height = 82.0, 1.81
    subject = study.Subject.human(mass, height, table=table, sex="female" if "women" in table else "male")
    upper, fore, hand = TABLES[table]
    a, b = upper.length * height, fore.length * height
    arms = (upper.com * a, a + fore.com * b, a + b + hand.com * hand.length * height)
    expected = 9.81 * mass * sum(s.mass * x for s, x in zip((upper, fore, hand), arms, strict=True))
    q = np.zeros((1, 7))
    q[0, 0] = np.pi / 2
    still = Motion("still", np.zeros(1), q, np.zeros((1, 7)), np.zeros((1, 7)))
    found = TorqueFunction(subject.base)(subject, still)
    assert found.total[0, 0] == pytest.approx(expected, rel=1e-12)
    elbow = 9.81 * mass * (fore.mass * fore.com * b + hand.mass * (b + hand.com * hand.length * height))
    assert found.total[0, 3] == pytest.approx(elbow, rel=1e-12)
    assert not found.dynamic.any()


def test_power_becomes_energy(person):
    result = study.run(person, ["reach_right", "full_workspace"], rate=1000)
    for torques in result.examples.values():
        there, arm = torques.motion, person.robot
        energy = arm.kinetic_energy(there.q, there.qd) + arm.potential_energy(there.q)
        work = np.trapezoid(torques.power.sum(axis=1), there.t)
        assert work == pytest.approx(energy[-1] - energy[0], abs=1e-4)
        assert np.ptp(energy) > 1


def test_robots_with_loops_take_no_objects_from_a_study():
    robot = cr.load("four_bar")
    there = Motion(
        "x", np.zeros(1), *np.zeros((3, 1, robot.nv)), grasps=(Grasp("x", cr.rigid_body(mass=1.0), np.ones(1, bool)),)
    )
    with pytest.raises(cr.ShapeError, match=r"closed loops.*with_payload"):
        TorqueFunction(robot)(study.Subject.of(robot), there)


def test_the_hand_s_force_and_the_joints_wrenches_belong_together(person):
    ball = cr.rigid_body(mass=1.5)
    there = motion(grasps=(Grasp("ball", ball, np.ones(50, bool)),), contact=np.tile([0, 0, 0, 4.0, 0, 0], (50, 1)))
    found = TorqueFunction(person.base)(person, there)
    wrenches = found.joint_wrenches()
    turns = person.robot.poses(there.q)[:, 1:, :3, :3]
    axes = [np.array([*joint.kind.angular], dtype=float) for joint in person.robot.model.joints]
    along = np.stack([(wrenches[:, j, :3] * (turns[:, j] @ axis)).sum(-1) for j, axis in enumerate(axes)], axis=1)
    np.testing.assert_allclose(along, found.total, atol=1e-9)
    still = Motion("still", there.t, there.q, 0 * there.qd, 0 * there.qdd, grasps=there.grasps)
    held = TorqueFunction(person.base)(person, still).hand_force()
    np.testing.assert_allclose(held, np.tile([0, 0, 1.5 * 9.81], (50, 1)), atol=1e-9)
