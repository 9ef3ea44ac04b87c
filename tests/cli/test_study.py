import json

import numpy as np
import pytest
from click.testing import CliRunner

import chainrule as cr
from chainrule.cli import cli


def call(*words):
    return CliRunner().invoke(cli, ["study", *map(str, words)], catch_exceptions=True)


def test_a_study_of_an_activity():
    done = call("human-arm", "--activities", "2,wash_neck", "--rate", 100)
    assert done.exit_code == 0, done.output
    assert "shoulder_flexion" in done.stdout
    assert "2 synthetic motions of male, 75 kg, 1.75 m, right arm in 2 activities" in done.stdout
    assert "Gravity exceeds" in done.stdout


def test_the_activities_are_listed_and_go_by_their_titles():
    listed = call("human-arm", "--list")
    assert listed.exit_code == 0, listed.output
    assert "Open drawer, close drawer" in " ".join(listed.stdout.split())
    assert [row["number"] for row in json.loads(call("human-arm", "--list", "--json").stdout)] == [*range(1, 25)]
    done = call(
        "human-arm", "--activities", "open drawer, close drawer, WASH NECK", "--rate", 100, "--tables", "--no-drives"
    )
    assert done.exit_code == 0, done.output
    assert "in 2 activities" in done.stdout
    assert done.stdout.count("shoulder_flexion") == 3
    assert "\nWash neck\n" in done.stdout
    followed = call("human-arm", "--activities", 2, "--rate", 100, "--follow", "--controller", "pd")
    assert "Arm reach to head level, followed by a PD controller" in " ".join(followed.stdout.split())


def test_json_has_the_statistics_and_the_drives():
    done = call("human_arm", "--activities", "shave", "--subjects", 3, "--sex", "both", "--rate", 100, "--json")
    content = json.loads(done.stdout)
    assert len(content["statistics"]) == 7
    assert content["statistics"][0]["motions"] == 3
    assert set(content["drives"]) == set(content["joints"])


def test_recorded_motions_of_a_robot(tmp_path):
    robot, t = cr.load("planar_2r"), np.linspace(0, 2, 201)
    table = np.column_stack([t, 30 * np.sin(t), 40 * np.cos(t)])
    path = tmp_path / "run.csv"
    np.savetxt(path, table, delimiter=",", header="t," + ",".join(robot.joint_names), comments="")
    report = tmp_path / "out.html"
    done = call("planar_2r", "--motion", path, "--degrees", "--no-drives", "--report", report)
    assert done.exit_code == 0, done.output
    assert "recorded" in done.stdout
    assert done.stderr.index("note: unit of angles: deg (as degrees=... says)") < done.stderr.index("written: ")
    assert report.exists()
    assert f"written: {report}" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["panda"], "give --motion FILE"),
        (["human-arm", "--activities", "drink"], "drink_with_cup"),
        (["human-arm", "--sex", "both"], "--subjects"),
        (["human-arm", "--subjects", 2, "--mass", 80], "leave out --mass"),
        (["human-arm", "--cutoff", 5], "--cutoff belongs to --motion"),
        (["human-arm", "--height", 175], "in cm"),
        (["human-arm", "--motion", "none.csv", "--variants", 3], "--variants belongs to activities"),
        (["human-arm", "--motion", "none.csv", "--pace", 3, "--rate", 9], "--pace, --rate belong to activities"),
        (["panda", "--motion", "none.csv", "--mass", 80], "--mass belongs to human-arm"),
        (["panda", "--motion", "none.csv", "--unit", "mm"], "--unit belongs to markers"),
        (["human-arm", "--motion", "none.trc", "--column", "a=b"], "--column belongs to tables"),
        (["human-arm", "--no-drives", "--follow"], "--follow belongs to drives"),
        (["human-arm", "--controller", "pd"], "--controller belongs to --follow"),
        (["panda", "--list"], "activities are those of human-arm"),
        (["human-arm", "--report", "out.txt"], ".html or .pdf"),
        (["human-arm", "--activities", ","], "at least one"),
    ],
)
def test_wrong_words_are_refused(words, told):
    done = call(*words)
    assert done.exit_code in (1, 2)
    assert told in done.output + str(done.exception)


def test_markers_are_solved(tmp_path):
    from study.test_markers import write_trc

    from chainrule import study

    person = study.Subject.human()
    motion = study.run(person, ["shave"], rate=50).examples["shave"].motion
    links = {"RSHO": "upper_arm", "RELB": "elbow", "RWRI": "wrist", "RFIN": "hand_tip"}
    places = np.stack([person.robot.pose(motion.q, link)[:, :3, 3] for link in links.values()], axis=1)
    path = write_trc(tmp_path / "shave.trc", study.Markers(tuple(links), motion.t, places))
    done = call("human-arm", "--motion", path, "--up", "z", "--no-drives", "--json")
    assert done.exit_code == 0, done.output
    assert "root mean square distance" in done.stderr
    elbow = next(row for row in json.loads(done.stdout)["overall"] if row["joint"] == "elbow_flexion")
    assert elbow["angle_max"] == pytest.approx(motion.q[:, 3].max(), abs=0.01)
    assert "--trunk takes four" in call("human-arm", "--motion", path, "--trunk", "a,b").output


def test_units_of_robots_that_slide(tmp_path):
    robot, t = cr.load("scara"), np.linspace(0, 1, 51)
    path = tmp_path / "run.csv"
    table = np.column_stack([t, robot.home() + 0.1 * np.sin(3 * t)[:, None]])
    np.savetxt(path, table, delimiter=",", header="t," + ",".join(robot.joint_names), comments="")
    done = call("scara", "--motion", path, "--rate", 5)
    assert done.exit_code == 2
    done = call("scara", "--motion", path)
    assert done.exit_code == 0, done.output
    assert "none: it slides" in done.stdout
    assert "for what slides (joint3) none is chosen" in " ".join(done.stdout.split())
