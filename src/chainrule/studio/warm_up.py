"""What the first picture and the first drag take, worked out on a thread of its own while the browser loads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator

import numpy as np

from chainrule.core.derived import remember
from chainrule.errors import ChainruleError
from chainrule.robot.robot import Robot
from chainrule.studio.postures import default_tip, first_posture
from chainrule.studio.reaching import Reaching, natural_task
from chainrule.studio.scene.visuals import drawing

LOG = logging.getLogger("chainrule.studio")


def warm_up(robot: Robot, is_wanted: Callable[[], bool]) -> threading.Thread:
    """Work out what is drawn of a robot, and compile what the first picture and the first drag take.

    A thread that ends by itself, between two steps where it is no longer wanted.
    """

    def run() -> None:
        for step in _steps(robot):
            if not is_wanted():
                return
            try:
                step()
            except ChainruleError:  # it will be said where it matters
                continue
            except Exception:
                LOG.exception("preparing %r", robot.name)

    thread = threading.Thread(target=run, name="chainrule studio preparation", daemon=True)
    thread.start()
    return thread


def _steps(robot: Robot) -> Iterator[Callable[[], object]]:
    q = remember(robot, "studio first posture", lambda: first_posture(robot))
    yield lambda: robot.poses(q)
    yield lambda: drawing(robot)
    if robot.nv:
        tip, rest = default_tip(robot), np.zeros(robot.nv)
        yield lambda: natural_task(robot, tip)
        yield lambda: Reaching(robot, tip).reach(q, np.asarray(robot.pose(q, tip)), natural_task(robot, tip))
        yield lambda: robot.torque_terms(q, rest, rest)
