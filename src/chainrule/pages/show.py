"""robot.show and motion.show: a page below the cell of a notebook, in a file, or in the browser."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, file_path, flag, positive, refuse_nonfinite, whole_number
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_argument
from chainrule.errors import ChainruleError, ShapeError, visible
from chainrule.kinematics.configurations import home
from chainrule.plots.sampling import postures_in_time
from chainrule.robot.editing import edit
from chainrule.studio import open_studio, require_viser, show_page

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.simulation.trajectory import Trajectory
    from chainrule.studio.server import Studio


def show(
    robot: Mechanism,
    q: Any = None,
    path: str | PathLike[str] | None = None,
    *,
    t: ArrayLike | None = None,
    row: int | Sequence[int] | None = None,
    fps: float | None = None,
    dark: bool | None = None,
    height: int = 480,
    live: bool | None = None,
) -> Studio | None:
    """Show the robot in 3-D on a page that computes: joints and hand are dragged, torques and a simulation follow.

    Of a motion it is a replay with play, pause and a time slider. In a notebook the page appears below the cell, and is
    saved with the notebook. With a path it is written to one .html file, which needs no server and no network.
    Elsewhere a posture opens the studio in the browser, which needs the extra `studio` and is returned (a program waits
    until Ctrl-C), and a motion opens a page.

    Parameters
    ----------
    q
        A posture (nq,), the home posture if none is given; or a motion: a trajectory, a motion as of cr.plan, or
        postures (k, nq) with their times t.
    path
        An .html file to write; one that is there is replaced.
    t, row
        The times of postures (k,), in s; which motion of a batch is shown, the first by default.
    fps
        Postures in a second of a replay; 30 by default, fewer of a motion longer than 100 s.
    dark
        Whether the page is dark at first; as the reader's browser wishes unless given.
    height
        The height of the frame in a notebook, in pixels.
    live
        Whether it is the studio, with a server behind it: by default outside a notebook alone. It is reached from this
        machine only.

    >>> import chainrule as cr
    >>> cr.load("panda").show(path="panda.html")  # doctest: +SKIP
    """
    target = None if path is None else _page_path(path)
    notebook = _notebook() if target is None else None
    postures, step = _postures(robot, q, t, row, fps)
    pixels, is_dark = (
        whole_number(height, "show: height", 100, 10_000),
        None if dark is None else flag(dark, "show: dark"),
    )
    can_be_live = target is None and len(postures) == 1
    is_live = can_be_live and notebook is None if live is None else flag(live, "show: live")
    if is_live and not can_be_live:
        raise ShapeError("show: a page in a file and a replay have no server behind them; leave out live=True")
    if is_live:
        require_viser()
        studio = open_studio(robot if q is None else edit(robot, configurations={"home": postures[0]}), port=0)
        if notebook is None:
            _open_live(studio)
        else:
            _display(notebook, _frame(f'src="{escape(studio.address)}"', robot.name, pixels))
        return studio
    from chainrule.pages.page import page

    html = page(robot, postures, step, dark=is_dark)
    if target is not None:
        target.write_text(html, encoding="utf-8")
    elif notebook is None:
        _open_page(html)
    else:
        _display(notebook, _frame(f'srcdoc="{escape(html)}" sandbox="allow-scripts"', robot.name, pixels))
    return None


def show_motion(
    motion: Trajectory,
    path: str | PathLike[str] | None = None,
    *,
    row: int | Sequence[int] | None = None,
    fps: float | None = None,
    dark: bool | None = None,
    height: int = 480,
) -> None:
    """Replay the motion in 3-D, with play, pause, speed and a time slider; the camera can be moved.

    It appears below the cell of a notebook, or in the browser. With a path it is written to one .html file that needs
    no server and no network.

    Parameters
    ----------
    path
        An .html file to write; one that is there is replaced.
    row
        The motion of a batch that is shown, the first by default.
    fps
        Postures in a second; 30 by default, fewer of a motion longer than 100 s.
    dark
        Whether the page is dark at first; as the reader's browser wishes unless given.
    height
        The height of the frame in a notebook, in pixels.
    """
    show(motion.robot, motion, path, row=row, fps=fps, dark=dark, height=height, live=False)


def _page_path(path: Any) -> Path:
    target = file_path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ShapeError(f"show: a page is written to an .html file, got {str(path)!r}; robot.plot draws pictures")
    return target


def _postures(robot: Mechanism, q: Any, t: Any, row: Any, fps: Any) -> tuple[Array, float]:
    """Postures (k, nq), one of them or those of a replay, and the seconds between two."""
    given = None if fps is None else 1 / positive(fps, "show: fps", "a positive number")
    if not callable(q) and not hasattr(q, "t"):
        q = np.asarray(home(robot) if q is None else read_argument(robot, "show", "q", q), dtype=float)
        if q.ndim == 1 and t is None:
            refuse_nonfinite(q, "show: q")
            return q[None], 0.0
    times, postures = postures_in_time(robot, q, t=t, row=row, step=given, caller="show")
    refuse_nonfinite(postures, "show: q")
    return postures, float(times[1] - times[0]) if len(times) > 1 else 0.0


# --- in a notebook ---


def _notebook() -> Any:
    """The shell of IPython where it is that of a notebook, None elsewhere."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if hasattr(shell, "kernel") else None


def _display(notebook: Any, html: str) -> None:
    notebook.display_pub.publish({"text/html": html, "text/plain": "a robot in 3-D, which this program cannot show"})


def _frame(source: str, name: str, height: int) -> str:
    """A frame in a notebook's page."""
    style = "border:1px solid #ddd;display:block"
    title = escape(visible(name))
    return f'<iframe {source} title="{title}" width="100%" height="{height}" style="{style}"></iframe>'


# --- in the browser ---


def _open_page(html: str) -> None:
    """Open a page. The browser reads it later, so it stays in the folder for temporary files."""
    with tempfile.NamedTemporaryFile("w", prefix="chainrule-", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(html)
    path = Path(file.name)
    if not show_page(path.as_uri()):
        path.unlink()
        raise _no_browser()
    print(f"The page is shown in the browser: {path}")


def _open_live(studio: Studio) -> None:
    """Open the studio. A program that ends takes it along: outside an interactive session this waits for Ctrl-C."""
    if not show_page(studio.address):
        studio.close()
        raise _no_browser()
    print(f"The studio is shown in the browser: {studio.address}", flush=True)
    if hasattr(sys, "ps1") or sys.flags.interactive:
        return
    print("Ctrl-C ends it.", flush=True)
    try:
        Event().wait()
    except KeyboardInterrupt:
        studio.close()


def _no_browser() -> ChainruleError:
    return ChainruleError(
        "show: there is no browser here to show it in; write a page by show(path='robot.html') and open it elsewhere, "
        "or run `chainrule studio` and open its address"
    )
