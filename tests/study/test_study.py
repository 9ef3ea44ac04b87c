import numpy as np
import pytest

import chainrule as cr
from chainrule import study
from chainrule.study.report.words import summary


def test_dynamic_torques_grow_with_the_square_of_the_pace_and_gravity_stays(person):
    names = ["reach_head_level", "comb_hair"]
    slow, fast = (study.run(person, names, rate=400 * pace, pace=pace) for pace in (1.0, 2.0))
    for name in names:
        for joint in slow.joints:
            a, b = slow.cell(name, joint), fast.cell(name, joint)
            assert b["gravity"].peak == pytest.approx(a["gravity"].peak, rel=1e-6, abs=1e-9)
            assert b["dynamic"].peak == pytest.approx(4 * a["dynamic"].peak, rel=1e-6, abs=1e-9)
    one = {(c.joint, c.activity): c.critical_pace for c in slow.finding().comparisons}
    for c in fast.finding().comparisons:
        assert c.critical_pace == pytest.approx(one[c.joint, c.activity] / 2, rel=1e-5)


def test_the_finding_names_its_exceptions(few):
    finding = few.finding()
    worst = finding.comparisons[0]
    assert finding.critical_pace == worst.critical_pace
    assert finding.holds == (worst.dynamic <= worst.gravity)
    assert all(c.dynamic > c.gravity for c in finding.exceptions)
    assert finding.share_at(0.0) == 1.0
    assert finding.share_at(1e9) < 0.1
    assert ("not in all" in str(finding)) != finding.holds
    with pytest.raises(cr.UnknownNameError, match="measure"):
        few.finding("median")


def test_a_finding_that_holds_says_up_to_which_pace(person):
    calm = study.run(person, ["reach_head_level"], rate=200, pace=0.2)
    assert calm.finding().holds
    assert "It would cease to at" in str(calm.finding())


def test_statistics_follow_from_the_motion(few):
    torques = few.examples["open_door"]
    t, power = torques.motion.t, torques.power
    for j, joint in enumerate(few.joints):
        cell = few.cell("open_door", joint)
        assert cell.work == pytest.approx(np.trapezoid(np.maximum(power[:, j], 0), t))
        assert cell.regenerated == pytest.approx(-np.trapezoid(np.minimum(power[:, j], 0), t))
        assert sum(cell.shares.values()) == pytest.approx(1)
        assert 0 <= cell.duty_cycle <= 1
        beyond = (np.abs(torques.dynamic[:, j]) > np.abs(torques.gravity[:, j])).mean()
        assert cell.dynamic_beyond_gravity == pytest.approx(beyond)
    overall = few.overall["shoulder_flexion"]
    assert overall.peak_torque == max(few.cell(name, "shoulder_flexion").peak_torque for name in few.titles)
    assert overall.motions == 3


def joined(parts, j):
    """Statistics of a joint over all samples of motions with their torques, by their definitions."""
    terms = {name: np.concatenate([np.abs(one.terms[name][:, j]) for one in parts]).mean() for name in parts[0].terms}
    whole = sum(mean for name, mean in terms.items() if name != "total")
    tau, power = (
        np.concatenate([x[:, j] for x in arrays]) for arrays in zip(*[(p.total, p.power) for p in parts], strict=True)
    )
    gravity, dynamic = (np.concatenate([getattr(p, name)[:, j] for p in parts]) for name in ("gravity", "dynamic"))
    speed = np.concatenate([p.motion.qd[:, j] for p in parts])
    work = [np.trapezoid(np.maximum(p.power[:, j], 0), p.motion.t) for p in parts]
    back = [-np.trapezoid(np.minimum(p.power[:, j], 0), p.motion.t) for p in parts]
    return {
        "shares": {name: mean / whole for name, mean in terms.items() if name != "total"},
        "duty_cycle": (np.abs(tau) > 0.1 * np.abs(tau).max()).mean(),
        "dynamic_beyond_gravity": (np.abs(dynamic) > np.abs(gravity)).mean(),
        "speed_at_peak_torque": np.abs(speed[np.abs(tau).argmax()]),
        "duration": sum(p.motion.duration for p in parts),
        "work": np.mean(work), "regenerated": np.mean(back), "motions": len(parts),
    }, {"torque": tau, "gravity": gravity, "dynamic": dynamic, "speed": speed, "power": power}  # fmt: skip


