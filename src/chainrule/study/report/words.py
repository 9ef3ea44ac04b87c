"""The summary of a study, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chainrule.study.sizing import Sizing
from chainrule.study.study import Result


def name_of(joint: str) -> str:
    """A joint's name as words."""
    return joint.replace("_", " ")


def summary(result: Result, sizing: Sizing | None = None, balanced: Sizing | None = None) -> list[str]:
    """Paragraphs: who and what, the joint that needs most, gravity and dynamics, drives."""
    return [
        paragraph
        for paragraph in (_about(result), _loads(result), str(result.finding()), _drives(sizing, balanced))
        if paragraph
    ]


def _about(result: Result) -> str:
    first = next(iter(result.overall.values()))
    subjects = result.study.source.subject_count
    who = next(iter(result.examples.values())).subject.name if subjects == 1 else f"{subjects} subjects"
    made = "synthetic" if any(one.motion.synthetic for one in result.examples.values()) else "recorded"
    kinds = "one activity" if len(result.titles) == 1 else f"{len(result.titles)} activities"
    joints = "one joint" if len(result.joints) == 1 else f"{len(result.joints)} joints"
    motions = f"One {made} motion" if first.motions == 1 else f"{first.motions} {made} motions"
    within = "" if first.motions == 1 and made == "recorded" else f" in {kinds}"
    return f"{motions} of {who}{within}: {first.duration:.3g} s in all, {first['torque'].count:,} states of {joints}."


def _loads(result: Result) -> str:
    """The joints that turn, and those that slide, each by the largest torque or force."""
    turning = [joint for joint in result.joints if joint not in result.sliding]
    kinds = ((turning, "torque", "N m"), (result.sliding, "force", "N"))
    return " ".join(_largest(result, joints, what, unit) for joints, what, unit in kinds if joints)


def _largest(result: Result, joints: Sequence[str], what: str, unit: str) -> str:
    order = sorted((result.overall[joint] for joint in joints), key=lambda cell: cell.peak_torque, reverse=True)
    most = order[0]
    if not most.peak_torque:
        return f"No joint needs any {what}."
    where = max((cell for cell in result.cells if cell.joint == most.joint), key=lambda cell: cell.peak_torque)
    several = len(result.titles) > 1
    rest = ", ".join(f"{name_of(cell.joint)} {cell.peak_torque:.2g}" for cell in order[1:])
    return (
        f"The largest {what} is {most.peak_torque:.3g} {unit} in {name_of(most.joint)}"
        + (f", in {result.titles[where.activity]!r}" if several else "")
        + f"; its root mean square{' over all activities' if several else ''} is {most.rms_torque:.3g} {unit}, and "
        f"gravity makes up {most.shares.get('gravity', 0.0):.0%} of its terms."
        + (f" The peaks of the others, in {unit}: {rest}." if rest else "")
    )


def _drives(sizing: Sizing | None, balanced: Sizing | None) -> str:
    if sizing is None:
        return ""
    missing = [name_of(joint) for joint, choice in sizing.choices.items() if choice.drive is None]
    if missing:
        text = (
            f"No drive of {sizing.catalogue.name} is enough for {', '.join(missing)}; the others weigh "
            f"{sizing.mass:.3g} kg."
        )
    else:
        best = "lightest" if sizing.objective == "mass" else "cheapest"
        text = f"The {best} drives of {sizing.catalogue.name} that are enough weigh {sizing.mass:.3g} kg together."
    if sizing.sliding:
        text += f" They turn: for what slides ({', '.join(map(name_of, sizing.sliding))}) none is chosen."
    if balanced is not None:
        text += f" With springs that balance weight at every joint they would weigh {balanced.mass:.3g} kg" + (
            "." if balanced.complete else ", again not all of them being enough."
        )
    return text


def steps(result: Result, settings: Mapping[str, str]) -> list[str]:
    """Sentences about how the study was computed."""
    return [
        *result.study.source.describe(),
        "Torques are those of the recursive Newton-Euler algorithm, split into inertial, centrifugal, Coriolis and "
        "gravity terms; the dynamic torque is the sum of the first three.",
        "Boxes show quartiles and median; whiskers reach to the last sample within 1.5 interquartile ranges; crosses "
        "are outliers, of which some are drawn.",
        *(f"{key}: {value}." for key, value in settings.items()),
    ]
