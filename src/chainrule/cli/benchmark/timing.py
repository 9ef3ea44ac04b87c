"""The clock of the benchmarks, and the states that all libraries get."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.functions.table import FUNCTIONS
from chainrule.robot.robot import Robot

RUNS = 7

NANOSECONDS = 1e9
"""Nanoseconds in a second."""


def best(call: Callable[[], Any], seconds: float) -> float:
    """Seconds that one call takes: the best of seven runs, which together last about as long as given."""
    call()
    timer = timeit.Timer(call)
    number = max(1, int(seconds / RUNS / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(RUNS, number)) / number


def best_in_turns(calls: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """Seconds of each call, the best of several rounds; calls take turns, so that other load slows all of them."""
    spent = [[timeit.timeit(call, number=1) for call in calls] for _ in range(rounds)]
    return np.min(spent, axis=0).tolist()


class BenchmarkStates:
    """Random states of a robot, the same for all libraries."""

    def __init__(self, robot: Robot, count: int) -> None:
        rng = np.random.default_rng(0)
        self.q = robot.random_state(rng, (count,))
        self.qd, self.qdd = rng.normal(size=(2, count, robot.nv))

    def arguments(self, function: str) -> list[Array]:
        """The arguments of a function, a row for each state; the accelerations serve as torques too."""
        arrays = {"q": self.q, "qd": self.qd, "qdd": self.qdd, "tau": self.qdd}
        return [arrays[name] for name in FUNCTIONS[function].arguments]
