"""`chainrule workspace`: the reachable workspace, its bounds, volume and best places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from chainrule.cli.console import echo, load_robot, print_json, report_file
from chainrule.errors import visible
from chainrule.plots.canvas import refuse_unwritable

if TYPE_CHECKING:
    from chainrule.kinematics.workspace import Workspace

DIRECTIONS = {f"{sign}{axis}": float(f"{sign}1") * np.eye(3)[i] for i, axis in enumerate("xyz") for sign in ("", "-")}

SAMPLES_PER_CELL = 30
MAX_CELLS_ACROSS = 32.0
"""The volume is counted in cubes: about so many samples in each if the samples filled a cube."""


@click.command()
@click.argument("robot")
@click.option("--samples", default=1_000_000, show_default=True, type=click.IntRange(1), help="Random postures.")
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
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the random postures.")
@click.option("--plot", type=click.Path(dir_okay=False), help="A picture to write: .png, .pdf or .svg.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def workspace(
    robot: str, samples: int, link: str | None, color: str, seed: int, plot: str | None, as_json: bool
) -> None:
    """The reachable workspace from random postures: its bounds, volume and best places."""
    if plot:  # before the work, not after it
        refuse_unwritable(plot)
    cloud = load_robot(robot).workspace(samples, link, rng=seed)
    print_workspace(cloud, as_json=as_json)
    if plot:
        cloud.plot(plot, color=color)
        report_file(plot)


def print_workspace(cloud: Workspace, *, as_json: bool) -> None:
    """Print bounds, distances, volume, and where manipulability is largest."""
    low, high = cloud.bounds
    near, far = cloud.radii
    across = min(MAX_CELLS_ACROSS, max(1.0, (len(cloud.position) / SAMPLES_PER_CELL) ** (1 / 3)))
    cell = float((high - low).max()) / across
    volume = cloud.volume(cell) if cell > 0 else 0.0
    reaches = {name: cloud.reach(direction).distance for name, direction in DIRECTIONS.items()}
    best = int(cloud.manipulability.argmax())
    if as_json:
        facts = {
            "robot": cloud.robot.name, "link": cloud.link, "samples": len(cloud), "low": low.tolist(),
            "high": high.tolist(), "nearest": near, "farthest": far, "volume": volume, "cell": cell, "reach": reaches,
            "best": {
                "manipulability": float(cloud.manipulability[best]), "position": cloud.position[best].tolist(),
                "q": cloud.q[best].tolist(),
            },
        }  # fmt: skip
        print_json(facts)
        return
    echo(f"{visible(cloud.link)} of {visible(cloud.robot.name)}: {len(cloud)} random postures within the joint limits")
    for i, axis in enumerate("xyz"):
        echo(f"  {axis} from {low[i]: .4f} to {high[i]: .4f} m; reach {reaches['-' + axis]:.4f}, {reaches[axis]:.4f} m")
    size = f"; about {volume:.3g} m^3, in cells of {cell:.2g} m" if volume else ""
    echo(f"  distance from the base {near:.4f} to {far:.4f} m{size}")
    place = ", ".join(f"{value:.3f}" for value in cloud.position[best])
    echo(f"  manipulability at most {cloud.manipulability[best]:.4g}, at ({place})")
