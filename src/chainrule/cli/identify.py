"""`chainrule identify`: a robot from recordings with measured torques."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from chainrule.cli.console import (
    Loading,
    OutputFile,
    PositiveNumber,
    RobotName,
    command,
    degrees_option,
    echo,
    json_option,
    loading_options,
    print_json,
    progress,
    report_files,
    words_by_name,
)


@command(
    "chainrule identify panda log.csv --parameters panda_link8.payload,friction --validate other.csv",
    "chainrule identify panda log.csv --parameters panda_link8.payload,friction --report fit.html --save fitted.toml",
    "chainrule identify panda log.csv --parameters friction,gains --torque panda_joint1='panda_joint1 effort' --json",
    keywords={"tau": "--torque", "columns": "--column", 'parameters="gains"': "--parameters gains"},
)
@click.argument("robot", type=RobotName())
@click.argument("recordings", nargs=-1, required=True, type=click.Path(dir_okay=False))
@click.option("--parameters", default="all", show_default=True, help="What is unknown, with commas between.")
@click.option("--validate", multiple=True, type=click.Path(dir_okay=False), help="A recording left out; repeatable.")
@click.option("--torque", multiple=True, metavar="JOINT=COLUMN", help="The column of a torque or current; repeatable.")
@click.option(
    "--column", "columns", multiple=True, metavar="JOINT=COLUMN", help="The column of a position; repeatable."
)
@click.option("--time", metavar="COLUMN", help="The column of the time.")
@click.option("--cutoff", type=PositiveNumber("Hz"), help="Frequency above which motion is noise; found if left out.")
@click.option("--as-they-are", is_flag=True, help="Take torques even where their unit or sign seems wrong.")
@click.option("--report", type=OutputFile(".html"), help="The page to write.")
@click.option("--save", type=OutputFile(".toml", ".json", ".urdf"), help="The identified robot.")
@degrees_option
@json_option
@loading_options
def identify(
    robot: str,
    loading: Loading,
    recordings: tuple[str, ...],
    parameters: str,
    validate: tuple[str, ...],
    torque: tuple[str, ...],
    columns: tuple[str, ...],
    time: str | None,
    cutoff: float | None,
    as_they_are: bool,
    report: str | None,
    save: str | None,
    degrees: bool,
    as_json: bool,
) -> None:
    """Identify masses, inertias, friction and gains of a robot from recorded positions and torques.

    RECORDINGS are tables with times, positions and torques of the joints, or motions that were saved.
    """
    from chainrule.identification.identify import identify as find
    from chainrule.simulation.trajectory import Trajectory

    body = loading.load(robot)
    read = partial(
        Trajectory.load, robot=body, columns=words_by_name("--column", columns, "elbow=q3"), time=time, cutoff=cutoff,
        tau=words_by_name("--torque", torque, "elbow=tau3") or True, degrees=degrees or None,
    )  # fmt: skip
    with progress("identifying"):
        motions, left_out = ([read(path) for path in paths] for paths in (recordings, validate))
        unknown = [word.strip() for word in parameters.split(",")]
        result = find(body, motions, parameters=unknown, validate=left_out or None, check=not as_they_are)
    if as_json:
        print_json(
            {
                "robot": body.name, "dofs": list(body.model.layout.velocity_names), "errors": dict(result.errors),
                "noise": result.noise, "parameters": dict(result.parameters), "identifiable": dict(result.identifiable),
                "standard_deviations": dict(result.standard_deviations), "notes": list(result.notes),
            }
        )  # fmt: skip
    else:
        echo(str(result))
    if report:
        result.report(report)
    if save:
        result.robot.save(Path(save))
    report_files(report, save)
