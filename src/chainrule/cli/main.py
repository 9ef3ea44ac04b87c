"""The command line: `chainrule info | pose | ik | workspace | torque | simulate | equations | demo | ..`."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import click

from chainrule import __version__
from chainrule.errors import ChainruleError, ModelWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from chainrule.robot.robot import Robot


class Numbers(click.ParamType[object]):
    """Numbers separated by commas or spaces, such as "0.1,0.2" or "0 90"."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> NDArray[np.float64] | None:
        """The numbers as an array."""
        import numpy as np

        if value is None or isinstance(value, np.ndarray):
            return value
        words = str(value).replace(",", " ").split()
        try:
            return np.array([float(word) for word in words])
        except ValueError:
            self.fail(f"{value!r} should be numbers separated by commas, such as 0.1,0.2,0.3", param, ctx)


NUMBERS = Numbers()


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="chainrule")
def cli() -> None:
    """Kinematics and dynamics of robots.

    ROBOT is a bundled robot's name or a file: .urdf, .xml (URDF or MJCF), .toml or .json.
    """


@cli.command()
@click.argument("robot", required=False)
def info(robot: str | None) -> None:
    """Show a robot: its tree, joints, limits, masses and where its numbers come from. Without ROBOT, list them."""
    from chainrule.cli import console

    if robot is None:
        console.bundled()
    else:
        console.info(_load(robot))


@cli.command()
@click.argument("robot")
@click.option("--q", type=NUMBERS, help="Positions, rad or m; zero if left out.")
@click.option("--qd", type=NUMBERS, help="Velocities.")
@click.option("--qdd", type=NUMBERS, help="Accelerations.")
@click.option("--tip-wrench", type=NUMBERS, help="Moment and force of the end-effector on its surroundings, 6 numbers.")
@click.option("--degrees", is_flag=True, help="Angles, and their rates, are in degrees.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def torque(
    robot: str,
    q: NDArray[np.float64] | None,
    qd: NDArray[np.float64] | None,
    qdd: NDArray[np.float64] | None,
    tip_wrench: NDArray[np.float64] | None,
    degrees: bool,
    as_json: bool,
) -> None:
    """Joint torques of a state, by their causes: inertial, centrifugal, Coriolis, gravity, friction."""
    import numpy as np

    from chainrule.cli import console

    loaded = _load(robot)
    state = [
        loaded.neutral() if q is None else q,
        np.zeros(loaded.n) if qd is None else qd,
        np.zeros(loaded.n) if qdd is None else qdd,
    ]
    if degrees:
        state = [console.in_radians(loaded, values) for values in state]
    console.torque(loaded, *state, tip_wrench=tip_wrench, as_json=as_json)


