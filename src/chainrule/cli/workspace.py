"""`chainrule workspace`: the reachable workspace, its bounds, volume and best places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from chainrule.cli.console import (
    PICTURE,
    command,
    degrees_option,
    echo,
    json_option,
    print_json,
    progress,
    report_file,
    robot_options,
)
from chainrule.cli.joints import describe_positions, joint_lines
from chainrule.errors import visible
from chainrule.plots.canvas import refuse_unwritable

if TYPE_CHECKING:
    from chainrule.kinematics.workspace import Workspace
    from chainrule.robot.robot import Robot

DIRECTIONS = {f"{sign}{axis}": float(f"{sign}1") * np.eye(3)[i] for i, axis in enumerate("xyz") for sign in ("", "-")}

SAMPLES_PER_CELL = 30
MAX_CELLS_ACROSS = 32.0
"""The volume is counted in cubes: about so many samples in each if the samples filled a cube."""


@command(
    "chainrule workspace planar_3r --samples 20000",
    "chainrule workspace panda --samples 20000 --link panda_link4 --json",
    "chainrule workspace puma560 --samples 20000 --plot reach.png --color dexterity",
)
@click.option(
    "--samples", default=1_000_000, show_default=True, type=click.IntRange(1), metavar="COUNT", help="Random postures."
)
@click.option("--link", help="A link or frame; the end-effector if left out.")
@click.option(
    "--color",
    "--colour",
    "color",
    default="manipulability",
    show_default=True,
    type=click.Choice(["manipulability", "payload", "dexterity"]),
    help="What the picture shows by color.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), metavar="NUMBER", help="Of the random postures."
)
@click.option("--plot", type=PICTURE, help="A picture to write: .png, .pdf or .svg.")
@degrees_option
@json_option
@robot_options
def workspace(
    robot: Robot,
    samples: int,
    link: str | None,
    color: str,
    seed: int,
    plot: str | None,
    degrees: bool,
    as_json: bool,
) -> None:
    """The reachable workspace from random postures: its bounds, volume and best places."""
    if plot:  # before the work, not after it
        refuse_unwritable(plot)
    with progress("sampling postures") as at:
        cloud = robot.workspace(samples, link, rng=seed)
        at("bounds and volume")
        facts = describe(cloud)
        if plot:
            at("drawing")
            cloud.plot(plot, color=color)
    best = describe_positions(robot, facts["best"]["q"], degrees=degrees)
    if as_json:
        print_json({**facts, "best": {**facts["best"], **best}})
    else:
        print_workspace(cloud, facts)
        echo(joint_lines(robot, facts["best"]["q"], degrees=degrees))
    if plot:
        report_file(plot)


def describe(cloud: Workspace) -> dict[str, Any]:
    """Bounds, distances, volume, and where manipulability is largest."""
    low, high = cloud.bounds
    near, far = cloud.radii
    across = min(MAX_CELLS_ACROSS, max(1.0, (len(cloud.position) / SAMPLES_PER_CELL) ** (1 / 3)))
    cell = float((high - low).max()) / across
    volume = cloud.volume(cell) if cell > 0 else 0.0
    reaches = {name: cloud.reach(direction).distance for name, direction in DIRECTIONS.items()}
    best = int(cloud.manipulability.argmax())
    return {
        "robot": cloud.robot.name, "link": cloud.link, "samples": len(cloud), "low": low, "high": high, "nearest": near,
        "farthest": far, "volume": volume, "cell": cell, "reach": reaches,
        "best": {
            "manipulability": float(cloud.manipulability[best]), "position": cloud.position[best], "q": cloud.q[best],
        },
    }  # fmt: skip


def print_workspace(cloud: Workspace, facts: dict[str, Any]) -> None:
    """Print bounds, distances, volume, and where manipulability is largest."""
    low, high, reaches, best = facts["low"], facts["high"], facts["reach"], facts["best"]
    echo(f"{visible(cloud.link)} of {visible(cloud.robot.name)}: {len(cloud)} random postures within the joint limits")
    for i, axis in enumerate("xyz"):
        echo(f"  {axis} from {low[i]: .4f} to {high[i]: .4f} m; reach {reaches['-' + axis]:.4f}, {reaches[axis]:.4f} m")
    size = f"; about {facts['volume']:.3g} m^3, in cells of {facts['cell']:.2g} m" if facts["volume"] else ""
    echo(f"  distance from the base {facts['nearest']:.4f} to {facts['farthest']:.4f} m{size}")
    place = ", ".join(f"{value:.3f}" for value in best["position"])
    echo(f"  manipulability at most {best['manipulability']:.4g}, at ({place}) m, where")
