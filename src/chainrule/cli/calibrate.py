"""`chainrule calibrate`: lengths, joint offsets and frames of a robot from a table of measured points or poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import numpy as np

from chainrule.calibration import calibrate as library
from chainrule.calibration.measurements import FIXTURES
from chainrule.cli.console import (
    OneOf,
    OutputFile,
    command,
    degrees_option,
    echo,
    json_option,
    link_option,
    print_json,
    report_files,
    robot_options,
)
from chainrule.errors import FormatError, quoted
from chainrule.motion.files import read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chainrule.arguments import Array
    from chainrule.robot.robot import Robot

POINT, QUATERNION = ("x", "y", "z"), ("qx", "qy", "qz", "qw")


@command(
    "chainrule calibrate panda --table points.csv --parameters base,panda_joint2.offset --save corrected.urdf",
    "chainrule calibrate panda --table plane.csv --touching plane --parameters panda_joint2.offset --json",
    keywords={
        "fitted.not_identifiable says why": "the output says why",
        "base=...": "the pose of the base in Python",
        " (task='position' leaves them out)": "",
    },
)
@click.option("--table", required=True, type=click.Path(dir_okay=False), help="A row for each measurement.")
@click.option("--parameters", default="base,all", show_default=True, help="Names of numbers, with commas between.")
@link_option
@click.option("--touching", type=OneOf("fixture", FIXTURES), help="What the tip is at, where nothing was measured.")
@click.option("--save", type=OutputFile(), help="A file for the corrected robot, by its suffix: .urdf, .toml, .json.")
@degrees_option
@json_option
@robot_options
def calibrate(
    robot: Robot, table: str, parameters: str, link: str | None, touching: str | None, save: str | None, degrees: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Find lengths, joint offsets and frames from measured points or poses.

    The table, of text or in a .parquet or .npz file, has a row for each measurement, with columns of all joints'
    readings by their names, and x, y, z of a point in m; of a pose qx, qy, qz, qw too.
    """
    columns = read_table(table).columns
    names = [name.strip() for name in parameters.split(",") if name.strip()]
    if touching and parameters == "base,all":
        names = ["all"]
    q = _columns(columns, robot.coordinate_names, table)
    if degrees:
        q = np.where([c.unit == "rad" for c in robot.model.layout.coordinates], np.deg2rad(q), q)
    measured: object = None
    if not touching:
        measured = _columns(columns, POINT, table)
        if set(QUATERNION) <= columns.keys():
            measured = (measured, _columns(columns, QUATERNION, table))
    fitted = library.calibrate(robot, q, measured, names, link=link, touching=touching)  # type: ignore[arg-type]
    if save:
        fitted.robot.save(save)
    if as_json:
        print_json(
            {
                "robot": robot.name, "parameters": fitted.parameters, "before": fitted.before,
                "standard_deviations": fitted.standard_deviations, "not_identifiable": fitted.not_identifiable,
                "base": fitted.base, "errors_before": fitted.errors_before, "errors": fitted.errors,
                "outliers": fitted.outliers,
            }
        )  # fmt: skip
    else:
        echo(str(fitted))
    report_files(save)


def _columns(columns: Mapping[str, Array], names: tuple[str, ...], table: str) -> Array:
    """Columns of a table by their names (rows, n)."""
    missing = [name for name in names if name not in columns]
    if missing:
        raise FormatError(f"{table!r} has no columns {quoted(missing)}; it has {quoted(columns)}")
    return np.stack([columns[name] for name in names], axis=-1)