def hanging_and_shaking():
    """A motion that hangs and one that shakes, of different lengths."""
    robot = cr.load("planar_2r")

    def moved(seconds, angle):
        t = np.arange(0, seconds, 0.005)
        return cr.Trajectory.from_samples(robot, t, np.c_[angle(t), 0.5 * angle(t + 0.3)], smoothing=None)

    motions = {
        "hanging": moved(12, lambda t: -1.57 + 0.05 * np.sin(t)),
        "shaking": moved(4, lambda t: 0.8 * np.sin(5 * t)),
    }
    return study.run(robot, motions=motions)


@pytest.mark.parametrize("which", ["recordings of unequal length", "people in activities"])
def test_statistics_over_all_activities_are_those_of_all_samples_together(which):
    """Each by its own definition: means of the activities' ratios are something else."""
    if which == "people in activities":
        names = ["open_door", "drink_with_cup", "arm_in_lap"]
        result = study.run(study.population(3, seed=5), names, variants=2, rate=100)
    else:
        result = hanging_and_shaking()
    every = [torques for name in result.titles for torques in result.study.torques(name)]
    for j, joint in enumerate(result.joints):
        found = result.overall[joint]
        numbers, samples = joined(every, j)
        assert found.shares == pytest.approx(numbers.pop("shares"))
        assert found.duty_cycle == pytest.approx(numbers.pop("duty_cycle"), abs=0.01)
        for name, value in numbers.items():
            assert getattr(found, name) == pytest.approx(value, rel=1e-6, abs=1e-9), name
        for name, values in samples.items():
            one = found[name]
            ends = (one.minimum, one.maximum, one.mean, one.rms)
            assert ends == pytest.approx((values.min(), values.max(), values.mean(), np.sqrt((values**2).mean()))), name
            for share in (0.01, 0.25, 0.5, 0.95):
                expected = np.quantile(values, share, method="lower")
                assert one.quantile(share) == pytest.approx(expected, rel=0.01, abs=1e-9), (name, share)


def test_the_share_of_gravity_is_no_mean_of_shares():
    result = hanging_and_shaking()
    apart = [result.cell(name, "joint1").shares["gravity"] for name in result.titles]
    assert result.overall["joint1"].shares["gravity"] < np.average(apart, weights=[12, 4]) - 0.1


def test_the_parts_of_the_torque_add_up_to_it(few):
    door = few.examples["open_door"]
    np.testing.assert_allclose(door.gravity + door.dynamic + door.contact + door.other, door.total, atol=1e-12)
    assert few.parts == ("gravity", "dynamic", "contact")
    for cell in few.cells:
        assert sum(cell.share(part) for part in ("gravity", "dynamic", "contact", "other")) == pytest.approx(1)
        assert (cell["contact"].peak > 0) == (cell.activity == "open_door")


def test_recorded_motions_of_any_robot_are_studied():
    robot = cr.load("ur5")
    plan = cr.plan(robot, [robot.home(), robot.home() + 0.5], times=2.0).sample(0.01)
    motion = cr.Trajectory.from_samples(robot, plan.t, plan.q)
    result = study.run(robot, motions={"lift": motion, "twice": [motion, motion]})
    np.testing.assert_allclose(
        result.examples["lift"].total, robot.inverse_dynamics(motion.q, motion.qd, motion.qdd), atol=1e-9
    )
    assert result.cell("twice", robot.joint_names[0]).motions == 2
    assert any("smooth" in line.lower() or "spline" in line.lower() for line in result.study.source.describe())


def test_motions_under_wrenches_are_refused_for_their_torques_would_be_left_out():
    arm, t = cr.load("planar_2r"), np.arange(200) * 0.01
    q = np.stack([0.5 * np.sin(t), 0.3 * np.cos(t)], axis=1)
    pushed = cr.Trajectory.from_samples(arm, t, q, tip_wrench=[0, 0, 0, 0, 50.0, 0])
    assert not np.allclose(pushed.tau, arm.inverse_dynamics(pushed.q, pushed.qd, pushed.qdd), atol=10)
    for motion in (pushed, arm.simulate([0.5, 0.1], None, 0.1, external={"link2": [0, 0, 0, 0, 30.0, 0]})):
        with pytest.raises(cr.ShapeError, match=r"motion 'push' was made under wrenches .* or take motion\.tau"):
            study.run(arm, motions={"push": motion})


