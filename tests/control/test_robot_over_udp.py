"""The example of a robot on the network, in simulated time; the loop in C over sockets, where time is counted in ticks."""

import re
import runpy
import shutil
import socket
import subprocess
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "robot_over_udp.py"), run_name="example")
RATE, PATIENCE = EXAMPLE["RATE"], EXAMPLE["PATIENCE"]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no cc")


@pytest.fixture(scope="module")
def loop_in_c(tmp_path_factory):
    return EXAMPLE["compile_loop"](tmp_path_factory.mktemp("loop"))


def run(ticks, cut=None):
    robot, holder, answers = EXAMPLE["PlayedRobot"](cut), EXAMPLE["Holder"](), []
    for _ in range(ticks):
        given = (holder.answer(packet) for packet in robot.step(answers))
        answers = [packet for packet in given if packet is not None]
    return robot, holder


def test_the_tip_is_held_within_a_millimetre_over_a_line_with_delay_jitter_and_losses():
    robot, _ = run(2 * RATE)
    assert 0 < robot.off < 1e-3
    assert not robot.braking


def test_the_robot_brakes_and_comes_to_rest_when_packets_stay_away():
    cut = RATE // 2
    robot, holder = run(RATE, cut)
    assert robot.braking
    assert cut - 5 <= holder.newest < cut
    assert robot.heard <= cut + 6
    assert np.abs(robot.qd).max() < 1e-9
    assert np.linalg.norm(robot.robot.pose(robot.q)[:3, 3] - robot.tip) < 2e-3


def test_a_line_delays_reorders_and_loses_packets_and_makes_none():
    line = EXAMPLE["Line"](0, loss=0.1)
    came = []
    for tick in range(2000):
        line.send(tick, bytes([tick % 256]) + tick.to_bytes(2, "big"))
        came += [(tick, int.from_bytes(packet[1:], "big")) for packet in line.arrived(tick)]
    delays = np.array([at - sent for at, sent in came])
    assert {*delays.tolist()} == {1, 2, 3}
    assert len({sent for _, sent in came}) == len(came)
    assert len(came) == pytest.approx(1800, abs=60)
    assert any(a > b for (_, a), (_, b) in pairwise(came))


def test_a_state_that_was_overtaken_is_not_answered():
    holder, state = EXAMPLE["Holder"](), EXAMPLE["STATE"]
    assert holder.answer(state.pack(5, *[0] * 7)) is not None
    assert holder.answer(state.pack(4, *[0] * 7)) is None


@needs_compiler
def test_the_exported_loop_holds_the_tip_until_the_line_is_cut(loop_in_c):
    said = EXAMPLE["hold_in_c"](loop_in_c, RATE, RATE // 2, real=False)
    off = float(re.fullmatch(rf"{RATE} ticks, never more than (.+) mm off; braked and at rest", said)[1])
    assert 0 < off < 1


@needs_compiler
def test_the_exported_loop_gives_the_torques_of_the_loop_in_python(loop_in_c):
    state, command, holder = EXAMPLE["STATE"], EXAMPLE["COMMAND"], EXAMPLE["Holder"]()
    home = np.rint(holder.law.robot.home() / EXAMPLE["RESOLUTION"]).astype(int)
    given = [(k, *(home + 40 * k * np.arange(7)).tolist()) for k in (0, 1, 2, 1, 3, 4)]  # one comes late
    with running(loop_in_c) as (_, line):
        for row in given:
            line.send(state.pack(*row))
            found, expected = line.recv(256), holder.answer(state.pack(*row))
            assert len(found) == len(expected or b"")
            if expected:
                tau, other = command.unpack(found)[1:], command.unpack(expected)[1:]
                assert tau == pytest.approx(other, rel=1e-12, abs=1e-12)


@needs_compiler
@pytest.mark.parametrize(("words", "ticks"), [(["real"], [0]), ([], [0, PATIENCE + 1])])
def test_the_exported_loop_stops_when_states_stay_away(loop_in_c, words, ticks):
    with running(loop_in_c, *words) as (loop, line):
        for tick in ticks:
            line.send(EXAMPLE["STATE"].pack(tick, *[0] * 7))
        said = loop.communicate()[0]
    assert said == f"no state for {PATIENCE} ticks: the loop stops before tick 1\n"
    assert loop.returncode == 0


@contextmanager
def running(program, *words):
    """The loop in C, and a socket that is connected to it."""
    with (
        subprocess.Popen([program, *words], stdout=subprocess.PIPE, text=True) as loop,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line,
    ):
        line.connect(("127.0.0.1", int(loop.stdout.readline())))
        try:
            yield loop, line
        finally:
            loop.kill()
