import numpy as np
import pytest

import chainrule as cr
from chainrule import study
from chainrule.study.motions import sample
from chainrule.study.synthesis import Plans, Variation


@pytest.fixture(scope="module")
def daily():
    return study.activities()


@pytest.fixture(scope="module")
def every(daily):
    """Every activity by a small woman's left arm and a tall man's right one, at a low rate."""
    people = [study.Subject.human(50, 1.5, sex="female", side="left"), study.Subject.human(95, 1.95)]
    source = study.Synthetic(people, daily, daily.choose("all"), rate=100)
    return {name: list(source.motions(name)) for name in daily}


def test_there_are_the_24_of_the_document(daily):
    assert [a.number for a in daily.values()] == list(range(1, 25))
    assert daily["drink_with_cup"].title == "Drink with cup"


PRINTED = """Arm in lap; Arm reach to head level; Arm reach to right, head level; Arm reach to left, head level
Arm reach right, move object to left side; Open door; Open Drawer/Close Drawer; Move object at waist level
Pick up phone on table/hang up; Pick up phone on wall/hang up; Eat with fork; Eat with spoon; Eat with hands
Drink with cup; Eat with spoon; Pour from bottle; Brush teeth; Comb hair; Wash face; Wash neck; Shave
Eat with fork (power \u2013 disabled grasp); Eat with spoon (power \u2013 disabled grasp); Full workspace motion"""


def test_titles_are_taken_as_the_document_prints_them(daily):
    titles = PRINTED.replace("\n", "; ").split("; ")
    numbers = [*range(1, 15), 12, *range(16, 25)]  # it prints "Eat with spoon" twice
    assert [daily.choose(title)[0].number for title in titles] == numbers
    assert [one.number for one in daily.choose(", ".join(titles).upper())] == sorted(set(numbers))
    assert [one.number for one in daily.choose(["Reach head level", "open_door", 1, "24"])] == [2, 6, 1, 24]
    assert len(daily.choose("All")) == 24
    with pytest.raises(cr.UnknownNameError, match="did you mean 'comb_hair'"):
        daily.choose("open door, com hair")


def test_a_title_of_two_activities_is_not_guessed(tmp_path):
    file = GOOD.replace('"Drink"', '"Have a drink"')
    again = file[file.index("[[activity]]") :].replace("number = 1", "number = 2").replace('"drink"', '"sip"')
    own = study.activities(written(tmp_path, file + again))
    with pytest.raises(cr.UnknownNameError, match="stands for 'drink', 'sip'"):
        own.choose("Have a Drink.")
    assert own.choose("drink")[0].number == 1


def test_the_arm_rests_for_a_small_part_of_each_motion_and_keeps_out_of_the_head(every):
    """Of the hand and the forearm, none is in the ellipsoid of the head."""
    for name, motions in every.items():
        for subject, motion in motions:
            assert (np.abs(motion.qd).max(axis=1) < 1e-9).mean() < 0.2, name
            points = cr.body_points(subject.body.height, subject.body.side)
            face, ear, top = (points[place] for place in ("mouth", "ear", "top_of_head"))
            middle = np.array([0.0, face[1], (top[2] + face[2]) / 2 - 0.02])
            half = np.array([face[0], abs(face[1] - ear[1]), top[2] - middle[2]])
            elbow, wrist, hand = (subject.robot.pose(motion.q, link)[:, :3, 3] for link in ("forearm", "hand", None))
            share = np.linspace(0, 1, 11)[:, None, None]
            inside = [np.linalg.norm((a + (b - a) * share - middle) / half, axis=2).min() for a, b in
                      ((elbow, wrist), (wrist, hand))]  # fmt: skip
            assert min(inside) > 0.9, (name, inside)


