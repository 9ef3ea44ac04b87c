"""Checks of a model, each a generator of findings. What is plausible stands as constants, with their reasons."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from chainrule.arguments import Array
from chainrule.core.validation import inspect
from chainrule.doctor.findings import Finding, Severity, name_all
from chainrule.doctor.pairs import pairs
from chainrule.doctor.sizes import Extent, extents, reach
from chainrule.formats import packages
from chainrule.model import Dof, Joint, Link, Model, ModelProblem
from chainrule.model.geometry import Mesh
from chainrule.spatial.physical import principal_axes

MAX_DENSITY = 30_000.0
"""kg/m^3: osmium, the densest metal, has 22,600."""

MAX_ROBOT_DENSITY = 2_000.0
"""kg/m^3: mass of a robot per cube of its reach. Real arms have 5 to 300."""

MAX_REACH = 60.0
"""m: the reach from which lengths are taken for millimeters."""

MAX_ANGLE = 13.0
"""rad: a limit just over two turns; larger ones are taken for degrees, up to MAX_DEGREES."""

MAX_DEGREES = 3600.0
"""The largest limit that is taken for degrees; larger ones stand for "none"."""

SMALL = 1e-3
"""The part of mass times reach squared below which an inertia makes no difference to the robot."""

MAX_UNKNOWN = 3.0
"""m: how far a center of mass may be from the origin of a link of which no length is known."""

MAX_FACTOR = 3.0
"""How much larger than its link a radius of gyration may be."""

MASS_TOLERANCE, INERTIA_TOLERANCE = 0.02, 0.1
"""Relative differences between left and right that pass."""


def problems(model: Model) -> Iterator[Finding]:
    """The problems of the file, and those of the model's numbers."""
    ranks: dict[str, Severity] = {"fatal": "serious", "problem": "serious", "doubt": "suspicious", "note": "note"}
    for problem in (*model.problems, *inspect(model)[1]):
        element = problem.element or "the robot"
        why = "" if problem.is_repaired else problem.meaning
        rank = "note" if problem.is_repaired else ranks[problem.severity]
        yield Finding(rank, element, _what(problem), why, f"repair=True: {problem.repair}" if problem.repair else "")


def _what(problem: ModelProblem) -> str:
    return f"{problem.message}; repaired" if problem.is_repaired else problem.message


def inertias(model: Model) -> Iterator[Finding]:
    """Inertias that do not fit the mass and the size of their link."""
    far, sizes = reach(model), extents(model)
    total = sum(max(float(link.mass), 0.0) for link in model.links[1:])
    for link in model.links[1:]:
        if not link.mass > 0 or not any(link.inertia.entries()):
            continue
        element = f"link {link.name!r}"
        moments = principal_axes(link.inertia)[0]
        if not moments[-1] > 0:
            continue
        if link.inertia.entries() == (1, 1, 1, 0, 0, 0):
            yield Finding(
                "suspicious", element, f"has the inertia 1, 1, 1 kg m^2 at a mass of {link.mass:g} kg",
                "It is the placeholder that exporters write; torques and accelerations are those of a large body",
                "Give it the inertia of its shape",
            )  # fmt: skip
        gyration = math.sqrt(moments[-1] / link.mass)
        yield from _gyration(element, gyration, sizes[link.name], far, bool(moments[-1] > SMALL * total * far * far))
        yield from _density(element, link, moments, sizes[link.name], bool(link.mass > 10 * SMALL * total))


def _gyration(element: str, gyration: float, extent: Extent, far: float, matters: bool) -> Iterator[Finding]:
    """A radius of gyration larger than the link, or than the whole robot; `matters` where the robot feels it."""
    if extent.is_geometry and extent.diagonal > 0 and gyration > MAX_FACTOR * extent.diagonal:
        yield Finding(
            ("serious" if gyration > 10 * extent.diagonal else "suspicious") if matters else "note", element,
            f"has a radius of gyration of {gyration:.3g} m, and its shape is {extent.diagonal:.3g} m large",
            "Its inertia is too large for its mass and size, and so are the torques that turn it",
            "Check the units of its inertia (kg m^2) and of its mass (kg)",
        )  # fmt: skip
    elif far > 0 and gyration > max(far, 0.1):
        yield Finding(
            "serious" if gyration > MAX_FACTOR * max(far, 0.1) else "suspicious", element,
            f"has a radius of gyration of {gyration:.3g} m, and the whole robot reaches {far:.3g} m",
            "Its inertia is too large for its mass, and so are the torques that turn it",
            "Check the units of its inertia (kg m^2, not g mm^2) and of its mass (kg)",
        )  # fmt: skip


