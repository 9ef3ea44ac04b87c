"""The human arm: ranges of motion, places on the body within reach, both sides, and the angles of the ISB."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import chainrule as cr
from chainrule.robot.human_isb import ISB_ANGLES

RIGHT, LEFT = cr.human_arm(), cr.human_arm(side="left")
MIRROR = np.diag([1.0, -1.0, 1.0])

AAOS = {
    "shoulder_flexion": (-60, 180), "shoulder_rotation": (-90, 70), "elbow_flexion": (0, 150),
    "forearm_pronation": (-80, 80), "wrist_flexion": (-70, 80), "wrist_deviation": (-30, 20),
}  # fmt: skip
"""American Academy of Orthopaedic Surgeons (1965), in Norkin & White, table A.1: extension 60, flexion 180; lateral
rotation 90, medial rotation 70; elbow flexion 150; supination and pronation 80; wrist extension 70, flexion 80; ulnar
deviation 30, radial deviation 20."""


@pytest.mark.parametrize("arm", [RIGHT, LEFT], ids=["right", "left"])
def test_joints_have_the_ranges_of_the_orthopaedic_surgeons(arm):
    limits = dict(
        zip(arm.joint_names, np.degrees([arm.limits.lower, arm.limits.upper]).T.round(9).tolist(), strict=True)
    )
    assert limits.pop("shoulder_abduction") == [135 - 90 - 90, 180]  # horizontal flexion 135, abduction 180
    assert {joint: tuple(ends) for joint, ends in limits.items()} == AAOS


@pytest.mark.parametrize("arm", [RIGHT, LEFT], ids=["right", "left"])
def test_radii_are_about_the_axes_that_the_table_means(arm):
    """De Leva's sagittal axis is the palm's normal where the palm faces forward, and the hand's largest radius."""
    in_table = cr.from_isb_angles(arm, {"pronation": 0.0})
    for link, sagittal, transverse in (("upper_arm", 0.285, 0.269), ("forearm", 0.276, 0.265), ("hand", 0.628, 0.513)):
        turn = arm.reference.pose(in_table, link)[:3, :3]
        moments = np.diag(turn @ arm.links[link].inertia @ turn.T)
        assert np.sqrt(moments[0] / moments[1]) == pytest.approx(sagittal / transverse, rel=1e-9), link


def test_internal_rotation_brings_the_forearm_across_the_belly():
    hand = RIGHT.reference.pose(RIGHT.q(shoulder_rotation=np.radians(70), elbow_flexion=np.pi / 2))[:3, 3]
    assert hand[1] > 0.2  # 0.36 m of forearm and hand, nearly to the left
    assert 0 < hand[0] < 0.15
    outward = RIGHT.reference.pose(RIGHT.q(shoulder_rotation=-0.5, elbow_flexion=np.pi / 2))[:3, 3]
    assert outward[1] < 0


REACHES = {
    # where the hand goes: a natural posture to start from, and then what flexion, abduction, rotation and elbow may be
    "mouth": ((45, 20, 45, 130), [(40, 80), (-20, 30), (20, 70), (110, 150)]),
    "forehead": ((70, 20, 45, 120), [(60, 110), (-20, 30), (20, 70), (90, 140)]),
    "top_of_head": ((100, 40, 0, 120), [(90, 150), (-20, 40), (0, 70), (80, 140)]),
    "back_of_head": ((140, 30, 0, 130), [(120, 170), (-10, 40), (0, 70), (100, 150)]),
    "ear": ((60, 50, 20, 140), [(50, 110), (-10, 50), (10, 60), (120, 150)]),
    "opposite_shoulder": ((60, -10, 60, 110), [(20, 80), (-45, 10), (40, 70), (70, 130)]),
    "chest": ((20, 15, 60, 120), [(-10, 40), (0, 50), (40, 70), (100, 150)]),
    "belly": ((0, 10, 60, 90), [(-30, 30), (0, 40), (40, 70), (70, 120)]),
    "lap": ((0, 5, 20, 80), [(-40, 20), (-5, 30), (0, 40), (60, 120)]),
    "table": ((30, 0, 0, 60), [(-10, 50), (-10, 20), (-20, 20), (40, 100)]),
    "head_level": ((80, 0, 0, 45), [(50, 100), (-10, 20), (-20, 20), (20, 100)]),
}


