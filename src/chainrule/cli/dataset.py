"""`chainrule dataset`: torques and statistics of many recorded motions, from Parquet to Parquet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from chainrule.cli.console import (
    ConsoleTable,
    Loading,
    RobotName,
    cluster_options,
    command,
    degrees_option,
    echo,
    json_option,
    loading_options,
    print_json,
    terminal,
    words_by_name,
)

if TYPE_CHECKING:
    from chainrule.cluster.datasets import DatasetStatistics, Report
    from chainrule.robot.robot import Robot
    from chainrule.statistics.statistics import Statistics

BY_NAME = ("torques", "terms", "wrenches")


@command(
    'chainrule dataset panda "motions/*.parquet" --output torques',
    "chainrule dataset panda motions --compute statistics --json",
    "chainrule dataset panda motions --compute mass_matrix --output matrices",
    failure="no file could be read",
    keywords={"columns": "--column"},
)
@click.argument("robot", type=RobotName())
@click.argument("paths", nargs=-1, required=True)
@click.option(
    "--compute", default="torques", show_default=True, metavar="WHAT",
    help="torques, terms, wrenches, statistics, or a function of the robot such as mass_matrix.",
)  # fmt: skip
@click.option("--output", metavar="FOLDER", help="Where results go; the same command goes on where it stopped.")
@click.option(
    "--column", "columns", multiple=True, metavar="WHAT=COLUMN", help="A column by what it holds; repeatable."
)
@click.option("--time", metavar="COLUMN", help="The column of the time.")
@click.option("--motion", metavar="COLUMN", help="The column that numbers the motions of a file.")
@click.option("--cutoff", type=float, help="Frequency in Hz above which a recorded motion is noise; found if left out.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="A further column that results hand on; repeatable.")
@click.option("--by", metavar="KEY", help="With statistics: for each value of the folders KEY=VALUE too.")
@cluster_options
@degrees_option
@json_option
@loading_options
def dataset(
    robot: str,
    loading: Loading,
    paths: tuple[str, ...],
    compute: str,
    output: str | None,
    columns: tuple[str, ...],
    by: str | None,
    degrees: bool,
    as_json: bool,
    cluster: str | None,
    workers: int | None,
    **reading: Any,
) -> None:
    """Torques, torques by cause, wrenches or statistics of many recorded motions.

    PATHS are Parquet files, folders, or patterns in quotes, on this machine or at addresses such as s3://. Results go
    into a folder, a file for each file. A file that cannot be read is reported, and the others go on.
    """
    from chainrule.cluster.datasets import dataset as find

    if by is not None and compute != "statistics":
        raise click.UsageError("--by belongs to --compute statistics")
    options = {name: value for name, value in reading.items() if value}
    named = words_by_name("--column", columns, "q.elbow=angle3")
    body = loading.load(robot)
    data = find(paths, columns=named or None, degrees=degrees or None, **options)
    if compute == "statistics":
        found = data.statistics(body, output, by=by, cluster=cluster, workers=workers)
        _show_statistics(body, found, by, as_json)
        return
    if output is None:
        raise click.UsageError(f"--compute {compute} needs --output FOLDER")
    if compute in BY_NAME:
        report: Report = getattr(data, compute)(body, output, cluster=cluster, workers=workers)
    else:
        report = data.evaluate(body, compute, output, cluster=cluster, workers=workers)
    if as_json:
        print_json(_facts(report))
    else:
        echo(f"{report.rows} rows in {len(report.written)} new files and {len(report.kept)} that were there: {output}")


def _facts(report: Report) -> dict[str, Any]:
    return {
        "rows": report.rows,
        "written": list(report.written),
        "kept": list(report.kept),
        "set_aside": dict(report.set_aside),
        "notes": {name: list(notes) for name, notes in report.notes.items()},
    }


def _show_statistics(robot: Robot, found: DatasetStatistics, by: str | None, as_json: bool) -> None:
    if as_json:
        print_json(
            _facts(found.report)
            | {"statistics": _numbers(found.overall)}
            | {"groups": {group: _numbers(part) for group, part in found.groups.items()}}
        )
        return
    _show_table(robot, found)
    for group, part in found.groups.items():
        echo(f"\n{by}={group}")
        _show_table(robot, part)
    echo(f"{found.report.rows} rows of {len(found.report.written) + len(found.report.kept)} files")


def _show_table(robot: Robot, found: Mapping[str, Statistics]) -> None:
    table = ConsoleTable("joint", "peak torque", "RMS", "unit", "peak speed", "unit", "in")
    torque, speed = found["torque"], found["speed"]
    for k, place in enumerate(robot.model.layout.velocities):
        end = torque.highest if abs(torque.maximum[k]) >= abs(torque.minimum[k]) else torque.lowest
        table.add_row(
            place.name, f"{torque.peak[k]:.4g}", f"{torque.rms[k]:.4g}", "N m" if place.unit == "rad" else "N",
            f"{speed.peak[k]:.3g}", f"{place.unit}/s", str(end.labels[k]),
        )  # fmt: skip
    terminal().print(table)


def _numbers(statistics: Any) -> dict[str, Any]:
    """The statistics of each quantity and joint, in plain numbers."""
    shown = ("mean", "std", "rms", "minimum", "maximum")
    return {
        kind: {
            name: {key: float(getattr(one, key)[k]) for key in shown} | {"median": float(one.median[k])}
            for k, name in enumerate(one.names)
        }
        for kind, one in statistics.items()
    }
