"""`chainrule study`: what each joint must deliver in motions, drives for it, and a report."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from chainrule.cli.console import (
    Loading,
    OneOf,
    OutputFile,
    PositiveNumber,
    RobotName,
    command,
    degrees_option,
    echo,
    json_option,
    loading_options,
    plain,
    print_json,
    report_file,
    terminal,
)

if TYPE_CHECKING:
    from chainrule.study import Result, Sizing, Subject, Trunk

HUMAN = "human_arm"
SEXES = ("male", "female", "both")
SIDES = ("right", "left", "both")
MARKER_FILES = (".trc", ".c3d", ".bvh")


@command(
    "chainrule study human-arm --activities all --report out.html",
    "chainrule study human-arm --activities drink_with_cup,comb_hair --subjects 5 --json",
    "chainrule study human-arm --activities 2 --mass 60 --height 1.6 --sex female --side left",
    "chainrule study panda --motion run.csv --degrees --report panda.html",
    keywords={"variants": "--variants", "motors": "--motors", "activities": "--activities"},
)
@click.argument("robot", type=RobotName())
@click.option("--activities", default="all", show_default=True, help="Names or numbers, with commas between, or all.")
@click.option("--activities-file", type=click.Path(exists=True, dir_okay=False), help="Other activities than the 24.")
@click.option(
    "--motion", "motions", multiple=True, type=click.Path(dir_okay=False), help="A recording, or markers; repeatable."
)
@click.option("--column", "columns", multiple=True, metavar="JOINT=COLUMN", help="The column of a joint in --motion.")
@click.option("--constant", multiple=True, metavar="JOINT=NUMBER", help="A joint without column in --motion: rad or m.")
@click.option("--cutoff", type=float, help="Frequency in Hz above which a recorded motion is noise; found if left out.")
@click.option("--unit", type=OneOf("unit", ("m", "cm", "mm", "in")), help="Of markers in --motion, if it does not say.")
@click.option("--trunk", metavar="LOW,HIGH,RIGHT,LEFT", help="Markers of the trunk's axis and shoulders in --motion.")
@click.option("--mass", type=PositiveNumber("kg"), help="Body mass; 75 kg if left out.")
@click.option("--height", type=PositiveNumber("m"), help="Body height; 1.75 m if left out.")
@click.option("--sex", type=OneOf("sex", SEXES), default="male", show_default=True, help="both: with --subjects.")
@click.option("--side", type=OneOf("side", SIDES), default="right", show_default=True, help="both: with --subjects.")
@click.option("--subjects", type=click.IntRange(1), help="So many people drawn from a survey, in place of one body.")
@click.option("--variants", type=click.IntRange(1), default=1, show_default=True, help="Motions of each activity.")
@click.option("--pace", type=PositiveNumber("times"), default=1.0, show_default=True, help="Factor of speed.")
@click.option("--rate", type=PositiveNumber("Hz"), default=1000.0, show_default=True, help="Samples a second.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Chooses people and variants.")
@click.option("--motors", type=click.Path(exists=True, dir_okay=False), help="Other motors and gears than the bundled.")
@click.option(
    "--objective", type=OneOf("objective", ("mass", "cost")), default="mass", help="What drives are chosen by."
)
@click.option("--safety", type=PositiveNumber("times"), default=1.2, show_default=True, help="Factor on all loads.")
@click.option("--no-drives", is_flag=True, help="Choose no drives.")
@click.option("--follow", is_flag=True, help="Follow the activities in simulation with the chosen drives.")
@click.option("--report", type=OutputFile(".html", ".pdf"), help="The page to write; numbers are written beside it.")
@degrees_option
@json_option
@loading_options
def study(robot: str, loading: Loading, report: str | None, as_json: bool, **options: Any) -> None:
    """Torques that motions take: statistics of every joint, drives that deliver them, and a report.

    ROBOT is human-arm, whose 24 activities of daily living are built in (synthetic motions, no recordings), or any
    other robot with --motion.
    """
    from chainrule import study as library

    result = _compute(robot, loading, options)
    sizing = balanced = followed = None
    if not options["no_drives"] and result.robot.nq == result.robot.nv and not result.robot.model.constraints:
        catalogue = library.drives(options["motors"])
        choose = {"objective": options["objective"], "safety": options["safety"]}
        sizing = library.size(result, catalogue, **choose)
        balanced = library.size(result, catalogue, balanced=True, **choose)
        if options["follow"]:
            followed = library.follow(result, sizing)
    if as_json:
        from chainrule.study.report.data import facts

        print_json(facts(result, sizing))
    else:
        _show(result, sizing)
    if report:
        title = f"Joint torques of {plain(Path(robot).stem)}"
        typed = {"Command": " ".join(["chainrule", *map(shlex.quote, sys.argv[1:])])}
        for path in library.write_report(
            result, report, title=title, sizing=sizing, balanced=balanced, followed=followed, settings=typed
        ):
            report_file(path)


def _compute(robot: str, loading: Loading, options: dict[str, Any]) -> Result:
    """The study that was asked for."""
    from chainrule import study as library
    from chainrule.cli.motion_torques import Recording

    is_human = robot.replace("-", "_") == HUMAN
    if options["motions"]:
        if options["subjects"] or options["variants"] > 1:
            raise click.UsageError("--subjects and --variants belong to activities; leave them out with --motion")
        subject = _person(options) if is_human else library.Subject.of(loading.load(robot))
        recorded = {}
        for path in options["motions"]:
            if Path(path).suffix.lower() in MARKER_FILES:
                markers = library.read_markers(path, unit=options["unit"])
                trunk = _trunk(options["trunk"])
                solved = library.solve_markers(subject, markers, trunk=trunk, cutoff=options["cutoff"])
                for note in solved.notes:
                    echo(f"note: {note}", err=True)
                recorded[Path(path).name] = solved.trajectory
                continue
            recording = Recording(
                path, options["columns"], options["constant"], options["degrees"] or None, options["cutoff"], None
            )
            recorded[Path(path).name] = recording.read(subject.robot)
        return library.run(subject, motions=recorded)
    if not is_human:
        raise click.UsageError(f"activities are those of human-arm; give --motion FILE for {robot!r}")
    if options["columns"] or options["constant"] or options["cutoff"]:
        raise click.UsageError("--column, --constant and --cutoff belong to --motion")
    content = library.activities(options["activities_file"])
    names = [word.strip() for word in options["activities"].split(",") if word.strip()]
    chosen = content.choose("all" if names == ["all"] else names)
    if options["subjects"]:
        if options["mass"] or options["height"]:
            raise click.UsageError("--subjects draws masses and heights; leave out --mass and --height")
        people = library.population(options["subjects"], sex=options["sex"], side=options["side"], seed=options["seed"])
    else:
        people = [_person(options)]
    source = library.Synthetic(
        people, content, chosen, variants=options["variants"], rate=options["rate"], pace=options["pace"],
        seed=options["seed"],
    )  # fmt: skip
    return library.Study(source).run()


def _trunk(names: str | None) -> Trunk | None:
    """Four names of markers, with commas between."""
    from chainrule.study import Trunk

    if names is None:
        return None
    words = [word.strip() for word in names.split(",")]
    if len(words) != 4 or not all(words):
        raise click.UsageError(f"--trunk takes four markers, LOW,HIGH,RIGHT,LEFT, got {names!r}")
    return Trunk(*words)


def _person(options: dict[str, Any]) -> Subject:
    from chainrule.study import Subject

    for name in ("sex", "side"):
        if options[name] == "both":
            raise click.UsageError(f"--{name} both is for several people: give --subjects")
    return Subject.human(options["mass"] or 75.0, options["height"] or 1.75, sex=options["sex"], side=options["side"])


def _show(result: Result, sizing: Sizing | None) -> None:
    """A line for each joint, and the summary in sentences."""
    from chainrule.study.report.words import summary

    table = Table("joint", "peak", "RMS", "unit", "speed", "power", "gravity", "drive", box=None, padding=(0, 1, 0, 0))
    for place in result.robot.layout.velocities:
        cell = result.overall[place.name]
        drive = "" if sizing is None else _drive(sizing, place.name)
        table.add_row(
            plain(place.name), f"{cell.peak_torque:.4g}", f"{cell.rms_torque:.4g}",
            "N m" if place.unit == "rad" else "N", f"{cell['speed'].peak:.3g} {place.unit}/s",
            f"{cell['power'].maximum:.3g} W", f"{cell.shares.get('gravity', 0.0):.0%}", plain(drive),
        )  # fmt: skip
    terminal().print(table)
    for paragraph in summary(result, sizing):
        echo(paragraph)


def _drive(sizing: Sizing, joint: str) -> str:
    choice = sizing.choices[joint]
    if choice.drive is None:
        return f"none is enough ({choice.limit} {choice.use:.0%})"
    return f"{choice.drive.name} ({choice.limit} {choice.use:.0%})"