@pytest.mark.parametrize("table", ["de_leva_men", "winter"])
def test_the_hand_reaches_the_body_with_plausible_angles(table):
    arm = cr.human_arm(table=table)
    where = cr.body_points(1.75)
    starts = np.radians([[*start, 0, 0, 0] for start, _ in REACHES.values()])
    for place, start in zip(REACHES, starts, strict=True):
        found = arm.inverse_kinematics(where[place], task="position", q0=start, posture=start)
        assert found.success, f"{place}: {found.reason}"
        low, high = np.array(REACHES[place][1]).T
        angles = np.degrees(found.q[:4])
        assert ((low <= angles) & (angles <= high)).all(), f"{place}: {angles.round()}"


def test_the_hand_goes_behind_the_head_with_the_elbow_to_the_side():
    start = np.radians([20, 120, -80, 110, 0, 0, 0])
    found = RIGHT.inverse_kinematics(cr.body_points()["back_of_head"], task="position", q0=start, posture=start)
    assert found.success
    elbow = RIGHT.pose(found.q, "elbow")[:3, 3]
    assert elbow[1] < -0.1  # to the right of the shoulder
    assert elbow[2] > 0.1  # and above it


def test_every_place_on_the_body_is_a_frame_of_the_arm():
    for arm, side in ((RIGHT, "right"), (LEFT, "left")):
        for place, point in cr.body_points(1.75, side).items():
            assert_allclose(arm.reference.pose(arm.neutral(), place)[:3, 3], point, atol=1e-15)
    up = {place: 1.43 + point[2] for place, point in cr.body_points(1.75).items()}  # the shoulder at 0.818 * 1.75
    assert up["top_of_head"] == pytest.approx(1.75, abs=0.005)
    assert 1.52 < up["mouth"] < up["ear"] < up["forehead"] < up["top_of_head"]
    assert up["lap"] < up["belly"] < up["chest"] < up["neck"] < up["mouth"]


def test_sides_mirror_each_other():
    rng = np.random.default_rng(0)
    q = rng.normal(size=(20, 7))
    T, T_left = RIGHT.reference.poses(q), LEFT.reference.poses(q)
    assert_allclose(T_left[..., :3, 3], T[..., :3, 3] @ MIRROR, atol=1e-14)
    assert_allclose(T_left[..., :3, :3], MIRROR @ T[..., :3, :3] @ MIRROR, atol=1e-14)
    for place, point in cr.body_points(1.8).items():
        assert_allclose(cr.body_points(1.8, "left")[place], MIRROR @ point)


def test_the_same_motion_takes_the_same_torques_on_both_sides():
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 20, 7))
    tau = RIGHT.reference.inverse_dynamics(q, qd, qdd)
    assert_allclose(LEFT.reference.inverse_dynamics(q, qd, qdd), tau, atol=1e-12)
    assert_allclose(LEFT.reference.mass_matrix(q), RIGHT.reference.mass_matrix(q), atol=1e-14)
    wrench = np.array([0.1, 0.2, 0.3, 4.0, 5.0, 6.0])
    seen_in_mirror = wrench * [-1, 1, -1, 1, -1, 1]  # moments are mirrored like rotations
    held = LEFT.reference.inverse_dynamics(q, qd, qdd, tip_wrench=seen_in_mirror, frame="body")
    assert_allclose(held, RIGHT.reference.inverse_dynamics(q, qd, qdd, tip_wrench=wrench, frame="body"), atol=1e-12)


def test_the_left_arm_moves_the_way_its_joints_are_named():
    def moved(joint):
        return (LEFT.reference.pose(LEFT.q({joint: 0.1})) - LEFT.reference.pose(LEFT.neutral()))[:3, 3]

    assert moved("shoulder_flexion")[0] > 0
    assert moved("shoulder_abduction")[1] > 0
    assert moved("elbow_flexion")[0] > 0
    assert moved("wrist_flexion")[1] < 0
    assert moved("wrist_deviation")[0] > 0
    turned = LEFT.reference.pose(LEFT.q(forearm_pronation=0.1))[:3, 0]  # the thumb
    assert turned[1] < 0


def test_sex_chooses_the_table():
    assert cr.human_arm(sex="female") == cr.human_arm(table="de_leva_women")
    assert cr.human_arm(sex="male") == cr.human_arm() == cr.human_arm(table="de_leva_men", sex="male")
    assert cr.human_arm(sex="female", table="winter") == cr.human_arm(table="winter")  # which has one for both
    assert cr.human_arm(sex="female").mass < cr.human_arm().mass


def test_pictures_show_trunk_and_arm_on_the_right_side():
    for arm, sign in ((RIGHT, 1), (LEFT, -1)):
        trunk = [float(g.origin.translation.y) for g in arm.model.geometries if g.link == "torso"]
        assert len(trunk) == 3
        assert_allclose(trunk, sign * 0.129 * 1.75)
        assert {g.link for g in arm.model.geometries} == {"torso", "upper_arm", "forearm", "hand"}