def _density(element: str, link: Link, moments: Array, extent: Extent, matters: bool) -> Iterator[Finding]:
    """A mass too large for the shape, or an inertia too small for the mass; `matters` where the robot feels it."""
    if extent.is_geometry and extent.volume > 0 and link.mass / extent.volume > MAX_DENSITY:
        yield Finding(
            "serious" if matters else "note", element,
            f"weighs {link.mass:g} kg in a box of {extent.volume * 1000:.3g} liters: "
            f"{link.mass / extent.volume:.3g} kg/m^3, denser than any metal",
            "Its weight and its torques are too large",
            "Check whether its mass is given in grams, or its shape in other units than m",
        )  # fmt: skip
        return
    squares = np.maximum(6 * (moments.sum() - 2 * moments) / link.mass, 0.0)  # of the sides of a box with this inertia
    volume = float(np.prod(np.sqrt(squares)))
    if volume > 0 and link.mass / volume > 10 * MAX_DENSITY and link.mass > 0.05:
        yield Finding(
            "suspicious", element,
            f"has the inertia of a box of {volume * 1e6:.3g} cm^3 at {link.mass:g} kg: {link.mass / volume:.3g} kg/m^3",
            "Its inertia is too small for its mass: accelerations come out too large",
            "Check the unit of its inertia (kg m^2), or whether it was left at a placeholder",
        )  # fmt: skip


def units(model: Model) -> Iterator[Finding]:
    """Masses that look like grams, lengths like millimeters, angles like degrees."""
    far, mass = reach(model), sum(float(link.mass) for link in model.links[1:])
    if far > MAX_REACH:
        yield Finding(
            "serious", "the robot", f"reaches {far:.4g} m; {far / 1000:.4g} m if its lengths are in millimeters",
            "Poses, and torques of gravity, are a thousand times too large",
            "Give lengths in m: scale the origins of joints and links by 0.001",
        )  # fmt: skip
    elif far > 0 and mass > 10 and mass > MAX_ROBOT_DENSITY * far**3:
        yield Finding(
            "serious", "the robot", f"weighs {mass:.4g} kg and reaches {far:.3g} m; {mass / 1000:.4g} kg if its masses "
            "are in grams",
            "Torques are a thousand times too large",
            "Give masses in kg, and inertias in kg m^2",
        )  # fmt: skip
    turning = [(joint, dof) for joint in model.joints for dof in joint.dofs if joint.kind.units == ("rad",)]
    for joint, dof in turning:
        wide = [x for x in (dof.lower, dof.upper) if MAX_ANGLE < abs(x) <= MAX_DEGREES]
        if wide and joint.kind.name != "continuous":
            x = max(wide, key=abs)
            yield Finding(
                "serious", f"joint {joint.name!r}",
                f"has a limit of {x:g} rad, which is {abs(x) / (2 * math.pi):.1f} turns; "
                f"{math.radians(x):.4g} rad if it is in degrees",
                "The joint counts as free to turn far beyond its stops",
                "Give limits in rad",
            )  # fmt: skip


def centers(model: Model) -> Iterator[Finding]:
    """Centers of mass far outside their link."""
    far, sizes = reach(model), extents(model)
    for link in model.links[1:]:
        if not link.mass > 0:
            continue
        com = np.array(list(link.com), dtype=float)
        extent = sizes[link.name]
        away = extent.distance(com)
        if extent.is_geometry:
            limit, size = 0.5 * extent.diagonal + 0.02, f"its shape, {extent.diagonal:.3g} m large"
        else:
            limit = max(extent.diagonal, 0.8 * far) + 0.2 if far > 0 else MAX_UNKNOWN
            size = f"the joints on it, {extent.diagonal:.3g} m apart"
        if away > limit:
            yield Finding(
                "serious" if away > MAX_FACTOR * limit else "suspicious", f"link {link.name!r}",
                f"has its center of mass at ({com[0]:.3g}, {com[1]:.3g}, {com[2]:.3g}) m, {away:.3g} m from {size}",
                "Its weight acts with a wrong lever: torques of gravity are too large",
                "Check whether it is in m, and in the link's own frame",
            )  # fmt: skip