def test_the_way_points_between_the_first_and_the_last_are_repeated(daily, tmp_path):
    meal = daily["eat_with_fork"]
    once = [point.duration for point in meal.way]
    assert meal.duration == pytest.approx(once[0] + 2 * sum(once[1:-1]) + once[-1])
    source = study.Synthetic([study.Subject.human()], daily, [meal], rate=50)
    ((_, motion),) = source.motions("eat_with_fork")
    assert motion.duration == pytest.approx(meal.duration, abs=0.02)
    with pytest.raises(cr.FormatError, match="repeat needs way-points between"):
        study.activities(written(tmp_path, GOOD.replace('title = "Drink"', 'title = "Drink"\nrepeat = 2')))


def test_motions_stay_in_range_begin_and_end_at_rest_and_are_marked_synthetic(every):
    for name, motions in every.items():
        for subject, motion in motions:
            low, high = subject.robot.limits.lower, subject.robot.limits.upper
            assert (motion.q >= low - 1e-9).all(), name
            assert (motion.q <= high + 1e-9).all(), name
            assert motion.synthetic
            np.testing.assert_allclose(motion.qd[0], 0, atol=1e-9)
            assert np.abs(motion.qd).max() < 8
            assert 2 < motion.duration < 25


def test_speeds_and_accelerations_are_derivatives(every):
    for name in ("comb_hair", "brush_teeth", "full_workspace"):
        _, motion = every[name][0]
        h = motion.t[1] - motion.t[0]
        np.testing.assert_allclose(np.gradient(motion.q, h, axis=0)[1:-1], motion.qd[1:-1], atol=0.02)
        np.testing.assert_allclose(np.gradient(motion.qd, h, axis=0)[1:-1], motion.qdd[1:-1], atol=3.0)


@pytest.mark.parametrize(("height", "side", "sex"), [(1.5, "left", "female"), (1.95, "right", "male")])
def test_the_hand_reaches_every_place_on_the_own_body(daily, height, side, sex):
    """The mouth is at the mouth: by forward kinematics of the subject's own arm."""
    subject = study.Subject.human(60, height, sex=sex, side=side)
    mirror = np.array([1, 1 if side == "right" else -1, 1])
    checked = 0
    for activity in daily.values():
        plans = Plans(subject.base, side, daily, activity, [np.random.default_rng(0)], np.array([True]), Variation())
        for point, stops in zip(activity.way, plans.way, strict=True):
            place = daily.places.get(point.to)
            if place is None:
                continue
            hand = subject.robot.pose(stops[0].q[0])[:3, 3]
            body = subject.robot.pose(stops[0].q[0], place.point)[:3, 3] if place.point else np.zeros(3)
            np.testing.assert_allclose(hand - body, height * mirror * np.array(place.by), atol=1e-4)
            if place.reach is not None:
                assert np.linalg.norm(hand - body) <= place.reach * height
            checked += 1
    assert checked > 60


def test_objects_are_held_between_grasp_and_release(every):
    for name, motions in every.items():
        _, motion = motions[0]
        held = name not in ("arm_in_lap", "reach_head_level", "reach_right", "reach_left", "open_door",
                            "open_close_drawer", "full_workspace")  # fmt: skip
        assert bool(motion.grasps) == held, name
        for grasp in motion.grasps:
            assert not grasp.during[0]
            assert not grasp.during[-1]
            assert 0.2 < grasp.during.mean() < 0.95
    _, door = every["open_door"][1]
    assert door.contact is not None
    assert door.contact[:, 3].min() == -22
    assert not door.contact[:, :3].any()


def test_both_arms_do_the_same(daily):
    left, right = (
        next(iter(study.Synthetic([study.Subject.human(side=side)], daily, [daily["shave"]], rate=50).motions("shave")))
        for side in ("left", "right")
    )
    np.testing.assert_allclose(left[1].q, right[1].q, atol=1e-4)


