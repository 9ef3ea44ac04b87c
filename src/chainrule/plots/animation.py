"""Moving pictures of a motion: GIF and MP4 files, and a player for notebooks and pages.

Frames are taken at equal steps of time, so that a second of the motion lasts a second; limits, ground and view are
those of the whole motion, so that nothing jumps.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, file_path, flag, one_of, positive
from chainrule.calls import explains_arguments
from chainrule.core.progress import ProgressBar
from chainrule.core.reading import find_link
from chainrule.errors import ShapeError, import_optional, visible
from chainrule.kinematics.poses import pose, poses
from chainrule.plots.bodies import STYLES, bodies
from chainrule.plots.canvas import (
    BLUE,
    LINK_COLOR,
    figure_of,
    figure_size,
    refuse_unwritable,
)
from chainrule.plots.drawing import Drawn, draw_triad
from chainrule.plots.posture import Stage, new_stage, view_angles, write_title
from chainrule.plots.sampling import postures_in_time
from chainrule.plots.video import with_palette, write_gif, write_mp4

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from chainrule.core.mechanism import Mechanism

KINDS = (".gif", ".mp4", ".html")
MAX_PLAYER_FRAMES = 400
"""Frames of the player that a notebook shows: its pictures are part of the notebook."""
DOTS_PER_INCH = 100


@dataclass(frozen=True, eq=False)
class Animation:
    """A motion in pictures: `save` writes .gif, .mp4 or .html; a notebook shows it with a player.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> arm.animate(arm.simulate([0.5, 0.0], None, 0.5), fps=20)
    <Animation of 'planar_2r': 11 frames, 0.5 s at 20 frames/s>
    """

    robot: Mechanism
    times: Array
    """The times of the frames in the motion, in s."""
    q: Array
    """The postures of the frames: (frames, nq)."""
    fps: float
    """Frames in a second of the animation."""
    speed: float
    """Seconds of the motion in a second of the animation."""
    options: dict[str, Any] = field(repr=False)

    def __repr__(self) -> str:
        slow = "" if self.speed == 1 else f", {self.speed:g} times as fast"
        size = f"{len(self)} frames, {self.duration:g} s at {self.fps:g} frames/s{slow}"
        return f"<Animation of {self.robot.name!r}: {size}>"

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        """The time that the animation takes, in s."""
        return (len(self) - 1) / self.fps

    def frames(self, *, progress: bool | None = None, every: int = 1) -> Iterator[Figure]:
        """The figure, moved from frame to frame: one figure, with the same limits throughout."""
        scene = _Scene(self)
        chosen = range(0, len(self), every)
        with ProgressBar(len(chosen), progress, "drawing", "frames") as bar:
            for done, k in enumerate(chosen):
                scene.move(k)
                yield scene.figure
                bar.at(done + 1)

    def save(self, path: str | PathLike[str], *, progress: bool | None = None) -> None:
        """Write a .gif, an .mp4 (which needs ffmpeg) or a page .html with a player.

        progress: whether a bar is shown; by default, on a terminal after a second.
        """
        target = file_path(path)
        kind = target.suffix.lower()
        if kind not in KINDS:
            raise ShapeError(f"an animation is written to {', '.join(KINDS)}, got {str(path)!r}")
        if kind == ".mp4":
            import matplotlib

            frames = (np.asarray(image) for image in self._images(progress))
            write_mp4(frames, self.fps, target, matplotlib.rcParams["animation.ffmpeg_path"])
        elif kind == ".gif":
            write_gif(self._images(progress), self.fps, str(target))
        else:
            title = escape(visible(self.robot.name))
            page = (
                f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n<title>{title}</title>\n</head>\n'
            )
            page += f"<body>\n{self.html(progress=progress)}\n</body>\n</html>\n"
            target.write_text(page, encoding="utf-8")

    def _images(self, progress: bool | None, every: int = 1) -> Iterator[Any]:
        image = import_optional("PIL.Image", "a GIF")
        for figure in self.frames(progress=progress, every=every):
            canvas: Any = figure.canvas
            canvas.draw()
            yield image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())

    def html(self, *, progress: bool | None = None) -> str:
        """A player complete in itself: pictures, a button, a slider. It loads nothing from elsewhere."""
        every = max(1, -(-len(self) // MAX_PLAYER_FRAMES))
        pictures = []
        for image in self._images(progress, every):
            buffer = io.BytesIO()
            with_palette(image).save(buffer, "PNG", optimize=True)
            pictures.append(b64encode(buffer.getvalue()).decode("ascii"))
        return player(pictures, self.fps / every, self.times[::every], visible(self.robot.name))

    def _repr_html_(self) -> str:
        return self.html(progress=False)


@explains_arguments
def animate(
    robot: Mechanism,
    motion: Any,
    path: str | PathLike[str] | None = None,
    *,
    fps: float = 25.0,
    speed: float = 1.0,
    t: ArrayLike | None = None,
    row: int | Sequence[int] | None = None,
    trail: str | bool | None = True,
    style: str = "auto",
    ground: bool = True,
    limits: ArrayLike | None = None,
    view: str | Sequence[float] | None = None,
    size: Sequence[float] | None = None,
    progress: bool | None = None,
) -> Animation:
    """An animation of a motion, in real time: a player in a notebook, and written to a file if a path is given.

    Parameters
    ----------
    motion
        A trajectory, one of a batch being chosen by `row`; a motion as of cr.plan; or postures (k, nq) with times t.
    path
        A .gif, .mp4 or .html file to write.
    fps
        Frames in a second of the animation.
    speed
        Seconds of the motion in a second of the animation: 0.5 is slow motion.
    t
        The times of postures (k,), in s.
    row
        Which motion of a batch is shown, the first by default.
    trail
        Whether the way of the end-effector is drawn, or the link or frame whose way is drawn.
    style, ground, limits, view, size
        As of robot.plot; limits are those of the whole motion by default.
    progress
        Whether a bar is shown while files are written; by default, on a terminal after a second.

    Examples
    --------
    >>> import chainrule as cr
    >>> arm = cr.load("pendulum")
    >>> arm.animate(arm.simulate([1.0], None, 1.0), fps=10)
    <Animation of 'pendulum': 11 frames, 1 s at 10 frames/s>
    """
    refuse_unwritable(None)
    one_of(STYLES, style, "style of bodies", "a picture")
    rate = positive(fps, "animate: fps", "a positive number")
    pace = positive(speed, "animate: speed", "a positive number")
    times, q = postures_in_time(robot, motion, t=t, row=row, step=pace / rate, caller="animate")
    link = _trail(robot, trail)
    options = {
        "trail": link, "style": style, "ground": flag(ground, "animate: ground"), "limits": limits, "view": view,
        "size": size,
    }  # fmt: skip
    view_angles(view)
    figure_size(size, (1.0, 1.0))
    made = Animation(robot, times, q, rate, pace, options)
    if path is not None:
        made.save(path, progress=progress)
    return made


def _trail(robot: Mechanism, trail: str | bool | None) -> str | None:
    if trail is None or isinstance(trail, (bool, np.bool_)):
        single = robot.model.end_effector is not None or len(robot.model.tips) == 1
        return find_link(robot) if trail and single else None
    return find_link(robot, trail)


class _Scene:
    """The figure of an animation, and its artists."""

    def __init__(self, animation: Animation) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        robot, options = animation.robot, animation.options
        self.poses = poses(robot, animation.q)
        body = bodies(robot, options["style"])
        self.trail = None if options["trail"] is None else pose(robot, animation.q, options["trail"])[:, :3, 3]
        extra = [] if self.trail is None else [self.trail[np.isfinite(self.trail).all(axis=1)]]
        canvas = Figure(figsize=(6.0, 5.0), dpi=DOTS_PER_INCH, layout="constrained")
        FigureCanvasAgg(canvas)
        room = {name: options[name] for name in ("ground", "limits", "view")}
        stage = new_stage(robot, body, self.poses, None, extra=extra, figure=canvas, **room, size=options["size"])
        self.stage: Stage = stage
        self.figure = figure_of(stage.axes)
        write_title(stage, robot.name, own=True)
        draw_triad(stage.axes, self.poses[0, 0], 0.11 * body.skeleton.reach, stage.plane, letters=True)
        self.drawn: Drawn = stage.new_posture(robot, options["style"])
        self.line: Any = None
        if self.trail is not None:
            empty: list[list[float]] = [[]] * (3 if stage.plane is None else 2)
            (self.line,) = stage.axes.plot(*empty, color=BLUE, linewidth=1.4, zorder=4)
            self.line.set_gid("trail")
        self.clock = self.figure.text(0.99, 0.01, "", ha="right", va="bottom", fontsize="small", color=LINK_COLOR)
        self.times = animation.times
        self.figure.draw_without_rendering()
        self.figure.set_layout_engine("none")

    def move(self, k: int) -> None:
        """Draw frame k."""
        self.drawn.move(self.poses[k])
        if self.line is not None and self.trail is not None:
            way = self.trail[: k + 1]
            if self.stage.plane is not None:
                self.line.set_data(*way[:, list(self.stage.plane)].T)
            else:
                self.line.set_data_3d(*way.T)
        self.clock.set_text(f"{self.times[k]:.2f} s")


def player(pictures: Sequence[str], fps: float, times: Array, name: str) -> str:
    """The HTML of a player for PNG pictures in base64; it goes by the clock, and so keeps time."""
    frames = ",".join(f'"{picture}"' for picture in pictures)
    labels = ",".join(f"{time:.3f}" for time in times)
    shown = escape(name, quote=True)
    return f"""<div class="chainrule-player" style="display:inline-block;font:13px sans-serif">