def limits(model: Model) -> Iterator[Finding]:
    """Limits that are missing, that let nothing move, or that leave the neutral configuration outside."""
    groups: dict[str, list[str]] = defaultdict(list)
    for joint in model.moving:
        for dof in joint.dofs:
            _sort(groups, joint, dof)
    for key, severity, what, why, advice in (
        ("stuck", "suspicious", "has equal lower and upper limits", "It cannot move",
         "Give the range, or make the joint fixed"),
        ("unlimited", "note", "has no lower and upper limit",
         "Random states, inverse kinematics and plans use any position",
         "Give the range, or make the joint continuous"),
        ("slow", "note", "has no velocity limit", "Timings of motions are not bounded by it",
         "Give the speed, in rad/s or m/s"),
        ("strong", "note", "has no effort limit", "Torques are not cut off, and capacities are not known",
         "Give the torque, in N m or N"),
        ("passive", "note", "is passive: its effort limit is 0", "Nothing drives it, and controllers leave it out", ""),
    ):  # fmt: skip
        if groups[key]:
            yield Finding(severity, name_all("joint", dict.fromkeys(groups[key])), what, why, advice)  # type: ignore[arg-type]
    yield from _outside(model)


def _sort(groups: dict[str, list[str]], joint: Joint, dof: Dof) -> None:
    if joint.kind.name == "free":
        return
    if dof.lower == dof.upper:
        groups["stuck"].append(joint.name)
    if joint.kind.name in ("revolute", "prismatic") and not (math.isfinite(dof.lower) or math.isfinite(dof.upper)):
        groups["unlimited"].append(joint.name)
    if not math.isfinite(dof.velocity) and not dof.passive:
        groups["slow"].append(joint.name)
    if not math.isfinite(dof.effort):
        groups["strong"].append(joint.name)
    if dof.passive:
        groups["passive"].append(joint.name)


def _outside(model: Model) -> Iterator[Finding]:
    """Configurations outside the limits: the neutral one, and those that have a name."""
    coordinates = model.layout.coordinates
    outside = [c for c in coordinates if c.joint and not c.lower <= c.neutral <= c.upper]
    homes = {configuration.name: dict(configuration.positions) for configuration in model.configurations}
    if outside and "home" not in homes:
        yield Finding(
            "note", name_all("joint", dict.fromkeys(c.joint for c in outside)),
            "has its neutral position outside its limits",
            "A motion that starts from robot.neutral() starts from a posture that the robot cannot take",
            'Start from robot.home(), or name a configuration "home"',
        )  # fmt: skip
    for name, positions in homes.items():
        for c in coordinates:
            x = positions.get(c.name, c.neutral)
            if not c.lower - 1e-9 <= x <= c.upper + 1e-9:
                yield Finding(
                    "suspicious", f"configuration {name!r}",
                    f"has {c.name!r} at {x:g} {c.unit}, outside its limits {c.lower:g} and {c.upper:g}",
                    "It is a posture that the robot cannot take", "Correct the posture or the limits",
                )  # fmt: skip


def sides(model: Model) -> Iterator[Finding]:
    """Left and right parts that differ."""
    links = {link.name: link for link in model.links}
    for left, right in pairs(links):
        yield from _compare_links(links[left], links[right])
    joints = {joint.name: joint for joint in model.joints}
    for left, right in pairs(joints):
        yield from _compare_joints(joints[left], joints[right])


