"""Calibration: known robots are found from poses and points, errors are as large as said, bad measurements are named."""

import numpy as np
import pytest
from refusals import refused

import chainrule as cr
from chainrule.calibration.hand_eye import small_motion
from chainrule.calibration.measurements import Guess, Measurements
from chainrule.model.parameters import own_values

TOOL = ([0.0, 0.0, 0.1], [0, 0, 0, 1])
ARM = cr.load("puma560").with_frame("probe", TOOL)
JOINTS = ARM.joint_names
CHANGES = {f"{JOINTS[1]}.offset": 0.01, f"{JOINTS[3]}.offset": -0.02, "probe.origin": [0.004, -0.003, 0.105]}
REAL = ARM.edit(CHANGES)
BASE = small_motion(np.array([0.3, -0.2, 2.0, 1.5, -2.0, 0.4]))
ASKED = ["base", *CHANGES]


def measured(count, seed=0, noise=1e-4):
    rng = np.random.default_rng(seed)
    q = ARM.random_state(rng, (count,))
    return q, (BASE @ REAL.pose(q, "probe"))[:, :3, 3] + noise * rng.normal(size=(count, 3))


def single(changes):
    """Changes of single numbers, by name."""
    return {
        name if np.ndim(x) == 0 else f"{name}.{axis}": value
        for name, x in changes.items()
        for axis, value in zip("xyz", np.atleast_1d(x), strict=False)
    }


@pytest.mark.interpreted
@pytest.mark.parametrize("joint", range(6))
def test_an_offset_moves_the_zero_of_a_joint(joint):
    robot, q = ARM.reference, ARM.random_state(np.random.default_rng(joint), (3,))
    shift = 0.2 * np.eye(6)[joint]
    np.testing.assert_allclose(
        robot.edit({f"{JOINTS[joint]}.offset": 0.2}).poses(q), robot.poses(q + shift), atol=1e-12
    )
    np.testing.assert_allclose(
        robot.at({f"{JOINTS[joint]}.offset": 0.2}).inverse_dynamics(q), robot.inverse_dynamics(q + shift), atol=1e-9
    )


@pytest.mark.interpreted
def test_offsets_of_slides_and_of_what_has_none():
    scara = cr.load("scara").reference
    slide = next(joint.name for joint in scara.model.joints if joint.kind.name == "prismatic")
    place = list(scara.coordinate_names).index(slide)
    q = scara.home()
    shift = 0.01 * np.eye(scara.nq)[place]
    np.testing.assert_allclose(scara.edit({f"{slide}.offset": 0.01}).pose(q), scara.pose(q + shift), atol=1e-12)
    free = cr.load("planar_2r").floating()
    refused(lambda: free.edit({f"{free.joint_names[0]}.offset": 1.0}), cr.ModelError, "is free, and an offset is that")


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("task", "touching"), [("pose", None), ("pose", "pose"), ("plane", "plane"), ("position", "point")]
)
def test_derivatives_of_errors_are_exact(task, touching):
    rng = np.random.default_rng(0)
    robot, q = ARM.reference, ARM.random_state(rng, (4,))
    names, counts = (f"{JOINTS[1]}.offset", f"{JOINTS[2]}.pose", f"{JOINTS[3]}.turn"), (1, 6, 3)
    own = np.array([x for name in names for x in own_values(robot.model, name)], dtype=float)
    bent = np.array([[T @ small_motion(1e-4 * rng.normal(size=6))] for T in BASE @ robot.pose(q, "probe")])
    at = Guess(own, BASE, bent[0, 0] @ small_motion(1e-4 * rng.normal(size=6)))
    data = Measurements(
        robot, q[: 1 if touching else 4], ("probe",), None if touching else bent, task, touching, names, counts
    )
    _, J = data.errors(at)
    for i, d in enumerate(1e-6 * np.eye(data.columns)):
        slope = (data.errors(data.step(at, d))[0] - data.errors(data.step(at, -d))[0]) / 2e-6
        np.testing.assert_allclose(J[..., i], slope, atol=1e-6)


def test_exact_points_give_the_exact_robot():
    q, points = measured(20, noise=0.0)
    found = cr.calibrate(ARM, q, points, ASKED, link="probe")
    for name, x in single(CHANGES).items():
        assert abs(found.parameters[name] - x) < 1e-10
    np.testing.assert_allclose(found.base, BASE, atol=1e-10)
    np.testing.assert_allclose(found.robot.pose(q, "probe"), REAL.pose(q, "probe"), atol=1e-10)
    assert not found.not_identifiable


def test_intervals_hold_the_truth_as_often_as_they_say():
    inside, noise = [], []
    for seed in range(60):
        q, points = measured(20, seed)
        found = cr.calibrate(ARM, q, points, ASKED, link="probe")
        truth = single(CHANGES)
        inside += [
            abs(found.parameters[name] - x) < 1.96 * found.standard_deviations[name] for name, x in truth.items()
        ]
        noise.append(found.deviations["position"])
    assert 0.90 < np.mean(inside) < 0.98  # of 300, which are not independent
    assert abs(np.mean(noise) / 1e-4 - 1) < 0.05


