"""The summary of a study, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from chainrule.study.sizing import Sizing
from chainrule.study.statistics import JointStatistics
from chainrule.study.study import Result
from chainrule.study.torques import DYNAMIC

LEAST_SHARE = 0.005
"""Terms whose share is less are not named."""


def name_of(joint: str) -> str:
    """A joint's name as words."""
    return joint.replace("_", " ")


def number(value: float, largest: float = 0.0) -> str:
    """A number with three digits and no exponent; 0 below a ten-thousandth of the largest it stands beside.

    >>> number(1.88e-06), number(1.88e-06, 2.0), number(9.8349), number(12345.6)
    ('0.00000188', '0', '9.83', '12300')
    """
    if not np.isfinite(value):
        return "∞" if value > 0 else "-∞" if value < 0 else ""
    if abs(value) < 1e-4 * largest:
        return "0"
    return np.format_float_positional(float(f"{value:.3g}"), trim="-")


def cards(result: Result, sizing: Sizing | None = None) -> list[tuple[str, str, str]]:
    """The answer at a glance: what it is, its value, and where or of what."""
    turning = [joint for joint in result.joints if joint not in result.sliding]
    found = []
    for joints, what, unit in ((turning, "torque", "N m"), (result.sliding, "force", "N")):
        if joints:
            cell = max((c for c in result.cells if c.joint in joints), key=lambda cell: cell.peak_torque)
            rms = result.overall[cell.joint].rms_torque
            found += [
                (f"Largest {what}", f"{number(cell.peak_torque)} {unit}", _where(result, cell)),
                (f"Root mean square of this {what}", f"{number(rms)} {unit}", _in_all(result)),
            ]
    fastest = max(result.cells, key=lambda cell: float(cell["power"].maximum))
    found.append(("Largest power", f"{number(float(fastest['power'].maximum))} W", _where(result, fastest)))
    ratios = gravity_ratios(result, "peak")
    if ratios:
        by_rms = gravity_ratios(result, "rms")
        found.append((
            "Gravity beside dynamics", f"{_span(ratios)} times",
            f"by the peaks of {'each joint' if len(result.joints) > 1 else 'the joint'}; {_span(by_rms)} times by RMS",
        ))  # fmt: skip
    if sizing is not None and sizing.drives:
        chosen = len(sizing.drives)
        rest = "" if sizing.complete else f"; none is enough for {len(sizing.choices) - chosen}"
        found.append(("Drives", f"{number(sizing.mass)} kg", f"for {chosen} of {len(result.joints)} joints{rest}"))
    return found


def gravity_ratios(result: Result, measure: str) -> list[float]:
    """Gravity over dynamic torque of the joints on which both act, over all activities, from the least."""
    pairs = [(getattr(c["gravity"], measure), getattr(c["dynamic"], measure)) for c in result.overall.values()]
    least = 1e-6 * max((max(pair) for pair in pairs), default=0.0)
    return sorted(float(gravity / dynamic) for gravity, dynamic in pairs if min(gravity, dynamic) > least)


def _span(ratios: Sequence[float]) -> str:
    low, high = f"{ratios[0]:.2g}", f"{ratios[-1]:.2g}"
    low, high = number(float(low)), number(float(high))
    return low if low == high else f"{low} to {high}"


def _where(result: Result, cell: JointStatistics) -> str:
    return name_of(cell.joint) + (f", {result.titles[cell.activity]}" if len(result.titles) > 1 else "")


def _in_all(result: Result) -> str:
    return "over all activities" if len(result.titles) > 1 else "over the whole motion"


def terms_of(result: Result, part: str) -> list[str]:
    """The terms in words that a part of the torque is the sum of, those that occur."""
    names = {
        "gravity": ("gravity",), "dynamic": DYNAMIC, "contact": ("contact",),
        "other": tuple(name for name in result.terms if name not in ("gravity", *DYNAMIC, "contact")),
    }[part]  # fmt: skip
    return ["Coriolis" if name == "coriolis" else name for name in names]


def summary(result: Result, sizing: Sizing | None = None, balanced: Sizing | None = None) -> list[str]:
    """Paragraphs: who and what, the joint that needs most, gravity and dynamics, drives."""
    paragraphs = (
        _about(result),
        _loads(result),
        _further(result),
        _beside(result),
        result.finding().sentence({joint: name_of(joint) for joint in result.joints}, result.titles),
        _drives(sizing, balanced),
    )
    return [paragraph for paragraph in paragraphs if paragraph]


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
        + f"; its root mean square{' over all activities' if several else ''} is {most.rms_torque:.3g} {unit}. Its "
        f"terms by their mean magnitudes: {_in_percent(most)}."
        + (f" The peaks of the others, in {unit}: {rest}." if rest else "")
    )


def _in_percent(cell: JointStatistics) -> str:
    """The shares of the terms, the largest first; those below half a percent are left out."""
    order = sorted(cell.shares.items(), key=lambda pair: pair[1], reverse=True)
    return ", ".join(
        f"{'Coriolis' if name == 'coriolis' else name} {share:.0%}" for name, share in order if share >= LEAST_SHARE
    )


def _further(result: Result) -> str:
    """Contact and other parts of the torque, at the joint and the activity where they matter most."""
    return " ".join(_part(result, part) for part in result.parts if part not in ("gravity", "dynamic"))


def _part(result: Result, part: str) -> str:
    most = max(result.cells, key=lambda cell: cell.share(part))
    what = "contact (the force of the hand on its surroundings)"
    if part == "other":
        what = ", ".join(terms_of(result, part))
    unit = "N" if most.joint in result.sliding else "N m"
    return (
        f"{what[0].upper()}{what[1:]} makes up to {most.share(part):.0%} of all terms: in {name_of(most.joint)}, in "
        f"{result.titles[most.activity]!r}, with a peak of {most[part].peak:.3g} {unit}."
    )


def _beside(result: Result) -> str:
    """Gravity over dynamics by both measures: over all joints on which both act, from the least to the most."""
    peaks, means = gravity_ratios(result, "peak"), gravity_ratios(result, "rms")
    if not peaks:
        return ""
    several = f" {_in_all(result)}, from joint to joint" if len(peaks) > 1 else f" {_in_all(result)}"
    return (
        f"Gravity is {_span(peaks)} times dynamics by peaks{several}: the largest torque of gravity over the largest "
        "of the inertial, centrifugal and Coriolis terms together. By root mean squares of the same two torques it is "
        f"{_span(means)} times dynamics."
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
        "Torques are those of the recursive Newton-Euler algorithm, split into terms, which add up to the total: "
        f"{', '.join(name for part in result.parts for name in terms_of(result, part))}. The dynamic torque is the sum "
        "of inertial, centrifugal and Coriolis torques."
        + (" Contact is what the force of the hand on its surroundings takes." if "contact" in result.parts else ""),
        "Boxes show quartiles and median; whiskers reach to the last sample within 1.5 interquartile ranges; crosses "
        "are outliers, of which some are drawn.",
        *(f"{key}: {value}." for key, value in settings.items()),
    ]
