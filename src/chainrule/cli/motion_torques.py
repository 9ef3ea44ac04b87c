"""Torques along a recorded motion, in one line for each joint: what `chainrule torque --motion` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from chainrule.arguments import Array
from chainrule.cli.console import ConsoleTable, echo, print_json, report_files, terminal, words_by_name
from chainrule.cli.joints import force_units
from chainrule.simulation.trajectory import Trajectory

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot


class DescribedMotion(NamedTuple):
    """A recorded motion, as the command line describes it."""

    path: str
    columns: tuple[str, ...]
    """JOINT=COLUMN each."""
    constant: tuple[str, ...]
    """JOINT=NUMBER each, or the name of the configuration in which all joints without a column stand."""
    degrees: bool | None
    cutoff: float | None
    tip_wrench: Array | None
    frame: str = "world"

    def read(self, robot: Robot) -> Trajectory:
        """The motion, with torques."""
        numbers: Any = {}
        posture = self.constant[0] if len(self.constant) == 1 and "=" not in self.constant[0] else None
        given = words_by_name("--constant", () if posture else self.constant, "elbow=0.5, or home")
        for name, text in given.items():
            try:
                numbers[name] = float(text)
            except ValueError:
                raise click.UsageError(f"--constant {name}={text}: {text!r} should be a number") from None
        return Trajectory.load(
            self.path,
            robot,
            columns=words_by_name("--column", self.columns, "elbow=q3"),
            constant=posture or numbers,
            degrees=self.degrees,
            cutoff=self.cutoff,
            tip_wrench=self.tip_wrench,
            frame=self.frame,
        )


def report(robot: Robot, recording: DescribedMotion, *, save: str | None, plot: str | None, as_json: bool) -> None:
    """Read a recorded motion, print the torques that it takes, and write it with them where asked."""
    motion = recording.read(robot)
    rows = summary(motion)
    if as_json:
        print_json(
            {
                "robot": robot.name, "samples": len(motion), "duration": motion.duration, "notes": list(motion.notes),
                "dofs": list(robot.model.layout.velocity_names), "torque_units": force_units(robot), **rows,
            }
        )  # fmt: skip
    else:
        for note in motion.notes:  # the table of what was assumed first
            echo(f"note: {note}")
        terminal().print(_table(motion, rows))
    if save:
        motion.save(save)
    if plot:
        motion.plot(plot)
    report_files(save, plot)


def summary(motion: Trajectory) -> dict[str, Any]:
    """The largest magnitudes of each degree of freedom, and the cause of the largest torque."""
    limits, tau = motion.robot.limits, np.abs(motion.tau)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = tau.max(axis=0) / limits.effort
    causes = {name: values for name, values in motion.terms.items() if name != "total"}
    at = tau.argmax(axis=0)
    main = [max(causes, key=lambda name: abs(causes[name][at[i], i])) for i in range(motion.robot.nv)]
    return {
        "peak_torque": tau.max(axis=0),
        "time_of_peak": motion.t[at],
        "rms_torque": np.sqrt(np.mean(tau**2, axis=0)),
        "share_of_limit": np.where(np.isfinite(limits.effort), share, np.nan),
        "main_cause": main,
        "peak_speed": np.abs(motion.qd).max(axis=0),
        "peak_acceleration": np.abs(motion.qdd).max(axis=0),
        "peak_power": np.abs(motion.power).max(axis=0),
    }


def _table(motion: Trajectory, rows: dict[str, Any]) -> ConsoleTable:
    robot = motion.robot
    table = ConsoleTable(
        "joint", "peak", "at", "rms", "unit", "of limit", "mostly", "speed", "acceleration", "power",
        title=f"{len(motion)} samples, {motion.duration:.4g} s",
    )  # fmt: skip
    for i, velocity in enumerate(robot.model.layout.velocities):
        share = rows["share_of_limit"][i]
        table.add_row(
            velocity.name, f"{rows['peak_torque'][i]:.4g}", f"{rows['time_of_peak'][i]:.4g} s",
            f"{rows['rms_torque'][i]:.4g}", "N m" if velocity.unit == "rad" else "N",
            "" if np.isnan(share) else f"{100 * share:.0f} %", rows["main_cause"][i],
            f"{rows['peak_speed'][i]:.4g} {velocity.unit}/s", f"{rows['peak_acceleration'][i]:.4g} {velocity.unit}/s^2",
            f"{rows['peak_power'][i]:.4g} W",
        )  # fmt: skip
    return table