@cli.command()
@click.argument("robot")
@click.option(
    "--q0", type=NUMBERS, help="Where it starts, rad or m; zero if left out, or the nearest within the limits."
)
@click.option("--qd0", type=NUMBERS, help="Velocities at the start; at rest if left out.")
@click.option("--duration", default=5.0, show_default=True, help="Seconds to simulate.")
@click.option("--method", default="rk4", show_default=True, help="The integrator.")
@click.option("--dt", default=1e-3, show_default=True, help="Its step, in s.")
@click.option("--record-every", default=1, show_default=True, help="Steps between two samples.")
@click.option("--torque", type=NUMBERS, help="Constant torques.")
@click.option("--controller", help="gravity, pd, pid, computed-torque, impedance or operational-space.")
@click.option("--target", type=NUMBERS, help="Where the controller brings the robot, as joint positions.")
@click.option("--kp", type=float, help="The controller's stiffness.")
@click.option("--ki", type=float, help="The gain of its integral.")
@click.option("--kd", type=float, help="Its damping.")
@click.option("--payload", type=float, help="Kilograms at the end-effector that the controller does not know of.")
@click.option("--stops", type=NUMBERS, help="Stiffness and damping of stops at the joint limits.")
@click.option("--restitution", type=float, help="Hard stops at the joint limits: the share of speed they return.")
@click.option("--no-torque-limits", is_flag=True, help="Let torques exceed the joints' effort limits.")
@click.option("--degrees", is_flag=True, help="Angles, and their rates, are in degrees.")
@click.option("--plot", type=click.Path(dir_okay=False), help="A picture to write: .png, .pdf or .svg.")
@click.option("--save", type=click.Path(dir_okay=False), help="A file for the motion: .npz, .csv or .parquet.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def simulate(robot: str, plot: str | None, save: str | None, as_json: bool, **options: Any) -> None:
    """Simulate a robot from a start: free, under constant torques, or under a controller."""
    from chainrule.cli import console
    from chainrule.cli.simulate import run
    from chainrule.plots.trajectory import refuse_unwritable
    from chainrule.simulation.files import format_of

    if save:  # before the work, not after it
        format_of(save)
    if plot:
        refuse_unwritable(plot)
    motion = run(_load(robot), **options)
    console.motion(motion, as_json=as_json)
    if plot:
        motion.plot(plot)
        click.echo(f"written: {plot}", err=True)
    if save:
        motion.save(save)
        click.echo(f"written: {save}", err=True)


@cli.command()
@click.argument("robot")
@click.option("--q", type=NUMBERS, help="Positions, rad or m; zero if left out.")
@click.option("--link", help="A link or frame; the end-effector if left out.")
@click.option("--order", default="rpy", show_default=True, help="Of the angles: rpy, or moving axes such as zyz.")
@click.option("--degrees", is_flag=True, help="Angles are in degrees, those that are printed too.")
@click.option("--plot", type=click.Path(dir_okay=False), help="A picture of the posture to write: .png, .pdf or .svg.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def pose(
    robot: str,
    q: NDArray[np.float64] | None,
    link: str | None,
    order: str,
    degrees: bool,
    plot: str | None,
    as_json: bool,
) -> None:
    """Pose of the end-effector, or of a link or frame: matrix, position and angles, and how near a singularity is."""
    from chainrule.cli import console, report

    loaded = _load(robot)
    at = loaded.neutral() if q is None else console.in_radians(loaded, q) if degrees else q
    report.pose(loaded, at, link, order, degrees=degrees, as_json=as_json)
    if plot:
        loaded.plot(at, plot, link=link, ellipsoids=("velocity",))
        click.echo(f"written: {plot}", err=True)


@cli.command()
@click.argument("robot")
@click.option("--xyz", type=NUMBERS, help="Where to, in m, in the base frame.")
@click.option("--rpy", type=NUMBERS, help="Roll, pitch and yaw to reach; any orientation if left out.")
@click.option("--q0", type=NUMBERS, help="Where the search begins; anywhere if left out.")
@click.option("--link", help="A link or frame; the end-effector if left out.")
@click.option("--method", default="lm", show_default=True, help="lm, newton, pseudo_inverse or transpose.")
@click.option("--all", "every_branch", is_flag=True, help="All solutions in closed form, for arms that have one.")
@click.option("--ignore-limits", is_flag=True, help="Let joints go beyond their limits.")
@click.option("--degrees", is_flag=True, help="Angles are in degrees, those that are printed too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def ik(robot: str, **options: Any) -> None:
    """Joint positions that bring the end-effector, or a link or frame, where it is wanted. Exits with 2 if none do."""
    from chainrule.cli.ik import report

    if not report(_load(robot), **options):
        sys.exit(2)


@cli.command()
@click.argument("robot")
@click.option("--samples", default=1_000_000, show_default=True, help="Random postures.")
@click.option("--link", help="A link or frame; the end-effector if left out.")
@click.option(
    "--colour",
    default="manipulability",
    show_default=True,
    type=click.Choice(["manipulability", "payload", "dexterity"]),
    help="What the picture shows by colour.",
)
@click.option("--seed", default=0, show_default=True, help="Of the random postures.")
@click.option("--plot", type=click.Path(dir_okay=False), help="A picture to write: .png, .pdf or .svg.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def workspace(
    robot: str, samples: int, link: str | None, colour: str, seed: int, plot: str | None, as_json: bool
) -> None:
    """The reachable workspace from random postures: its bounds, volume and best places."""
    from chainrule.cli import report
    from chainrule.plots.trajectory import refuse_unwritable

    if plot:
        refuse_unwritable(plot)
    cloud = _load(robot).workspace(samples, link, rng=seed)
    report.workspace(cloud, as_json=as_json)
    if plot:
        cloud.plot(plot, colour=colour)
        click.echo(f"written: {plot}", err=True)


def _file(name: str, ending: str) -> Callable[[Any], Any]:
    """An option that prints a format, or writes it to a file."""
    return click.option(
        f"--{name}",
        is_flag=False,
        flag_value="-",
        metavar="[FILE]",
        help=f"Print {name}, or write it to FILE.{ending}.",
    )


@cli.command()
@click.argument("robot")
@_file("latex", "tex")
@_file("html", "html")
@_file("markdown", "md")
@_file("notebook", "ipynb")
@click.option("--code", help="Print source code instead: c, numpy, octave, julia or modelica.")
@click.option("--derivation", help="Step by step: newton-euler, lagrange or closed-form.")
@click.option("--parameters", default="symbolic", show_default=True, help="Masses and lengths: symbolic or numeric.")
@click.option("--shorthand", is_flag=True, help="Write c12 for cos(q1 + q2).")
@click.option("--q", type=NUMBERS, help="Positions for the numbers in a derivation.")
@click.option("--qd", type=NUMBERS, help="Velocities for them.")
@click.option("--qdd", type=NUMBERS, help="Accelerations for them.")
def equations(
    robot: str,
    latex: str | None,
    html: str | None,
    markdown: str | None,
    notebook: str | None,
    q: NDArray[np.float64] | None,
    qd: NDArray[np.float64] | None,
    qdd: NDArray[np.float64] | None,
    **options: Any,
) -> None:
    """Print a robot's equations of motion, or write them to files, with their derivation on request."""
    from chainrule.cli.equations import run

    files = {"latex": latex, "html": html, "markdown": markdown, "notebook": notebook}
    printed, written = run(_load(robot), files, state=(q, qd, qdd), **options)
    for text in printed:
        click.echo(text)
    for path in written:
        click.echo(f"written: {path}", err=True)


@cli.command()
@click.argument("robot", default="panda")
def demo(robot: str) -> None:
    """A tour in seconds: a robot's tree, its mass matrix, torques, and three identities checked."""
    from chainrule.cli import console

    console.demo(_load(robot))


@cli.command()
@click.argument("robot")
@click.option("--target", default="c", show_default=True, help="The language to write.")
@click.option("--function", "functions", multiple=True, help="A function, by the name of its method; may be repeated.")
@click.option("--output", "-o", required=True, type=click.Path(dir_okay=False), help="The file to write, ending in .c.")
def export(robot: str, target: str, functions: tuple[str, ...], output: str) -> None:
    """Write a robot's functions as source code without dependencies."""
    for path in _load(robot).export(target, functions=functions or ("inverse_dynamics",), path=output):
        click.echo(path)


@cli.command()
@click.argument("robot", default="panda")
@click.option("--states", default=131_072, show_default=True, help="States in a batch.")
@click.option("--seconds", default=0.5, show_default=True, help="Time for each figure.")
@click.option("--quick", is_flag=True, help="Leave out the growth with joints and batch size.")
@click.option("--output", type=click.Path(file_okay=False), help="A folder for the figures, as JSON and a plot.")
def bench(robot: str, states: int, seconds: float, quick: bool, output: str | None) -> None:
    """Measure speed, beside Pinocchio, MuJoCo and modern_robotics where they are installed."""
    from pathlib import Path

    from chainrule.cli import bench as benchmark

    results = benchmark.run(robot, states=states, seconds=seconds, quick=quick)
    benchmark.show(results)
    if output:
        for path in benchmark.save(results, Path(output)):
            click.echo(f"written: {path}")


@cli.command()
@click.option("--clear", is_flag=True, help="Remove all entries.")
def cache(clear: bool) -> None:
    """Show the compiled kernels kept on disk, or remove them."""
    from chainrule.compile.load import cache as kernels

    if clear:
        click.echo(f"removed {kernels.clear()} kernels from {kernels.folder()}")
        return
    stored = kernels.entries()
    for path in stored:
        facts = kernels.facts_of(path)
        label = f"{facts['function']} of {facts['robot']}, float{facts['bits']}" if facts else "unreadable"
        click.echo(f"{path.stat().st_size / 1024:8.0f} KiB  {label!r}")
    total = sum(path.stat().st_size for path in stored)
    click.echo(f"{len(stored)} kernels, {total / 2**20:.1f} MiB, in {kernels.folder()}")


def _load(name: str) -> Robot:
    from chainrule.robot.library import load

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        robot = load(name)
    for warning in caught:
        click.echo(f"warning: {warning.message}", err=True)
    return robot


def main() -> NoReturn:
    """Run the command line; what chainrule refuses is printed as one line, not as a traceback."""
    try:
        code = cli(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        click.echo("interrupted", err=True)
        code = 130
    except (ChainruleError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        code = 1
    sys.exit(code)


if __name__ == "__main__":
    main()
