"""The studio: a page in the browser where a robot's dynamics can be seen and touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chainrule.robot.library import load

if TYPE_CHECKING:
    from chainrule.studio.server import Studio


def open_studio(robot: Any = None, *, host: str = "127.0.0.1", port: int = 8080) -> Studio:
    """Open the studio on a robot: its name, the path of its file, or a Robot; the panda if none is given."""
    from chainrule.robot.robot import Robot
    from chainrule.studio.server import Studio

    return Studio(robot if isinstance(robot, Robot) else load("panda" if robot is None else robot), host, port)
