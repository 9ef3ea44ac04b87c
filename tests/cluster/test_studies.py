"""Studies on a real cluster: the report of one machine, whatever happens to workers."""

import functools
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from waiting import eventually

import chainrule as cr
from chainrule import study
from chainrule.cli import cli
from chainrule.study.report.data import facts
from cluster import tasks

pytest.importorskip("distributed", reason="Dask is not installed")

ACTIVITIES = ["reach_head_level", "open_door"]


@pytest.fixture(scope="module")
def people():
    return study.population(20, sex="male")


@pytest.fixture(scope="module")
def alone(people):
    """The facts of one machine, with drives."""
    result = study.run(people, ACTIVITIES, rate=25)
    return facts(result, study.size(result))


def test_the_report_is_that_of_one_machine(people, alone, client):
    result = study.run(people, ACTIVITIES, rate=25, cluster=client)
    assert facts(result, study.size(result)) == alone
    assert result.robot is people[0].robot
    listed = study.run(list(people), ACTIVITIES, rate=25, cluster=client)  # people as they are, not as a seed
    assert facts(listed) == without_drives(alone)


def without_drives(content):
    return {name: value for name, value in content.items() if name != "drives"}


def test_a_worker_that_is_killed_changes_nothing(people, alone, tmp_path):
    content = study.activities()
    source = study.Synthetic(people, content, content.choose(ACTIVITIES), rate=25)
    deadly = study.Study(source, functools.partial(tasks.kill_at_person, 12, tmp_path / "mark"))
    result = deadly.run(workers=2)
    assert (tmp_path / "mark").exists()
    assert facts(result) == without_drives(alone)


def test_an_error_on_a_worker_names_subject_and_activity(people, client):
    content = study.activities()
    source = study.Synthetic(people, content, content.choose(ACTIVITIES), rate=25)
    with pytest.raises(cr.ShapeError, match=r"^person 3, male, .* arm, activity 'reach_head_level': too heavy$"):
        study.Study(source, functools.partial(tasks.refuse_person, 3)).run(cluster=client)


def test_recorded_motions_on_a_cluster(client):
    robot = cr.load("planar_2r")
    t = np.linspace(0, 1, 51)
    motions = {
        name: cr.Trajectory.from_samples(robot, t, np.sin(np.outer(k * t, [1.0, 2.0])))
        for k, name in enumerate("abc", start=1)
    }
    here = study.run(robot, motions=motions)
    assert facts(study.run(robot, motions=motions, cluster=client)) == facts(here)


def call(*words):
    return CliRunner().invoke(cli, ["study", *map(str, words)])


WORDS = ["human-arm", "--subjects", 20, "--sex", "male", "--activities", ",".join(ACTIVITIES), "--rate", 25, "--json"]


def test_the_command_computes_on_a_cluster(client, alone):
    done = call(*WORDS, "--no-drives", "--cluster", client.scheduler.address)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == json.loads(json.dumps(without_drives(alone)))


def test_the_command_reads_files_on_workers(client, tmp_path):
    robot, t = cr.load("planar_2r"), np.linspace(0, 2, 101)
    paths = []
    for k in (1, 2):
        (tmp_path / str(k)).mkdir()
        paths.append(tmp_path / str(k) / "run.csv")
        table = np.column_stack([t, k * np.sin(t), k * np.cos(t)])
        np.savetxt(paths[-1], table, delimiter=",", header="t," + ",".join(robot.joint_names), comments="")
    words = ("planar_2r", "--motion", paths[0], "--motion", paths[1], "--no-drives", "--json")
    here, there = call(*words), call(*words, "--cluster", client.scheduler.address)
    assert there.exit_code == 0, there.output
    assert json.loads(there.stdout) == json.loads(here.stdout)
    assert list(json.loads(here.stdout)["activities"]) == list(map(str, paths))  # both are named run.csv
    paths[1].write_text("t,a\n0,1\n")
    broken = call(*words, "--cluster", client.scheduler.address)
    assert isinstance(broken.exception, cr.ChainruleError)
    assert f"workers read {paths[1]}: it must be there" in str(broken.exception)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--workers", 2, "--cluster", "tcp://127.0.0.1:1"], "give either --cluster or --workers"),
        (["--workers", 2, "--activities", "shave"], "--workers belongs to studies of several motions"),
        (["--cluster", "tcp://127.0.0.1:1", "--motion", "none.csv"], "--cluster belongs to studies of several motions"),
        (["--workers", 0], "0 is not in the range"),
    ],
)
def test_options_that_change_nothing_are_refused(words, told):
    done = call("human-arm", *words)
    assert done.exit_code == 2
    assert told in done.output


def test_an_address_without_a_cluster_is_told(monkeypatch):
    monkeypatch.setattr("chainrule.cluster.client.SECONDS_TO_CONNECT", 0.5)
    done = call("human-arm", "--cluster", "tcp://127.0.0.1:1")
    assert isinstance(done.exception, cr.ClusterError)
    assert "no cluster answers at 'tcp://127.0.0.1:1'" in str(done.exception)


@pytest.mark.slow
def test_the_command_computes_on_workers_of_its_own(alone):
    command = [sys.executable, "-m", "chainrule", "study", *map(str, WORDS), "--workers", "2"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout) == json.loads(json.dumps(alone))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a process group is interrupted")
def test_ctrl_c_ends_the_command_and_its_workers():
    psutil = pytest.importorskip("psutil")
    words = ["study", "human-arm", "--subjects", "2000", "--workers", "2"]
    with subprocess.Popen(
        [sys.executable, "-m", "chainrule", *words], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as command:
        process = psutil.Process(command.pid)
        workers = eventually(lambda: [one for one in process.children() if one.cpu_times().user > 5])
        os.killpg(command.pid, signal.SIGINT)
        _, told = command.communicate()
    assert command.returncode == 130
    assert told.strip() == "interrupted"
    eventually(lambda: not any(worker.is_running() for worker in workers))