# --- angles of the ISB ---


def test_angles_of_the_isb_by_name():
    assert tuple(ISB_ANGLES) == (
        "plane_of_elevation", "elevation", "axial_rotation", "elbow_flexion", "pronation", "wrist_flexion",
        "ulnar_deviation",
    )  # fmt: skip
    assert tuple(ISB_ANGLES.values()) == RIGHT.joint_names


KNOWN = [
    # flexion, abduction, rotation; plane of elevation, elevation, axial rotation
    ((0, 0, 0), (0, 0, 0)),
    ((0, 0, 40), (0, 0, 40)),  # hanging: the plane of elevation is not unique, and 0
    ((0, 70, 0), (0, 70, 0)),
    ((0, 120, -30), (0, 120, -30)),
    ((60, 0, 0), (90, 60, -90)),
    ((90, 0, 20), (90, 90, -70)),
    ((-40, 0, 0), (-90, 40, 90)),
    ((90, 90, 0), (0, 90, -90)),  # abducted with the forearm up: 90 degrees of external rotation
    ((90, -30, 0), (120, 90, -90)),
    ((0, 180, -20), (0, 180, -20)),
]


@pytest.mark.parametrize(("joints", "isb"), KNOWN, ids=[str(k[0]) for k in KNOWN])
def test_known_angles_of_the_isb(joints, isb):
    for arm in (RIGHT, LEFT):
        assert_allclose(np.degrees(cr.isb_angles(arm, np.radians([*joints, 0, 0, 0, 0]))[:3]), isb, atol=1e-6)


def test_angles_of_the_isb_are_those_of_the_sequence_y_x_y():
    rng = np.random.default_rng(2)
    q = rng.uniform(RIGHT.limits.lower, RIGHT.limits.upper, (200, 7))
    R = RIGHT.reference.poses(q)[:, RIGHT.link_names.index("upper_arm"), :3, :3]
    to_isb = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # its X forward, Y up, Z to the right
    plane, elevation, axial = cr.isb_angles(RIGHT, q)[:, :3].T
    theirs = Rotation.from_euler("YXY", np.stack([plane, -elevation, axial], axis=1)).as_matrix()
    assert_allclose(to_isb @ R @ to_isb.T, theirs, atol=1e-12)
    assert ((elevation >= 0) & (elevation <= np.pi)).all()


def test_elbow_forearm_and_wrist_by_the_isb():
    q = np.radians([0, 0, 0, 30, -20, 10, 5])
    assert_allclose(np.degrees(cr.isb_angles(RIGHT, q))[3:], [30, 70, 10, -5])
    palm_forward = cr.from_isb_angles(RIGHT, {"pronation": 0.0})
    assert_allclose(np.degrees(palm_forward), [0, 0, 0, 0, -90, 0, 0], atol=1e-12)
    thumb = RIGHT.reference.pose(palm_forward)[:3, 0]
    assert_allclose(thumb, [0, -1, 0], atol=1e-12)  # in the anatomical position the right thumb points to the right


def test_there_and_back_again_gives_the_same_arm():
    rng = np.random.default_rng(3)
    q = rng.uniform(RIGHT.limits.lower, RIGHT.limits.upper, (4, 100, 7))
    for arm in (RIGHT, LEFT):
        back = cr.from_isb_angles(arm, cr.isb_angles(arm, q))
        assert_allclose(arm.reference.poses(back), arm.reference.poses(q), atol=1e-12)
        assert ((back >= arm.limits.lower - 1e-9) & (back <= arm.limits.upper + 1e-9)).all()
    abducted = np.radians([[0, 90, 30, 0, 0, 0, 0], [0, 130, -60, 0, 0, 0, 0]])  # one where two joints share an axis
    assert_allclose(cr.from_isb_angles(RIGHT, cr.isb_angles(RIGHT, abducted)), abducted, atol=1e-9)


def test_an_arm_on_a_floating_base_stays_at_its_place():
    floating = RIGHT.floating()
    q = cr.from_isb_angles(floating, {"elevation": 0.5})
    assert q[:7].tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert_allclose(cr.isb_angles(floating, q)[1], 0.5)


def test_angles_of_the_isb_come_by_name_in_batches_and_with_units():
    pint = pytest.importorskip("pint")
    degree = pint.get_application_registry().degree
    q = cr.from_isb_angles(RIGHT, {"elevation": np.array([0.5, 1.0]), "plane_of_elevation": 90 * degree})
    assert_allclose(q[:, 0], [0.5, 1.0])
    assert cr.isb_angles(RIGHT, dict.fromkeys(RIGHT.joint_names, 0.0)).shape == (7,)