def test_variants_differ_and_come_again_by_the_same_seed(daily):
    def drawn(seed, **options):
        source = study.Synthetic(
            [study.Subject.human()], daily, [daily["eat_with_fork"]], variants=6, rate=50, seed=seed, **options
        )
        return [motion for _, motion in source.motions("eat_with_fork")]

    one, again, other = drawn(1), drawn(1), drawn(2)
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a.q, b.q)
    np.testing.assert_array_equal(one[0].q, other[0].q)  # the first is as the file says
    assert len({len(motion) for motion in one}) > 3
    assert not np.array_equal(one[1].q[:50], other[1].q[:50])
    same = drawn(1, variation=Variation(0, 0, 0, 0))
    np.testing.assert_allclose(same[3].q, same[0].q, atol=1e-6)


def test_sampling_agrees_with_scipy():
    from chainrule.control.motions.curves import minimum_jerk

    curve = minimum_jerk(np.array([0, 0.3, 1.0, 1.7]), np.random.default_rng(0).normal(size=(4, 3)))
    t, q, qd, qdd = sample(curve, 333.0)
    assert t[-1] <= 1.7 < t[-1] + 1 / 333
    np.testing.assert_allclose(q, curve(t), atol=1e-12)
    np.testing.assert_allclose(qd, curve(t, 1), atol=1e-10)
    np.testing.assert_allclose(qdd, curve(t, 2), atol=1e-9)


GOOD = """
format = 1
[postures]
rest = {}
[places]
mouth = { from = "mouth", by = [0.05, 0, 0] }
[objects]
cup = { mass = 0.3 }
[[activity]]
number = 1
name = "drink"
title = "Drink"
start = "rest"
object = "cup"
way = [
  { to = "mouth", seconds = 1, near = "rest", grasp = true },
  { to = "rest", seconds = 1, release = true },
]
"""


def written(tmp_path, text):
    path = tmp_path / "own.toml"
    path.write_text(text)
    return path


def test_own_activities_are_read(tmp_path):
    own = study.activities(written(tmp_path, GOOD))
    result = study.run(study.Subject.human(), own, rate=100)
    assert list(result.titles) == ["drink"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format = 1", "format = 2", "format must be 1"),
        ("seconds = 1, near", "seconds = -1, near", "positive number of seconds"),
        ("seconds = 1, near", "second = 1, near", "did you mean 'seconds'"),
        ("seconds = 1, near", "near", "lacks 'seconds'"),
        ('near = "rest", ', "", "needs near"),
        ('near = "rest"', 'near = "sit"', "no posture named 'sit'"),
        ('to = "mouth"', 'to = "moth"', "no place or posture named 'moth'"),
        ('object = "cup"', 'object = "mug"', "no object named 'mug'"),
        ('object = "cup"\n', "", "grasped"),
        (", release = true", "", "grasped at one way-point"),
        ("mass = 0.3", "mass = -0.3", "must not be negative"),
        ("mass = 0.3", 'mass = "heavy"', "mass"),
        ("by = [0.05, 0, 0]", "by = [0.05, 0]", "three numbers"),
        ("by = [0.05, 0, 0]", "by = [nan, 0, 0]", "finite"),
        ("mouth = {", "rest = {", "names a posture and a place"),
        ("[[activity]]", "[activity]", "list of tables"),
        ("rest = {}", "rest = 3", "table of angles"),
        ("title =", "titel =", "did you mean 'title'"),
        ("way = [", "way = [1,", "must be a table"),
        ("[places]", "[places", "not valid TOML"),
        ("rest = {}", "rest = { elbow = 3 }", "joint 'elbow'"),
        ("by = [0.05, 0, 0]", "by = [2.0, 0, 0]", "does not reach 'mouth'"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, old, new, words):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(cr.ModelError, match=words):
        study.run(study.Subject.human(), study.activities(path), rate=50)


def test_files_that_are_not_there_or_not_text(tmp_path):
    with pytest.raises(cr.FormatError, match="cannot be read"):
        study.activities(tmp_path / "none.toml")
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(cr.FormatError, match="cannot be read"):
        study.activities(path)
