"""The studio: a page in the browser where a robot's dynamics can be seen and touched."""

from __future__ import annotations

import os
import sys
import webbrowser
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from chainrule.calls import explains_arguments
from chainrule.errors import ArgumentError, import_optional
from chainrule.robot.library import load

if TYPE_CHECKING:
    from chainrule.studio.server import Studio

DEFAULT_ROBOT = "panda"


@explains_arguments
def open_studio(
    robot: Any = None,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = False,
    token: bool | str | None = None,
) -> Studio:
    """Open the studio on a robot; it ends with the process, or with `close`.

    Parameters
    ----------
    robot
        A Robot, or whatever `chainrule.load` takes; the panda if none is given.
    host
        The address to listen on. On any but the loopback, whoever opens the page needs the token in its address.
    port
        The port to listen on, which must be free; 0 for any free one. None: 8080, or the next that is free.
    browser
        Open the page in the browser.
    token
        True for a token also on the loopback, or a text to be used as one, which a restart can keep.

    >>> with open_studio("pendulum", port=0) as studio:  # doctest: +SKIP
    ...     print(studio.address)
    http://127.0.0.1:46153/
    """
    require_viser()
    from chainrule.robot.robot import Robot
    from chainrule.studio.server import Studio

    shown = robot if isinstance(robot, Robot) else load(DEFAULT_ROBOT if robot is None else robot)
    studio = Studio(shown, host, port, token)
    if browser:
        show_page(studio.address)
    return studio


def show_page(address: str) -> bool:
    """Open an address in the browser; False where there is none with windows, as on a machine in a rack."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False  # a browser of the terminal would take the terminal, and draw nothing
    return webbrowser.open(address)


def require_viser() -> None:
    """Refuse where the extra is not installed, and say how it is."""
    import_optional("viser", "the studio")


class _Studio(ModuleType):
    """This package, which says what opens the page where it is called itself."""

    def __call__(self, *arguments: Any, **options: Any) -> NoReturn:
        raise ArgumentError("cr.studio is a package, not a function; robot.show(q) opens the page in the browser")


sys.modules[__name__].__class__ = _Studio