def _compare_links(a: Link, b: Link) -> Iterator[Finding]:
    element, why = f"links {a.name!r} and {b.name!r}", "The two sides of the robot move differently"
    advice = "Correct the one that is wrong, if they are meant to be alike"
    if _differ(a.mass, b.mass, MASS_TOLERANCE, 1e-6):
        yield Finding("suspicious", element, f"weigh {a.mass:g} and {b.mass:g} kg", why, advice)
        return
    left, right = (principal_axes(link.inertia)[0] for link in (a, b))
    if any(_differ(x, y, INERTIA_TOLERANCE, 1e-3 * max(left[-1], right[-1])) for x, y in zip(left, right, strict=True)):
        moments = " and ".join("(" + ", ".join(f"{x:.3g}" for x in m) + ")" for m in (left, right))
        yield Finding("suspicious", element, f"have principal moments {moments} kg m^2", why, advice)
    elif _differ(a.com.norm(), b.com.norm(), INERTIA_TOLERANCE, 0.01):
        distances = f"{a.com.norm():.3g} and {b.com.norm():.3g} m"
        yield Finding("suspicious", element, f"have their centers of mass {distances} from their origins", why, advice)


def _compare_joints(a: Joint, b: Joint) -> Iterator[Finding]:
    if a.type != b.type:
        yield Finding("suspicious", f"joints {a.name!r} and {b.name!r}", f"are {a.type} and {b.type}")
        return
    for one, other in zip(a.dofs, b.dofs, strict=True):
        element = f"joints {a.name!r} and {b.name!r}"
        ranges = (one.lower, one.upper), (other.lower, other.upper), (-other.upper, -other.lower)
        if not any(np.allclose(ranges[0], r, rtol=0.02, atol=0.02) for r in ranges[1:]):
            spans = f"[{one.lower:g}, {one.upper:g}] and [{other.lower:g}, {other.upper:g}]"
            yield Finding("note", element, f"have limits {spans}, neither equal nor mirrored")
        for key, word in (("effort", "effort"), ("velocity", "velocity"), ("viscous", "viscous friction")):
            x, y = getattr(one, key), getattr(other, key)
            if x != y and _differ(x, y, MASS_TOLERANCE, 1e-9):
                yield Finding("note", element, f"have a {word} of {x:g} and {y:g}")


def _differ(x: float, y: float, relative: float, absolute: float) -> bool:
    if not (math.isfinite(x) and math.isfinite(y)):
        return x != y
    return bool(abs(x - y) > max(relative * max(abs(x), abs(y)), absolute))


def copies(model: Model) -> Iterator[Finding]:
    """Links with the very same mass and inertia as the link that carries them."""
    links = {link.name: link for link in model.links}
    for joint in model.joints:
        a, b = links[joint.parent], links[joint.child]
        heavy = a.mass > 0 and joint.parent != model.links[0].name
        if heavy and a.mass == b.mass and a.inertia == b.inertia and a.com == b.com and any(a.inertia.entries()):
            yield Finding(
                "note", f"links {a.name!r} and {b.name!r}",
                f"have the very same mass ({a.mass:g} kg), center of mass and inertia",
                "One may have been copied from the other and never changed", "Check them",
            )  # fmt: skip


def meshes(model: Model) -> Iterator[Finding]:
    """Meshes whose files are not there."""
    named = [(g.link, g.shape) for g in model.geometries if isinstance(g.shape, Mesh)]
    missing = [(link, mesh.path) for link, mesh in dict.fromkeys(named) if _is_missing(mesh)]
    if missing:
        paths = list(dict.fromkeys(path for _, path in missing))
        what = f"names the mesh {paths[0]!r}, which is not there"
        if len(paths) > 1:
            what = f"name {len(paths)} meshes that are not there, such as {paths[0]!r}"
        yield Finding(
            "suspicious", name_all("link", dict.fromkeys(link for link, _ in missing)), what,
            "They cannot be drawn, and nothing touches them",
            "Give the package's folder by search_paths=... or ROS_PACKAGE_PATH",
        )  # fmt: skip


def _is_missing(mesh: Mesh) -> bool:
    """Whether the file is known not to be there; a relative path without a folder is not known."""
    folder = Path(mesh.folder) if mesh.folder else None
    try:
        if packages.is_address(mesh.path):
            return packages.resolve(mesh.path, folder or Path.cwd(), ()) is None
        path = Path(mesh.path)
        return not path.exists() if path.is_absolute() else folder is not None and not (folder / path).exists()
    except (OSError, ValueError):
        return True


CHECKS = (problems, inertias, units, centers, limits, sides, copies, meshes)
"""All checks, in the order of a report."""
