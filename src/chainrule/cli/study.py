"""`chainrule study`: what each joint must deliver in motions, drives for it, and a report."""

from __future__ import annotations

import math
import shlex
import sys
import warnings
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from chainrule.cli.console import (
    ConsoleTable,
    Loading,
    OneOf,
    OutputFile,
    PositiveNumber,
    RobotName,
    cluster_options,
    command,
    degrees_option,
    echo,
    json_option,
    loading_options,
    plain,
    print_json,
    report_files,
    terminal,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from distributed import Client

    from chainrule.simulation.trajectory import Trajectory
    from chainrule.study import JointStatistics, Result, Sizing, Subject, Trunk

HUMAN = "human_arm"
SEXES = ("male", "female", "both")
SIDES = ("right", "left", "both")
MARKER_FILES = (".trc", ".c3d", ".bvh")
FOR_ACTIVITIES = {"activities", "list_activities", "activities_file", "subjects", "variants", "pace", "rate", "seed"}
FOR_TABLES = {"columns", "constant"}
FOR_MARKERS = {"unit", "trunk", "up", "far_markers"}
FOR_PEOPLE = {"mass", "height", "sex", "side"}
FOR_DRIVES = {"motors", "objective", "safety", "follow", "controller"}
CONTROLLERS = ("computed-torque", "pd")
FOR_MANY_MOTIONS = {"cluster", "workers"}
ONE_MOTION = "studies of several motions, and there is one"
SPELLED = {"columns": "column", "list_activities": "list"}


@command(
    "chainrule study human-arm --activities all --report out.html",
    "chainrule study human-arm --activities drink_with_cup,comb_hair --subjects 5 --json",
    "chainrule study human-arm --activities 'Open door, comb hair' --tables",
    "chainrule study human-arm --list",
    "chainrule study human-arm --activities 2 --mass 60 --height 1.6 --sex female --side left",
    "chainrule study human-arm --activities drink_with_cup --subjects 8 --workers 2",
    "chainrule study panda --motion run.csv --degrees --report panda.html",
    keywords={"variants": "--variants", "motors": "--motors", "activities": "--activities"},
)
@click.argument("robot", type=RobotName())
@click.option(
    "--activities", default="all", show_default=True, help="Names, titles or numbers, with commas between, or all."
)
@click.option("--list", "list_activities", is_flag=True, help="Print the activities and do nothing else.")
@click.option("--activities-file", type=click.Path(exists=True, dir_okay=False), help="Other activities than the 24.")
@click.option(
    "--motion", "motions", multiple=True, type=click.Path(dir_okay=False), help="A recording, or markers; repeatable."
)
@click.option("--column", "columns", multiple=True, metavar="JOINT=COLUMN", help="The column of a joint in --motion.")
@click.option(
    "--constant",
    multiple=True,
    metavar="JOINT=NUMBER",
    help="A joint without column in --motion: rad or m; or home, neutral: all of them.",
)
@click.option("--cutoff", type=float, help="Frequency in Hz above which a recorded motion is noise; found if left out.")
@click.option("--unit", type=OneOf("unit", ("m", "cm", "mm", "in")), help="Of markers in --motion, if it does not say.")
@click.option("--trunk", metavar="LOW,HIGH,RIGHT,LEFT", help="Markers of the trunk's axis and shoulders in --motion.")
@click.option("--up", type=OneOf("axis", ("x", "y", "z", "-x", "-y", "-z")), help="The axis of markers that points up.")
@click.option("--far-markers", is_flag=True, help="Take markers however far they are from their points on the arm.")
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
@click.option(
    "--controller", type=OneOf("controller", CONTROLLERS), default=CONTROLLERS[0],
    help="For --follow: with the model of the arm, or without.",
)  # fmt: skip
@click.option("--tables", is_flag=True, help="Print a table of each activity too.")
@cluster_options
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

    _refuse_unused(robot, options)
    if options["list_activities"]:
        _list(robot, options["activities_file"], as_json)
        return
    result = _compute(robot, loading, options)
    sizing = balanced = followed = None
    if not options["no_drives"] and _can_be_driven(result):
        catalogue = library.drives(options["motors"])
        choose = {"objective": options["objective"], "safety": options["safety"]}
        sizing = library.size(result, catalogue, **choose)
        balanced = library.size(result, catalogue, balanced=True, **choose)
        if options["follow"]:
            followed = library.follow(result, sizing, controller=options["controller"].replace("-", "_"))
    if as_json:
        from chainrule.study.report.data import facts

        print_json(facts(result, sizing))
    else:
        _show(result, sizing, options["degrees"])
        for name in result.titles if options["tables"] else ():
            _show_activity(result, name, options["degrees"])
        for one in (followed or {}).values():
            echo(f"\n{one}")
    if report:
        title = f"Joint torques of {plain(Path(robot).stem)}"
        typed = {"Command": " ".join(["chainrule", *map(shlex.quote, sys.argv[1:])])}
        report_files(
            *library.write_report(
                result, report, title=title, sizing=sizing, balanced=balanced, followed=followed, settings=typed
            )
        )


def _refuse_unused(robot: str, options: dict[str, Any]) -> None:
    """Refuse options that would change nothing."""
    typed = click.get_current_context().get_parameter_source
    given = {name for name in options if typed(name) is ParameterSource.COMMANDLINE}
    markers = [Path(path).suffix.lower() in MARKER_FILES for path in options["motions"]]
    unused = []
    if options["motions"]:
        if len(options["motions"]) == 1:
            unused.append((FOR_MANY_MOTIONS, ONE_MOTION))
        unused.append((FOR_ACTIVITIES, "activities, and --motion has its own"))
        if all(markers):
            unused.append((FOR_TABLES, "tables of angles in --motion, and all files are markers"))
        if not any(markers):
            unused.append((FOR_MARKERS, "markers in --motion: .trc, .c3d or .bvh"))
        if not _is_human(robot):
            unused.append((FOR_PEOPLE, "human-arm"))
    else:
        unused.append((FOR_TABLES | FOR_MARKERS | {"cutoff"}, "--motion"))
    if not options["follow"]:
        unused.append(({"controller"}, "--follow"))
    if options["no_drives"]:
        unused.append((FOR_DRIVES, "drives, and there are none with --no-drives"))
    for names, what in unused:
        _refuse(names & given, what)


def _refuse(names: set[str], what: str) -> None:
    """Refuse options, if there are any, which belong to something else."""
    found = sorted("--" + SPELLED.get(name, name).replace("_", "-") for name in names)
    if found:
        raise click.UsageError(f"{', '.join(found)} {'belongs' if len(found) == 1 else 'belong'} to {what}")


def _is_human(robot: str) -> bool:
    return robot.replace("-", "_") == HUMAN


def _can_be_driven(result: Result) -> bool:
    """Whether drives can be sized; a note says why not."""
    robot = result.robot
    if robot.model.constraints or robot.nq != robot.nv:
        why = "it has closed loops or quaternions"
    elif len(result.sliding) == len(result.joints):
        why = "all of its joints slide, and drives turn"
    else:
        return True
    echo(f"note: no drives are chosen for {plain(robot.name)}: {why}", err=True)
    return False


def _compute(robot: str, loading: Loading, options: dict[str, Any]) -> Result:
    """The study that was asked for."""
    from chainrule import study as library
    from chainrule.cluster.client import connect

    if options["motions"]:
        subject = _person(options) if _is_human(robot) else library.Subject.of(loading.load(robot))
        with connect(options["cluster"], options["workers"]) as client:
            recorded = _read_motions(subject, options, client)
            return library.run(subject, motions=recorded, cluster=client)
    if not _is_human(robot):
        raise click.UsageError(f"activities are those of human-arm; give --motion FILE for {robot!r}")
    content = library.activities(options["activities_file"])
    chosen = content.choose(options["activities"])
    people: Sequence[Subject]
    if options["subjects"]:
        if options["mass"] or options["height"]:
            raise click.UsageError("--subjects draws masses and heights; leave out --mass and --height")
        people = library.population(options["subjects"], sex=options["sex"], side=options["side"], seed=options["seed"])
    else:
        people = [_person(options)]
    if len(people) * len(chosen) * options["variants"] == 1:
        _refuse(FOR_MANY_MOTIONS & {name for name, value in options.items() if value}, ONE_MOTION)
    source = library.Synthetic(
        people, content, chosen, variants=options["variants"], rate=options["rate"], pace=options["pace"],
        seed=options["seed"],
    )  # fmt: skip
    return library.Study(source).run(cluster=options["cluster"], workers=options["workers"])


class MotionFile(NamedTuple):
    """A recording or markers, as the command line describes them."""

    path: str
    columns: tuple[str, ...]
    constant: tuple[str, ...]
    degrees: bool | None
    cutoff: float | None
    unit: str | None
    trunk: Trunk | None
    up: str | None
    far_markers: bool

    def read(self, subject: Subject) -> tuple[Trajectory, list[str], list[Warning]]:
        """The motion, notes about it, and warnings."""
        from chainrule import study as library
        from chainrule.cli.motion_torques import DescribedMotion

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if Path(self.path).suffix.lower() in MARKER_FILES:
                markers = library.read_markers(self.path, unit=self.unit)
                solved = library.solve_markers(
                    subject, markers, trunk=self.trunk, up=self.up, cutoff=self.cutoff,
                    **({"max_distance": None} if self.far_markers else {}),
                )  # fmt: skip
                motion, notes = solved.trajectory, list(solved.notes)
            else:
                recording = DescribedMotion(self.path, self.columns, self.constant, self.degrees, self.cutoff, None)
                motion = recording.read(subject.robot)
                notes = list(motion.notes)
        return motion, notes, [one.message for one in caught if isinstance(one.message, Warning)]


def _read_motions(subject: Subject, options: dict[str, Any], client: Client | None) -> dict[str, Trajectory]:
    """The motions of all files, by name, read by whoever computes."""
    from chainrule.cluster.stream import run_tasks

    trunk = _trunk(options["trunk"])
    paths = [path if client is None else str(Path(path).resolve()) for path in options["motions"]]
    names = [Path(path).name for path in paths]
    files = [
        MotionFile(
            path, options["columns"], options["constant"], options["degrees"] or None, options["cutoff"],
            options["unit"], trunk, options["up"], options["far_markers"],
        )
        for path in paths
    ]  # fmt: skip
    recorded, told = {}, set[str]()
    for outcome in run_tasks(methodcaller("read", subject), files, client, doing="reading", unit="motions"):
        path = outcome.task.path
        if outcome.error is not None:
            hint = f"; workers read {path}: it must be there for them" if options["cluster"] else ""
            raise type(outcome.error)(f"{outcome.error}{hint}") from outcome.error
        assert outcome.value is not None
        motion, notes, warned = outcome.value
        for warning in warned:
            warnings.warn(warning, stacklevel=2)
        for note in dict.fromkeys(notes):
            if note not in told:
                echo(f"note: {note}", err=True)
        told |= {*notes}
        recorded[Path(path).name if names.count(Path(path).name) == 1 else path] = motion
    return recorded


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


def _list(robot: str, path: str | None, as_json: bool) -> None:
    """The activities of the bundled file, or of another one."""
    from chainrule import study as library

    if not _is_human(robot):
        raise click.UsageError(f"activities are those of human-arm; give --motion FILE for {robot!r}")
    content = library.activities(path)
    if as_json:
        print_json([{"number": one.number, "name": one.name, "title": one.title} for one in content.values()])
        return
    table = ConsoleTable("number", "title", "name", "duration, s", names=2)
    for one in content.values():
        table.add_row(str(one.number), one.title, one.name, f"{one.duration:.3g}")
    terminal().print(table)


def _show(result: Result, sizing: Sizing | None, degrees: bool) -> None:
    """A line for each joint, and the summary in sentences."""
    from chainrule.study.report.words import summary

    _print_joints(result, result.overall, degrees, sizing)
    for paragraph in summary(result, sizing):
        echo(paragraph)


def _show_activity(result: Result, name: str, degrees: bool) -> None:
    """A line for each joint in one activity."""
    echo(f"\n{plain(result.titles[name])}")
    _print_joints(result, {joint: result.cell(name, joint) for joint in result.joints}, degrees)


def _print_joints(
    result: Result, cells: Mapping[str, JointStatistics], degrees: bool, sizing: Sizing | None = None
) -> None:  # fmt: skip
    header = ("joint", "peak", "RMS", "unit", "speed", "power", *result.parts, *(() if sizing is None else ("drive",)))
    table = ConsoleTable(*header)
    for place in result.robot.model.layout.velocities:
        cell = cells[place.name]
        turns = place.unit == "rad"
        speed, unit = float(cell["speed"].peak), place.unit
        if turns and degrees:
            speed, unit = math.degrees(speed), "deg"
        drive = () if sizing is None else (_drive(sizing, place.name),)
        table.add_row(
            place.name, f"{cell.peak_torque:.4g}", f"{cell.rms_torque:.4g}",
            "N m" if turns else "N", f"{speed:.3g} {unit}/s",
            f"{cell['power'].maximum:.3g} W", *(f"{cell.share(part):.0%}" for part in result.parts), *drive,
        )  # fmt: skip
    terminal().print(table)


def _drive(sizing: Sizing, joint: str) -> str:
    if joint in sizing.sliding:
        return "none: it slides"
    choice = sizing.choices[joint]
    if choice.drive is None:
        return f"none is enough ({choice.limit} {choice.use:.0%})"
    return f"{choice.drive.name} ({choice.limit} {choice.use:.0%})"
