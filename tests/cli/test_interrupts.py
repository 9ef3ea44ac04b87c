"""Ctrl-C ends a command with the exit code by which a shell knows it, and what was simulated so far is shown."""

import json
import signal
import subprocess
import sys

import numpy as np
from processes import POSIX_ONLY

import chainrule as cr

IN_THE_MIDDLE = """
import signal, sys
from chainrule.cli.main import main
from {module} import {owner} as owner

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background process may be deaf to it
step, count = owner.{step}, 0

def tell(*arguments):
    global count
    count += 1
    if count == {before}:
        print("under way", file=sys.stderr, flush=True)
        {wait}
    return step(*arguments)

owner.{step} = tell
sys.argv[0] = "chainrule"
main()
"""


def interrupt(module, owner, step, words, *, before, wait="signal.pause()"):
    """Run a command in a process of its own, and interrupt it once it has come to a step so many times."""
    program = IN_THE_MIDDLE.format(module=module, owner=owner, step=step, before=before, wait=wait)
    with subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stderr.readline() == "under way\n"
        command.send_signal(signal.SIGINT)
        out, told = command.communicate()
    return command.returncode, out, told


@POSIX_ONLY
def test_an_interrupted_simulation_exits_with_130_and_shows_the_motion_so_far(tmp_path):
    file = tmp_path / "motion.npz"
    words = ["simulate", "pendulum", "--q0", "1", "--duration", "2e6", "--record", "1000", "--json", "--save", file]
    code, out, told = interrupt("chainrule.simulation.fixed_step", "Run", "_ends", words, before=3, wait="pass")
    assert code == 130, told
    assert json.loads(out)["status"] == "interrupted"
    assert told.split("\n") == [f"written: {file}", "", "interrupted", ""]
    motion = cr.Trajectory.load(file)
    assert (motion.status, motion.t[0]) == ("interrupted", 0.0)
    assert 0 < motion.t[-1] < 2e6


@POSIX_ONLY
def test_a_simulation_that_is_interrupted_at_its_start_shows_nothing():
    words = ["simulate", "pendulum", "--q0", "1"]
    code, out, told = interrupt("chainrule.simulation.fixed_step", "Run", "_advance", words, before=1)
    assert (code, out, told.strip()) == (130, "", "interrupted")


@POSIX_ONLY
def test_an_interrupted_study_exits_with_130():
    words = ["study", "human-arm", "--activities", "1,2"]
    code, out, told = interrupt("chainrule.study.torques", "TorqueFunction", "__call__", words, before=2)
    assert (code, out, told.strip()) == (130, "", "interrupted")


@POSIX_ONLY
def test_an_interrupted_data_set_exits_with_130_and_goes_on_later(tmp_path):
    robot = cr.load("planar_2r")
    for k in range(3):
        robot.simulate([0.1 * k, 0.2], None, 0.1, record=10).save(tmp_path / f"motion{k}.parquet")
    words = ["dataset", "planar_2r", tmp_path / "motion*.parquet", "--output", tmp_path / "out"]
    code, out, told = interrupt("chainrule.cluster.products", "Results", "make", words, before=2)
    assert (code, out, told.strip()) == (130, "", "interrupted")
    done = cr.dataset(tmp_path / "motion*.parquet").torques(robot, tmp_path / "out")
    assert (len(done.kept), len(done.written)) == (1, 2)
    assert np.isfinite(done.rows)
