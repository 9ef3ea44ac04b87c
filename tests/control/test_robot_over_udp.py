"""The example of a robot on the network, in simulated time: without sockets and clocks."""

import runpy
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "robot_over_udp.py"), run_name="example")
RATE, PATIENCE = EXAMPLE["RATE"], EXAMPLE["PATIENCE"]


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