def test_an_activity_goes_by_its_title(few):
    assert few.activity("ARM reach to head-level") == "reach_head_level"
    assert few.table("Open door").rows == few.table("open_door").rows
    assert few.cell("open door", "wrist_flexion") is few.cell("open_door", "wrist_flexion")
    with pytest.raises(cr.ShapeError, match="say which: 'reach_head_level', 'drink_with_cup', 'open_door'"):
        few.activity()


def test_gravity_is_compared_with_dynamics_by_both_measures(few):
    """The sentence has the least and the largest ratio of peaks, and of root mean squares, over the joints."""
    words = next(text for text in summary(few) if text.startswith("Gravity is"))
    gravity, dynamic = (
        {joint: np.concatenate([getattr(one, part)[:, j] for one in few.examples.values()])
         for j, joint in enumerate(few.joints)} for part in ("gravity", "dynamic")
    )  # fmt: skip
    for size in (lambda x: np.abs(x).max(), lambda x: np.sqrt((x**2).mean())):
        ratios = [size(gravity[joint]) / size(dynamic[joint]) for joint in few.joints]
        assert f"{min(ratios):.2g} to {max(ratios):.2g} times" in words


def test_wrong_questions_are_refused(few, person):
    with pytest.raises(cr.UnknownNameError, match="did you mean 'drink_with_cup'"):
        study.run(person, ["drink_with_cop"])
    with pytest.raises(cr.UnknownNameError, match="no activity number 25"):
        study.run(person, 25)
    with pytest.raises(cr.ModelError, match="motions of its own"):
        study.run(cr.load("ur5"))
    with pytest.raises(cr.ShapeError, match="at least one"):
        study.run(person, [])
    with pytest.raises(cr.ShapeError, match=r"give cr\.study\.Subject\.human\(mass=\.\.\., height=\.\.\.\)"):
        study.run([])
    with pytest.raises(cr.ShapeError, match="one subject"):
        study.run([person, person], motions={})
    with pytest.raises(cr.ShapeError, match="at least one motion"):
        study.run(person, motions={})
    with pytest.raises(cr.ShapeError, match="must be a Trajectory"):
        study.run(person, motions={"a": [1, 2]})
    with pytest.raises(cr.ShapeError, match="joints of"):
        study.run(person, motions=cr.load("pendulum").simulate([0.1], [0.0], 0.1))
    with pytest.raises(cr.UnknownNameError, match="joint"):
        few.cell("open_door", "elbow")
    with pytest.raises(cr.UnknownNameError, match="activity"):
        few.cell("open_dor", "elbow_flexion")
    with pytest.raises(cr.ShapeError, match="rigid_body"):
        person.carrying({"hand": 2.0})


def test_populations_are_drawn_again_by_the_same_seed():
    people = study.population(6, seed=3)
    assert [p.name for p in people] == [p.name for p in study.population(6, seed=3)]
    assert [p.name for p in people[:4]] == [p.name for p in study.population(4, seed=3)]
    assert people[0].name != study.population(1, seed=4)[0].name
    assert {p.body.sex for p in people} == {"male", "female"}
    sides = [p.body.side for p in study.population(4, side="both")]
    assert sorted(sides) == ["left", "left", "right", "right"]
    heights = [p.body.height for p in study.population(300, sex="male")]
    assert np.mean(heights) == pytest.approx(1.756, abs=0.015)
    assert np.std(heights) == pytest.approx(0.0686, abs=0.01)
    small, large = study.percentile(5, "female"), study.percentile(95, "male")
    assert small.body.height == pytest.approx(1.628 - 1.645 * 0.0642, abs=1e-3)
    assert small.body.mass < large.body.mass
    with pytest.raises(cr.ShapeError, match=r"between 0\.1 and 99\.9"):
        study.percentile(0)
    with pytest.raises(cr.UnknownNameError, match="sex"):
        study.population(2, sex="men")


def test_all_times_count_alike_in_motions_of_unequal_sampling():
    robot = cr.load("pendulum")
    slow, quick = np.linspace(0, 2, 41), np.linspace(0, 2, 401)
    still = cr.Trajectory.from_samples(robot, quick, np.full((401, 1), 1.5))
    low = cr.Trajectory.from_samples(robot, slow, np.full((41, 1), 0.1))
    weight = [float(robot.inverse_dynamics([q], [0.0], [0.0])[0]) for q in (1.5, 0.1)]
    expected = np.sqrt(np.square(weight).mean())
    apart = study.run(robot, motions={"a": still, "b": low})
    assert apart.overall["hinge"].rms_torque == pytest.approx(expected, rel=1e-6)
    assert any("Resampled" in line and "'b'" in line for line in apart.study.source.describe())
    together = study.run(robot, motions={"both": [still, low]})
    assert together.overall["hinge"].rms_torque == pytest.approx(expected, rel=1e-6)
    with pytest.raises(cr.ShapeError, match="at least two samples"):
        study.run(robot, motions=still[:1])


