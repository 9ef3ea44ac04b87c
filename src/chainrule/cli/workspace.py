"""`chainrule workspace`: the reachable workspace, its bounds, volume and best places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from chainrule.cli.console import (
    Count,
    OutputFile,
    PositiveNumber,
    cluster_options,
    command,
    degrees_option,
    echo,
    json_option,
    link_option,
    plot_option,
    print_json,
    progress,
    report_files,
    robot_options,
)
from chainrule.cli.joints import describe_positions, joint_lines
from chainrule.errors import visible
from chainrule.kinematics.workspace_map import WorkspaceMap

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
    "chainrule workspace puma560 --samples 1e6 --cell 0.05 --workers 2 --output reach.npz",
)
@click.option(
    "--samples", default=1_000_000, show_default=True, type=Count(), metavar="COUNT", help="Random postures, as 1e9."
)
@click.option(
    "--cell",
    type=PositiveNumber("m"),
    help="Count postures in cells of this side: memory does not grow with their number.",
)
@link_option
@click.option(
    "--color",
    default="manipulability",
    show_default=True,
    type=click.Choice(["manipulability", "payload", "dexterity"]),
    help="What the picture shows by color.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), metavar="NUMBER", help="Of the random postures."
)
@plot_option
@click.option("--output", type=OutputFile(".npz"), help="A file for the map of cells, .npz.")
@click.option(
    "--checkpoint", type=OutputFile(".npz"), help="A file that keeps what is counted: the same command goes on from it."
)
@cluster_options
@degrees_option
@json_option
@robot_options
def workspace(
    robot: Robot,
    samples: int,
    cell: float | None,
    link: str | None,
    color: str,
    seed: int,
    plot: str | None,
    output: str | None,
    checkpoint: str | None,
    cluster: str | None,
    workers: int | None,
    degrees: bool,
    as_json: bool,
) -> None:
    """The reachable workspace from random postures: its bounds, volume and best places."""
    if cell is None and (cluster or workers or output or checkpoint):
        raise click.UsageError(
            "--cluster, --workers, --output and --checkpoint are for a map of cells: give their side, as --cell 0.02"
        )
    reached: Workspace | WorkspaceMap
    if cell is None:
        with progress("sampling postures"):
            reached = robot.workspace(samples, link, rng=seed)
    else:
        reached = robot.workspace(
            samples, link, rng=seed, cell=cell, cluster=cluster, workers=workers, checkpoint=checkpoint
        )
    with progress("bounds and volume") as at:
        facts = describe(reached)
        if plot:
            at("drawing")
            reached.plot(plot, color=color)
    if output and isinstance(reached, WorkspaceMap):
        reached.save(output)
    best = describe_positions(robot, facts["best"]["q"], degrees=degrees)
    if as_json:
        print_json({**facts, "best": {**facts["best"], **best}})
    else:
        print_workspace(reached, facts)
        echo(joint_lines(robot, facts["best"]["q"], degrees=degrees))
    report_files(plot, output)


def describe(cloud: Workspace | WorkspaceMap) -> dict[str, Any]:
    """Bounds, distances, volume, and where manipulability is largest."""
    low, high = cloud.bounds
    near, far = cloud.radii
    if isinstance(cloud, WorkspaceMap):
        samples, cell, volume = cloud.samples, cloud.cell, cloud.volume()
    else:
        samples = len(cloud)
        across = min(MAX_CELLS_ACROSS, max(1.0, (samples / SAMPLES_PER_CELL) ** (1 / 3)))
        cell = float((high - low).max()) / across
        volume = cloud.volume(cell) if cell > 0 else 0.0
    reaches = {name: cloud.reach(direction).distance for name, direction in DIRECTIONS.items()}
    best = int(cloud.manipulability.argmax())
    return {
        "robot": cloud.robot.name, "link": cloud.link, "samples": samples, "low": low, "high": high, "nearest": near,
        "farthest": far, "volume": volume, "cell": cell, "reach": reaches,
        **({"cells": len(cloud)} if isinstance(cloud, WorkspaceMap) else {}),
        "best": {
            "manipulability": float(cloud.manipulability[best]), "position": cloud.position[best], "q": cloud.q[best],
        },
    }  # fmt: skip


def print_workspace(cloud: Workspace | WorkspaceMap, facts: dict[str, Any]) -> None:
    """Print bounds, distances, volume, and where manipulability is largest."""
    low, high, reaches, best = facts["low"], facts["high"], facts["reach"], facts["best"]
    count = f"{facts['samples']} random postures within the joint limits"
    if "cells" in facts:
        count += f", in {facts['cells']} cells of {facts['cell']:g} m"
    echo(f"{visible(cloud.link)} of {visible(cloud.robot.name)}: {count}")
    for i, axis in enumerate("xyz"):
        echo(f"  {axis} from {low[i]: .4f} to {high[i]: .4f} m; reach {reaches['-' + axis]:.4f}, {reaches[axis]:.4f} m")
    size = f"; about {facts['volume']:.3g} m^3, in cells of {facts['cell']:.2g} m" if facts["volume"] else ""
    echo(f"  distance from the base {facts['nearest']:.4f} to {facts['farthest']:.4f} m{size}")
    place = ", ".join(f"{value:.3f}" for value in best["position"])
    echo(f"  manipulability at most {best['manipulability']:.4g}, at ({place}) m, where")