def test_measurements_that_do_not_fit_are_left_out_and_named():
    q, points = measured(40)
    points[[5, 17]] += [[0.02, 0, 0], [0, -1.0, 0]]
    found = cr.calibrate(ARM, q, points, ASKED, link="probe")
    assert found.outliers == (5, 17)
    assert all(abs(found.parameters[name] - x) < 6e-4 for name, x in single(CHANGES).items())
    assert found.errors["position"] < 3e-4 < found.errors_before["position"]


def test_numbers_that_act_alike_are_found_once_and_the_others_named():
    q, _ = measured(25)
    T = BASE @ REAL.pose(q, "probe")
    found = cr.calibrate(ARM, q, T, ["base", "all"], link="probe")
    np.testing.assert_allclose(found.base @ found.robot.pose(q, "probe"), T, atol=1e-9)
    # four numbers of each joint that turns, and six of a frame (Everett, Driels and Mooring 1987)
    assert len(found.parameters) == 4 * 6 + 6
    assert f"{JOINTS[0]}.turn.rz" in found.not_identifiable
    assert "base" in found.not_identifiable[f"{JOINTS[0]}.origin.z"]
    with pytest.warns(cr.ModelWarning, match=f"do not determine '{JOINTS[0]}.offset'"):
        found = cr.calibrate(ARM, q, T, ["base", f"{JOINTS[0]}.offset"], link="probe")
    assert "base.rz" in found.not_identifiable[f"{JOINTS[0]}.offset"]
    with pytest.warns(cr.ModelWarning, match="do not determine"):
        found = cr.calibrate(
            ARM, q, BASE @ ARM.pose(q, JOINTS and ARM.link_names[2]), ["base", "probe.origin"], link=ARM.link_names[2]
        )
    assert found.not_identifiable["probe.origin.x"] == "it moves nothing that was measured"


def test_several_points_on_the_tool_give_its_orientation_too():
    rng = np.random.default_rng(0)
    marks = {"m1": [0.1, 0, 0], "m2": [0, 0.1, 0.03], "m3": [0, -0.1, 0.05]}
    arm = ARM
    for name, p in marks.items():
        arm = arm.with_frame(name, (p, [0, 0, 0, 1]))
    real = arm.edit({f"{JOINTS[5]}.offset": 0.03})
    q = arm.random_state(rng, (10,))
    points = np.stack([real.pose(q, name)[:, :3, 3] for name in marks], axis=1)
    found = cr.calibrate(arm, q, points, [f"{JOINTS[5]}.offset"], link=list(marks))
    assert abs(found.parameters[f"{JOINTS[5]}.offset"] - 0.03) < 1e-10


@pytest.mark.parametrize("touching", ["point", "plane", "pose"])
def test_a_tip_at_something_unknown_calibrates_the_arm(touching):
    rng = np.random.default_rng(0)
    arm = cr.load("panda").with_frame("probe", TOOL)
    changes = {"panda_joint2.offset": 0.01, "panda_joint4.offset": -0.02, "probe.origin": [0.004, -0.003, 0.105]}
    real = arm.edit(changes)
    goal = real.pose(arm.home(), "probe")
    T = np.tile(goal, (60, 1, 1))
    if touching != "pose":
        T = T @ np.array([small_motion(np.r_[rng.uniform(-0.5, 0.5, 3), np.zeros(3)]) for _ in T])
    if touching == "plane":
        T[:, :2, 3] += rng.uniform(-0.1, 0.1, (60, 2))
    solved = real.inverse_kinematics(T, link="probe", q0=arm.random_state(rng, (60,)), restarts=10)
    q = solved.q[solved.success]
    assert len(q) > 20
    asked = list(changes)[: 2 if touching == "pose" else 3]  # what is held in one pose says nothing of the tool
    found = cr.calibrate(
        arm if touching != "pose" else arm.edit({"probe.origin": changes["probe.origin"]}),
        q,
        parameters=asked,
        link="probe",
        touching=touching,
    )
    truth = single(changes)
    for name in found.parameters:
        assert abs(found.parameters[name] - truth[name]) < 1e-5
    assert asked[0] in found.parameters
    if touching == "plane":
        np.testing.assert_allclose(np.abs(found.fixture[:3, 2]), [0, 0, 1], atol=1e-5)
    if touching == "point":
        np.testing.assert_allclose(found.fixture[:3, 3], goal[:3, 3], atol=1e-5)


