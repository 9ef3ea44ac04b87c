"""The summary of a study, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

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
    subjects = {subject.name for motions in result.kept.states.values() for subject, _ in motions}
    who = next(iter(subjects)) if len(subjects) == 1 else f"{len(subjects)} subjects"
    made = "synthetic" if any(one.motion.synthetic for one in result.examples.values()) else "recorded"
    kinds = "one activity" if len(result.titles) == 1 else f"{len(result.titles)} activities"
    return (
        f"{first.motions} {made} motions of {who} in {kinds}: {first.duration:.3g} s in all, "
        f"{first['torque'].count:,} states of {len(result.joints)} joints."
    )


def _loads(result: Result) -> str:
    order = sorted(result.overall.values(), key=lambda cell: cell.peak_torque, reverse=True)
    most = order[0]
    where = max((cell for cell in result.cells if cell.joint == most.joint), key=lambda cell: cell.peak_torque)
    share = most.shares.get("gravity", 0.0)
    rest = ", ".join(f"{name_of(cell.joint)} {cell.peak_torque:.2g}" for cell in order[1:])
    return (
        f"The largest torque is {most.peak_torque:.3g} N m in {name_of(most.joint)}, in "
        f"{result.titles[where.activity]!r}; its root mean square over all activities is {most.rms_torque:.3g} N m, "
        f"and {share:.0%} of its terms is gravity." + (f" The peaks of the others, in N m: {rest}." if rest else "")
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
        text = f"The lightest drives of {sizing.catalogue.name} that are enough weigh {sizing.mass:.3g} kg together."
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
