"""The pictures of README.md and docs/, made by the library: `python docs/pictures.py [FOLDER]`."""

from __future__ import annotations

import contextlib
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import chainrule as cr

ROOT = Path(__file__).parents[1]
DOTS_PER_INCH = 90
FORCE = "#c03030"
COLORS = 64
"""Colors of a picture of a page: few of them take a third of the bytes."""


def draw(folder: Path) -> list[Path]:
    """Draw all pictures into a folder; the files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as elsewhere, contextlib.chdir(elsewhere):
        first = runpy.run_path(str(ROOT / "examples" / "first_picture.py"))
    path = folder / "panda.png"
    figure = first["robot"].plot(first["motion"].q[::250], frames=False)
    figure.savefig(path, dpi=DOTS_PER_INCH)
    _draw_postures(folder)
    _draw_motions(folder)
    _draw_wrenches(folder / "wrenches.png")
    _draw_frames(folder / "frames.png")
    _draw_poses(folder / "poses.png")
    _draw_figures(folder)
    for picture in folder.glob("*.png"):
        with Image.open(picture) as image:
            image.convert("RGB").quantize(colors=COLORS, method=2, dither=0).save(picture, optimize=True)
    return sorted([*folder.glob("*.png"), *folder.glob("*.gif")])


def _draw_postures(folder: Path) -> None:
    """Robots in space, in a plane, with closed loops and with an ellipsoid."""
    cr.load("panda").plot(None, folder / "ellipsoid.png", ellipsoids=["velocity"], size=(5, 4.6))
    cr.load("stewart_platform").plot(None, folder / "stewart_platform.png", size=(4.4, 3.8))
    cr.load("quadruped").plot(None, folder / "quadruped.png", names=False, size=(4.4, 3.8))
    bar = cr.load("four_bar")
    turns = [bar.loops.close([angle, 0, 0], hold=["crank"]) for angle in (2.2, 1.2, 0.2)]
    bar.plot(turns, folder / "four_bar.png", frames=False, size=(3.8, 4.2))


def _draw_figures(folder: Path) -> None:
    """Figures of textbooks."""
    book, q, qd, qdd = cr.load("planar_2r").textbook, [0.4, 0.6], [1.0, -2.0], [0.5, 1.0]
    book.figure(q).save(folder / "figure.png")
    book.free_body(q, qd, qdd, link="link1").save(folder / "free_body.png")
    book.velocity_figure(q, qd).save(folder / "velocity_figure.png")
    cr.load("puma560").textbook.dh_figure(convention="modified").save(folder / "dh_figure.png")
    cr.load("puma560").textbook.dh_figure(convention="standard").save(folder / "dh_standard.png")


def _draw_motions(folder: Path) -> None:
    """A motion of an arm with its limits, the causes of its torques, its motors; a swing and its phase portrait."""
    arm = cr.load("ur5")
    start, end = [0.0, -1.2, 1.2, -1.5, -1.5, 0.0], [1.2, -0.5, 0.6, -1.0, -1.2, 0.8]
    plan = cr.plan(arm, [start, end], times=1.0)
    motion = arm.simulate(start, None, 1.2, cr.ComputedTorque(arm, plan))
    few = ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"]
    motion.plot(folder / "motion.png", joints=few, reference=plan, quantities=["q", "qd", "tau"], size=(6.4, 4.6))
    motion.plot_torque_terms(folder / "torque_terms.png", joints=few[1:], size=(5.4, 3.8))
    motion.plot_torque_speed(folder / "torque_speed.png", joints=few[1:], size=(6.2, 3.2))
    cr.load("pendulum").simulate([2.6], None, 3.0).plot_phase(folder / "phase.png", size=(3.8, 3.6))
    robot = cr.load("double_pendulum")
    robot.animate(robot.simulate([1.6, 0.4], None, 1.6), folder / "swing.gif", fps=10, size=(2.2, 2.2))


def _draw_wrenches(path: Path) -> None:
    """The two sides of one contact: what the world applies to the tip, and what the tip applies to the world."""
    arm, q = cr.load("planar_2r"), [1.2, -1.9]
    figure, sides = plt.subplots(1, 2, figsize=(8.2, 3.4), layout="constrained")
    x, y = arm.pose(q)[:2, 3]
    for ax, sign, words, torque in (
        (sides[0], -1, 'external={"tip": [0, 0, 0, -10, 0, 0]}\nthe wall pushes the tip', r"M\ddot q + h - J^T W"),
        (sides[1], 1, "tip_wrench=[0, 0, 0, 10, 0, 0]\nthe tip pushes the wall", r"M\ddot q + h + J^T F"),
    ):
        arm.plot(q, ax=ax, frames=False, names=False, ground=False, limits=((-0.3, 2.0), (-0.4, 1.2), (-1.0, 1.0)))
        ax.add_patch(plt.Rectangle((x + 0.02, y - 0.5), 0.12, 1.1, facecolor="0.88", edgecolor="0.5", hatch="///"))
        arrow = {"arrowstyle": "-|>", "color": FORCE, "linewidth": 3, "mutation_scale": 20, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=(x + sign * 0.55, y), xytext=(x, y), arrowprops=arrow, zorder=10)
        ax.text(x + sign * 0.4, y + 0.08, "10 N", color=FORCE, ha="center")
        ax.text(x + 0.25, y - 0.42, rf"$\tau = {torque}$", fontsize=12)
        ax.set_title(words, fontsize=10)
        ax.set_axis_off()
    figure.savefig(path, dpi=DOTS_PER_INCH)
    plt.close(figure)


def _draw_frames(path: Path) -> None:
    """The linear part of one velocity in the three frames, of an arm whose first joint turns."""
    arm, q, qd = cr.load("planar_2r"), [0.5, 0.9], [0.6, 0.0]
    figure, sides = plt.subplots(1, 3, figsize=(9.6, 3.2), layout="constrained")
    T = arm.pose(q)
    for ax, frame, words in (
        (sides[0], "world", "the tip's velocity, in base axes"),
        (sides[1], "body", "the same, in the axes of the tip"),
        (sides[2], "space", "of the point of the tip's body\nthat is at the base's origin: none"),
    ):
        arm.plot(q, ax=ax, frames=False, names=False, ground=False, limits=((-0.9, 1.9), (-0.3, 2.2), (-1.0, 1.0)))
        axes, origin = (np.eye(3), np.zeros(2)) if frame == "space" else (np.eye(3), T[:2, 3])
        axes = T[:3, :3] if frame == "body" else axes
        v = arm.velocity(q, qd, frame=frame)[3:]
        for direction, color in zip(axes.T[:2], ("0.35", "0.6"), strict=True):
            _arrow(ax, origin, 0.45 * direction[:2], color, 1.5)
        if np.linalg.norm(v) > 1e-9:
            _arrow(ax, origin, 0.8 * (axes @ v)[:2], FORCE, 3)
        ax.text(-0.8, 2.0, f"v = ({v[0]:.2f}, {v[1]:.2f}, {v[2]:.0f}) m/s", color=FORCE)
        ax.set_title(f'frame="{frame}"\n{words}', fontsize=10)
        ax.set_axis_off()
    figure.savefig(path, dpi=DOTS_PER_INCH)
    plt.close(figure)


def _draw_poses(path: Path) -> None:
    """Three frames, and how their poses are multiplied."""
    figure, ax = plt.subplots(figsize=(5.4, 3.2), layout="constrained")
    places = {"a": (0.0, 0.0, 0.0), "b": (1.6, 0.4, 0.5), "c": (2.5, 1.5, -0.4)}
    for name, (x, y, angle) in places.items():
        cosine, sine = np.cos(angle), np.sin(angle)
        _arrow(ax, (x, y), (0.5 * cosine, 0.5 * sine), "#c03030", 2)
        _arrow(ax, (x, y), (-0.5 * sine, 0.5 * cosine), "#2f8f4e", 2)
        ax.text(x - 0.1, y - 0.25, f"{{{name}}}", fontsize=12)
    for start, end, bend, shift in (
        ("a", "b", 0.15, (0.1, -0.25)),
        ("b", "c", 0.15, (0.2, -0.1)),
        ("a", "c", -0.25, (-0.5, 0.55)),
    ):
        (x0, y0, _), (x1, y1, _) = places[start], places[end]
        curve = {"arrowstyle": "-|>", "color": "0.4", "linestyle": "--", "connectionstyle": f"arc3,rad={bend}"}
        ax.annotate("", xy=(x1, y1), xytext=(x0, y0), arrowprops=curve)
        ax.text((x0 + x1) / 2 + shift[0], (y0 + y1) / 2 + shift[1], f"$T_{{{start}{end}}}$", fontsize=13)
    ax.set_title("T_ac = T_ab @ T_bc", fontsize=11)
    ax.set(xlim=(-0.4, 3.4), ylim=(-0.5, 2.2), aspect="equal")
    ax.set_axis_off()
    figure.savefig(path, dpi=DOTS_PER_INCH)
    plt.close(figure)


def _arrow(ax: Any, start: Any, along: Any, color: str, width: float) -> None:
    style = {"arrowstyle": "-|>", "color": color, "linewidth": width, "mutation_scale": 14, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=(start[0] + along[0], start[1] + along[1]), xytext=start[:2], arrowprops=style, zorder=10)


if __name__ == "__main__":
    for picture in draw(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "pictures").resolve()):
        print(f"{picture}  {picture.stat().st_size / 1000:.1f} kB")