<img alt="{shown}" style="display:block;max-width:100%" src="data:image/png;base64,{pictures[0]}"/>
<div style="display:flex;gap:.5em;align-items:center">
<button type="button" aria-label="play or pause" style="width:3em">&#9654;</button>
<input type="range" min="0" max="{len(pictures) - 1}" value="0" step="1" aria-label="time" style="flex:1"/>
<select aria-label="speed"><option value="0.25">0.25</option><option value="0.5">0.5</option>
<option value="1" selected>1</option><option value="2">2</option></select><span>{times[0]:.2f} s</span></div>
<script>
(function (root) {{
  var frames = [{frames}], times = [{labels}], fps = {fps:.6g};
  var image = root.querySelector("img"), button = root.querySelector("button");
  var slider = root.querySelector("input"), pace = root.querySelector("select"), label = root.querySelector("span");
  var at = 0, playing = false, last = 0;
  function show(k) {{
    image.src = "data:image/png;base64," + frames[k];
    slider.value = k;
    label.textContent = times[k].toFixed(2) + " s";
  }}
  function step(now) {{
    if (!playing || !document.contains(root)) return;
    at = (at + (now - last) / 1000 * fps * Number(pace.value)) % frames.length;
    last = now;
    show(Math.floor(at));
    requestAnimationFrame(step);
  }}
  button.onclick = function () {{
    playing = !playing;
    button.innerHTML = playing ? "&#10073;&#10073;" : "&#9654;";
    last = performance.now();
    if (playing) requestAnimationFrame(step);
  }};
  slider.oninput = function () {{ at = Number(slider.value); show(at); }};
}})(document.currentScript.parentElement);
</script></div>"""