def test_a_robot_with_several_tips_and_a_floating_base_has_a_report(tmp_path):
    robot = cr.load("quadruped")
    t = np.arange(51) / 100
    q = np.array([robot.integrate(robot.neutral(), np.full(robot.nv, 0.2 * np.sin(3 * x))) for x in t])
    result = study.run(robot, motions=cr.Trajectory.from_samples(robot, t, q))
    assert result.examples["motion"].angles.shape == (51, robot.nv)
    assert study.write_report(result, tmp_path / "out.html")[0].exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rate": 0.01}, "lasts 2.5 s at this pace, which is 0.025 samples"),
        ({"rate": 1e12}, "between 10 and 1,000,000"),
        ({"pace": 1e6}, "change rate or pace"),
        ({"variation": 3}, "variation must be a chainrule.study.Variation"),
        ({"activities": True}, "names or numbers, got True"),
        ({"activities": 2.0}, "activities must be a list, got float"),
        ({"motions": 3}, "a Trajectory, or several by name"),
        ({"motions": {"a": None}}, "motion 'a' must be a list"),
        ({"subjects": None}, "subjects must be a list"),
    ],
)
def test_wrong_arguments_are_told(person, options, message):
    with pytest.raises(cr.ShapeError, match=message):
        study.run(**{"subjects": person, "activities": 1, **options})


def test_wrong_numbers_are_told(few):
    with pytest.raises(cr.ShapeError, match="must not be negative, got -1"):
        study.Variation(pace=-1)
    with pytest.raises(cr.ShapeError, match="from 0 to 1, got 2"):
        few.cells[0]["torque"].quantile(2)
    with pytest.raises(cr.UnknownNameError, match="no quantity named 'foo'"):
        few.cells[0]["foo"]
    with pytest.raises(cr.ShapeError, match="a rigid body for each link by name"):
        study.Subject.human(exoskeleton=[1])


def test_sentences_of_the_finding_at_its_ends():
    robot = cr.load("pendulum")
    t = np.linspace(0, 1, 21)
    still = study.run(robot, motions=cr.Trajectory.from_samples(robot, t, np.full((21, 1), 0.5)))
    assert "There are no dynamic terms, at any pace" in str(still.finding())
    scara = cr.load("scara")
    moving = study.run(scara, motions=cr.Trajectory.from_samples(scara, t, scara.home() + 0.1 * np.sin(t)[:, None]))
    assert "holds at no pace" in str(moving.finding())
    slides = [c.unit for c in moving.finding().comparisons if c.joint == "joint3"]
    assert slides == ["N"]
    words = " ".join(summary(moving))
    assert words.startswith("One recorded motion of scara: 1 s in all")
    assert "The largest force is" in words


def test_statistics_of_a_cell_are_those_of_all_samples(few):
    cell, torques = few.cell("drink_with_cup", "elbow_flexion"), few.examples["drink_with_cup"]
    tau = torques.total[:, 3]
    assert cell["torque"].maximum == tau.max()
    assert cell["torque"].count == len(tau)
    assert cell["torque"].rms == pytest.approx(np.sqrt((tau**2).mean()))
    assert cell["torque"].median == pytest.approx(np.median(tau), rel=0.01)
    assert cell.duty_cycle == pytest.approx((np.abs(tau) > 0.1 * np.abs(tau).max()).mean(), abs=0.01)
    assert cell.speed_at_peak_torque == pytest.approx(abs(torques.motion.qd[np.abs(tau).argmax(), 3]), abs=1e-5)


def test_the_row_of_an_extreme_is_the_number_of_its_motion():
    result = study.run(study.population(5), "drink_with_cup", rate=100)
    for j, joint in enumerate(result.joints):
        peaks = [torques.total[:, j].max() for torques in result.study.torques("drink_with_cup")]
        torque = result.cell("drink_with_cup", joint)["torque"]
        assert torque.maximum == max(peaks)
        assert peaks[torque.maximum_row] == max(peaks)