def test_chosen_postures_determine_more_than_random_ones():
    def volume(q):
        with_noise = cr.calibrate(ARM, q, ARM.pose(q, "probe"), ASKED, link="probe", deviation=(1e-3, 1e-3))
        return np.linalg.slogdet(with_noise.covariance)[1]

    rng = np.random.default_rng(1)
    chosen = volume(cr.choose_postures(ARM, ASKED, 8, link="probe"))
    assert all(volume(ARM.random_state(rng, (8,))) > chosen + 1 for _ in range(10))
    mine = ARM.random_state(rng, (12,))
    picked = cr.choose_postures(ARM, ASKED, 5, candidates=mine, link="probe")
    assert all((row == mine).all(axis=1).any() for row in picked)
    refused(
        lambda: cr.choose_postures(ARM, ASKED, 13, candidates=mine, link="probe"), cr.ShapeError, "13 of 12 candidates"
    )


def test_chosen_postures_keep_clear():
    world = cr.World().half_space("wall", normal=(0, 1, 0), point=(0, -0.1, 0))
    assert ARM.clearance(cr.choose_postures(ARM, ASKED, 8, link="probe"), world).min() < 0
    chosen = cr.choose_postures(ARM, ASKED, 8, link="probe", world=world, clearance=0.01)
    assert ARM.clearance(chosen, world).min() >= 0.01
    mine = ARM.random_state(np.random.default_rng(1), (30,))
    picked = cr.choose_postures(ARM, ASKED, 4, candidates=mine, link="probe", world=world)
    assert ARM.clearance(picked, world).min() >= 0
    assert all((row == mine).all(axis=1).any() for row in picked)
    tank = cr.World().sphere("tank", radius=5.0)
    refused(
        lambda: cr.choose_postures(ARM, ASKED, 8, link="probe", world=tank), cr.ModelError, "none of the candidates"
    )


Q, POINTS = measured(20)
POSES = BASE @ REAL.pose(Q, "probe")
TURNED, NAN = POSES.copy(), POINTS.copy()
TURNED[:, :3, :3] = POSES[:, :3, :3].swapaxes(1, 2)
NAN[3, 1] = np.nan
ONE = [ASKED[1]]


@pytest.mark.parametrize(
    ("q", "given", "asked", "options", "error", "message"),
    [
        (Q, 1000 * POINTS, ASKED, {}, cr.ShapeError, "measured positions spread by .* They look like mm: divide by 1000"),
        (np.rad2deg(Q), POINTS, ASKED, {}, cr.ShapeError, "if these are degrees, convert them"),
        (Q, POSES.swapaxes(1, 2), ASKED, {}, cr.ShapeError, "measured must have the last row .* it is transposed"),
        (Q, TURNED, ASKED, {}, cr.ShapeError, "the measured rotations are transposed"),
        (Q, NAN, ASKED, {}, cr.ShapeError, "measured has numbers that are not finite in row 3"),
        (Q[:9], POINTS, ASKED, {}, cr.ShapeError, "measured has 20 rows and q has 9"),
        (Q[:3], POINTS[:3], ASKED, {}, cr.ShapeError, "3 postures give 9 numbers, and no fewer are looked for"),
        (Q[:, :5], POINTS, ASKED, {}, cr.ShapeError, "q must have 6 numbers"),
        (Q, POINTS[:, :2], ASKED, {}, cr.ShapeError, "measured must have 3 numbers"),
        (Q, POINTS, ONE, {}, cr.ShapeError, "another frame than the robot's base; add 'base'"),
        (Q, POSES, ASKED, {"link": "prob"}, cr.UnknownNameError, "no link or frame named 'prob'; did you mean 'probe'"),
        (Q, POINTS, ["link2.mass"], {}, cr.ShapeError, "'link2.mass' moves no link"),
        (Q, POINTS, [], {}, cr.ShapeError, "parameters names none"),
        (Q, POINTS, ["joint9.offset"], {}, cr.UnknownNameError, "no joint named 'joint9'"),
        (Q, POINTS, ASKED, {"task": "orientation"}, cr.ShapeError, "points have no orientation"),
        (Q, POINTS, ASKED, {"touching": "plane"}, cr.ShapeError, "give either measured"),
        (Q, None, ASKED, {"touching": "plane"}, cr.ShapeError, "'base' has no meaning"),
        (Q, None, ONE, {"touching": "line"}, cr.UnknownNameError, "no fixture named 'line'"),
        (Q, POSES, ASKED, {"deviation": 1e-3}, cr.ShapeError, "deviation must be 2 positive numbers"),
    ],
)  # fmt: skip
def test_bad_measurements_are_named(q, given, asked, options, error, message):
    refused(lambda: cr.calibrate(ARM, q, given, asked, **{"link": "probe", **options}), error, message)


def test_robots_with_loops_are_refused():
    robot = cr.load("four_bar")
    refused(lambda: cr.calibrate(robot, robot.home(), np.zeros((1, 3))), cr.ModelError, "has closed loops")
