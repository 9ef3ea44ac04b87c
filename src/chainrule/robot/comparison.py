"""Two robots compared: what differs, element by element, with numbers and units, and what that does to their motion."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chainrule.arguments import Array, as_list, names, number, one_of, whole_number
from chainrule.core.evaluation import evaluate
from chainrule.core.mechanism import Mechanism
from chainrule.display.text import Shown, Table
from chainrule.errors import ChainruleError, ShapeError, short_repr, visible
from chainrule.model import Joint, Link, Model
from chainrule.model.parts import FRICTION_NUMBERS
from chainrule.robot.parts import short, tuple_text, units_of
from chainrule.spatial import Transform, Vector
from chainrule.spatial.vector import Symmetric

ABSENT = "-"
"""The text of what one of the robots does not have."""

MAX_HINTS = 6

IGNORABLE = ("configurations", "frames", "friction", "geometry", "limits")
"""What a comparison can leave out."""

IGNORED_WITH = {
    "lower": "limits", "upper": "limits", "velocity": "limits", "effort": "limits",
    **dict.fromkeys(FRICTION_NUMBERS, "friction"),
}  # fmt: skip


RECORDS = {
    "frame": {"link": ("link", ""), "origin": ("origin", "")},
    "constraint": {
        "kind": ("kind", ""), "link_a": ("first end", ""), "link_b": ("second end", ""),
        "origin_a": ("first origin", ""), "origin_b": ("second origin", ""), "distance": ("distance", "m"),
    },
    "spring": {
        "link_a": ("first end", ""), "link_b": ("second end", ""), "point_a": ("point_a", "m"),
        "point_b": ("point_b", "m"), "stiffness": ("stiffness", "N/m"), "rest_length": ("rest_length", "m"),
        "damping": ("damping", "N s/m"), "force": ("force", "N"),
    },
}  # fmt: skip
"""What is compared of frames, constraints and springs: the word for each of their fields, and its unit."""


@dataclass(frozen=True)
class Difference:
    """One number, name or part in which two robots differ; `first` and `second` say it as text, with units."""

    element: str
    """What it belongs to, such as "link 'forearm'"."""
    quantity: str
    """"mass", "origin", "lower limit", .."""
    first: str
    second: str
    size: float | None = None
    """How far apart the two are, in `unit`; None for names and parts that are missing."""
    unit: str = ""

    def __str__(self) -> str:
        apart = "" if self.size is None else f", {short(self.size)} {self.unit}".rstrip() + " apart"
        return visible(f"{self.element}: {self.quantity} {self.first} and {self.second}{apart}")


@dataclass(frozen=True)
class Effect:
    """The largest differences over random states within the first robot's limits."""

    states: int
    torque: float | None
    """Of inverse dynamics, in `torque_unit`; None where it has no meaning."""
    torque_unit: str | None
    torque_joint: str | None
    """The joint where it is largest."""
    torque_share: float | None
    """The same, as a share of the largest torque of that joint."""
    link: str | None
    """The link or frame whose poses are compared."""
    distance: float | None
    """Between the two places of it, in m."""
    angle: float | None
    """Between the two orientations of it, in rad."""

    def __str__(self) -> str:
        parts = []
        if self.torque is not None and self.torque_share is not None:
            share = f" ({100 * self.torque_share:.3g}% of the largest there)" if self.torque else ""
            parts.append(f"torques by up to {short(self.torque)} {self.torque_unit} at {self.torque_joint!r}{share}")
        if self.distance is not None and self.angle is not None:
            turned = f"{short(math.degrees(self.angle))} deg"
            parts.append(f"the pose of {self.link!r} by up to {short(1000 * self.distance)} mm and {turned}")
        if not parts:
            return "neither torques nor poses can be compared"
        return visible(f"over {self.states} random states, they differ: {' and '.join(parts)}")


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The differences of two robots. It is true where they differ, and iterates over the differences."""

    first: str
    second: str
    differences: tuple[Difference, ...]
    hints: tuple[str, ...]
    effect: Effect | None
    """Of the differences on torques and poses; None where the robots have other joints, or nothing differs."""

    def __bool__(self) -> bool:
        return bool(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def to_dict(self) -> dict[str, Any]:
        """All of it as dictionaries, lists, strings and numbers."""
        return {
            "first": self.first,
            "second": self.second,
            "equal": not self.differences,
            "differences": [vars(difference) for difference in self.differences],
            "hints": list(self.hints),
            "effect": None if self.effect is None else vars(self.effect),
        }

    def _view(self) -> Iterator[str | Table]:
        if not self.differences:
            yield f"{self.first!r} and {self.second!r} do not differ"
            return
        count = len(self.differences)
        yield f"{self.first!r} and {self.second!r} differ in {count} place{'' if count == 1 else 's'}"
        rows = []
        last = None
        for d in self.differences:
            apart = "" if d.size is None else f"{short(d.size)} {d.unit}".rstrip()
            rows.append(["" if d.element == last else d.element, d.quantity, d.first, d.second, apart])
            last = d.element
        yield Table(("where", "what", "first", "second", "apart"), rows)
        yield from (f"hint: {hint}" for hint in self.hints)
        if self.effect is not None:
            yield str(self.effect)


def compare(
    robot: Mechanism, other: Mechanism, *, tolerance: float = 1e-9, ignore: Sequence[str] = (), states: int = 100
) -> Comparison:
    """Compare two robots by the names of their joints, links, frames, constraints, geometry and configurations.

    Joints are compared by how they move: pose of the child at q = 0 and screws, however these are written down. The
    robots' own names and notes do not count. Where both have the same joints, torques and poses at random states say
    what the differences mean.

    Parameters
    ----------
    other
        Another robot.
    tolerance
        The relative difference up to which numbers count as equal; for lengths, angles and axes of less than 1 it is
        absolute.
    ignore
        What is not compared, of "configurations", "frames", "friction", "geometry" and "limits".
    states
        The number of random states at which torques and poses are compared.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> print(arm.compare(arm.edit(links={"link2": {"mass": 1.2}})))
    'planar_2r' and 'planar_2r' differ in 1 place
    where         what  first  second  apart
    link 'link2'  mass  1 kg   1.2 kg  0.2 kg
    over 100 random states, they differ: torques by up to 4.45346 N m at 'joint1'
      (12% of the largest there) and the pose of 'tip' by up to 0 mm and 0 deg
    >>> bool(arm.compare(cr.load("planar_2r")))
    False
    """
    if not isinstance(other, Mechanism):
        raise ShapeError(f"compare takes another Robot, got {short_repr(other)}; cr.load(...) makes robots")
    bound = number(tolerance, "compare: tolerance")
    if bound < 0:
        raise ShapeError(f"compare: tolerance must not be negative, got {short_repr(tolerance)}")
    count = whole_number(states, "compare: states", 1, 1_000_000)
    ignored = names(as_list(ignore, "compare: ignore"), "compare: ignore")
    unwanted = [one_of(IGNORABLE, word, "part", "compare: ignore") for word in ignored]
    collector = _Collector(bound, unwanted)
    a, b = robot.model, other.model
    collector.compare_models(a, b)
    hints = _name_hints(a, b)
    effect = _effect(robot, other, count) if collector.found and _same_joints(a, b) else None
    return Comparison(a.name, b.name, tuple(collector.found), tuple(hints), effect)


class _Collector:
    """The differences that were found so far."""

    def __init__(self, tolerance: float, ignore: Sequence[str]) -> None:
        self.tolerance, self.ignore = tolerance, ignore
        self.found: list[Difference] = []

    def add(self, element: str, quantity: str, texts: Iterable[str], size: Any = None, unit: str = "") -> None:
        first, second = texts
        self.found.append(Difference(element, quantity, first, second, None if size is None else float(size), unit))

    def words(self, element: str, quantity: str, first: str | None, second: str | None) -> None:
        """Two names, which differ or not."""
        if first != second:
            self.add(element, quantity, (ABSENT if text is None else text for text in (first, second)))

    def differs(self, a: Any, b: Any, least: float = 0.0) -> bool:
        """Whether two numbers or arrays differ by more than the tolerance of the larger of them."""
        x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        if x.shape != y.shape:
            return True
        with np.errstate(invalid="ignore"):
            apart = np.where(x == y, 0.0, np.abs(x - y))
        finite = [np.abs(v[np.isfinite(v)]).max(initial=0.0) for v in (x, y)]
        return bool((apart > self.tolerance * max(*finite, least) + 1e-15 * least).any())

    def quantity(self, element: str, name: str, a: Any, b: Any, unit: str, least: float = 0.0) -> None:
        """Two numbers."""
        if self.differs(a, b, least):
            apart = abs(a - b) if math.isfinite(a) and math.isfinite(b) else None
            texts = (f"{short(x)} {unit}".rstrip() if math.isfinite(x) else "none" for x in (a, b))
            self.add(element, name, texts, apart, unit)

    def vector(self, element: str, name: str, a: Vector, b: Vector, unit: str) -> None:
        """Two vectors."""
        if self.differs([*a], [*b], 1.0):
            self.add(element, name, (f"{tuple_text(x)} {unit}" for x in (a, b)), (a - b).norm(), unit)

    def place(self, element: str, name: str, a: Transform, b: Transform) -> None:
        """Two poses."""
        A, B = (np.array(T, dtype=float) for T in (a, b))
        far, turn = _pose_difference(A, B)
        if far > self.tolerance * max(1.0, float(np.abs(A).max())) + 1e-15:
            self.add(element, f"{name} (place)", (f"{tuple_text(T.translation)} m" for T in (a, b)), far, "m")
        if turn > max(self.tolerance, 1e-12):
            texts = (f"rpy {tuple_text(np.degrees([*map(float, T.rotation.rpy())]))} deg" for T in (a, b))
            self.add(element, f"{name} (orientation)", texts, math.degrees(turn), "deg")

    def pairs(self, what: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
        """The elements that both robots have; one that only one has is a difference."""
        for name in dict.fromkeys((*first, *second)):
            element = f"{what} {name!r}"
            if name in first and name in second:
                yield element, first[name], second[name]
            else:
                self.add(element, "is there", ("yes" if name in names else "no" for names in (first, second)))

    # --- the elements ---

    def compare_models(self, a: Model, b: Model) -> None:
        self._joint_order(a, b)
        for element, x, y in self.pairs("joint", _by_name(a.joints), _by_name(b.joints)):
            self._joint(element, x, y)
        for element, p, r in self.pairs("link", _by_name(a.links), _by_name(b.links)):
            self._link(element, p, r)
        for what, quantities in RECORDS.items():
            if f"{what}s" not in self.ignore:
                records = (_by_name(getattr(m, f"{what}s")) for m in (a, b))
                for element, f, g in self.pairs(what, *records):
                    self._record(element, f, g, quantities)
        self.vector("robot", "gravity", a.gravity, b.gravity, "m/s^2")
        self.words("robot", "end-effector", _tip(a), _tip(b))
        if "geometry" not in self.ignore:
            self._geometries(a, b)
        if "configurations" not in self.ignore:
            self._configurations(a, b)

    def _joint_order(self, a: Model, b: Model) -> None:
        first, second = (m.layout.joint_names for m in (a, b))
        common = set(first) & set(second)
        one, two = ([name for name in names if name in common] for names in (first, second))
        if one != two:
            self.add("robot", "order of joints in q", (", ".join(one), ", ".join(two)))

    def _joint(self, element: str, a: Joint, b: Joint) -> None:
        self.words(element, "type", a.type, b.type)
        self.words(element, "parent", a.parent, b.parent)
        self.words(element, "child", a.child, b.child)
        rules = [None if j.mimic is None else (j.mimic.joint, j.mimic.multiplier, j.mimic.offset) for j in (a, b)]
        if rules[0] != rules[1]:
            texts = [ABSENT if r is None else f"{short(r[1])} {r[0]} + {short(r[2])}" for r in rules]
            self.add(element, "follows", texts)
        self.place(element, "origin", *(j.origin * j.kind.transform(j.kind.neutral()) for j in (a, b)))
        screws = [[[float(x) for x in S] for S in j.kind.columns(j.kind.neutral())] for j in (a, b)]
        for k, (s, t) in enumerate(zip(*screws, strict=False)):
            self._screw(element, "axis" if len(screws[0]) == 1 else f"axis {k + 1}", s, t)
        if a.kind.units != b.kind.units or a.kind.velocity_names != b.kind.velocity_names:
            return
        for part, unit, x, y in zip(a.kind.velocity_names, a.kind.units, a.dofs, b.dofs, strict=True):
            effort, viscous, spring = units_of(unit)
            units = {
                "lower": unit, "upper": unit, "velocity": f"{unit}/s", "effort": effort, "viscous": viscous,
                "coulomb": effort, "coulomb_negative": effort, "static": effort, "static_negative": effort,
                "stribeck": f"{unit}/s", "ripple": "", "ripple_waves": f"1/{unit}", "ripple_phase": "rad",
                "rotor": "kg m^2", "gear": "", "stiffness": spring, "rest": unit,
            }  # fmt: skip
            for name, its in units.items():
                if IGNORED_WITH.get(name) in self.ignore:
                    continue
                words = {"velocity": "velocity limit", "effort": "effort limit", "lower": "lower limit",
                         "upper": "upper limit", "viscous": "viscous friction", "coulomb": "Coulomb friction",
                         "coulomb_negative": "Coulomb friction backwards", "static": "static friction",
                         "static_negative": "static friction backwards", "stribeck": "Stribeck speed",
                         "ripple": "ripple of friction", "ripple_waves": "waves of friction",
                         "ripple_phase": "phase of friction"}.get(name, name)  # fmt: skip
                label = f"{words} of {part}" if part else words
                least = 1.0 if name in ("lower", "upper", "rest") else 0.0
                self.quantity(element, label, float(getattr(x, name)), float(getattr(y, name)), its, least)
            if "friction" not in self.ignore and x.friction_function != y.friction_function:
                laws = [ABSENT if dof.friction_function is None else repr(dof.friction_function) for dof in (x, y)]
                self.add(element, f"friction function of {part}" if part else "friction function", laws)

    def _screw(self, element: str, name: str, s: list[float], t: list[float]) -> None:
        """Two screws: the direction, and the moment of the axis about the link's origin or its pitch."""
        turning = any(s[:3]) and any(t[:3])
        one, two = (np.array(x[:3] if any(x[:3]) else x[3:]) for x in (s, t))
        if any(s[:3]) != any(t[:3]) or self.differs(one, two, 1.0):
            angle = math.degrees(math.atan2(np.linalg.norm(np.cross(one, two)), one @ two))
            self.add(element, name, (tuple_text(v) for v in (one, two)), angle, "deg")
        elif turning and self.differs(s[3:], t[3:], 1.0):
            gap = float(np.linalg.norm(np.subtract(s[3:], t[3:])))
            self.add(element, f"{name} (moment)", (f"{tuple_text(x[3:])} m" for x in (s, t)), gap, "m")

    def _link(self, element: str, a: Link, b: Link) -> None:
        self.quantity(element, "mass", float(a.mass), float(b.mass), "kg")
        self.vector(element, "center of mass", a.com, b.com, "m")
        one, two = (np.array(x.inertia, dtype=float) for x in (a, b))
        if self.differs(one, two):
            gap = np.abs(one - two).max()
            self.add(element, "inertia", (_inertia_text(x.inertia) for x in (a, b)), gap, "kg m^2")

    def _record(self, element: str, a: Any, b: Any, quantities: Mapping[str, tuple[str, str]]) -> None:
        """Two frames, constraints or springs, whose fields are names, places, points and numbers."""
        for name, (label, unit) in quantities.items():
            x, y = getattr(a, name), getattr(b, name)
            if isinstance(x, str):
                self.words(element, label, x, y)
            elif isinstance(x, Transform):
                self.place(element, label, x, y)
            elif isinstance(x, Vector):
                self.vector(element, label, x, y, unit)
            elif x is not None and y is not None:
                self.quantity(element, label, float(x), float(y), unit)

    def _geometries(self, a: Model, b: Model) -> None:
        for link in a.index_of:
            if link not in b.index_of:
                continue
            for role in ("visual", "collision"):
                one, two = ([g for g in m.geometries if (g.link, g.role) == (link, role)] for m in (a, b))
                if len(one) != len(two):
                    self.add(f"link {link!r}", f"{role} geometry", (f"{len(x) or 'no'} shapes" for x in (one, two)))
                    continue
                for k, (x, y) in enumerate(zip(one, two, strict=True)):
                    what = f"{role} geometry{f' {k + 1}' if len(one) > 1 else ''}"
                    if x.shape != y.shape:
                        self.words(f"link {link!r}", what, *(_shape_text(z.shape) for z in (x, y)))
                    self.place(f"link {link!r}", what, x.origin, y.origin)

    def _configurations(self, a: Model, b: Model) -> None:
        for element, c, d in self.pairs("configuration", _by_name(a.configurations), _by_name(b.configurations)):
            tables = [
                dict(zip(m.layout.coordinate_names, x.coordinates(m.layout), strict=True)) for m, x in ((a, c), (b, d))
            ]
            for coordinate in a.layout.coordinates:
                if coordinate.name in tables[1]:
                    first, second = (t[coordinate.name] for t in tables)
                    unit = "" if coordinate.unit == "1" else coordinate.unit
                    self.quantity(element, coordinate.name, first, second, unit, 1.0)


def _by_name(parts: Iterable[Any]) -> dict[str, Any]:
    return {part.name: part for part in parts}


def _tip(model: Model) -> str | None:
    return model.end_effector or (model.tips[0] if len(model.tips) == 1 else None)


def _inertia_text(I: Symmetric) -> str:
    products = f" xy {tuple_text((I.xy, I.xz, I.yz))}" if I.xy or I.xz or I.yz else ""
    return f"{tuple_text((I.xx, I.yy, I.zz))}{products} kg m^2"


def _shape_text(shape: Any) -> str:
    def text(value: Any) -> str:
        return value if isinstance(value, str) else tuple_text(value) if isinstance(value, Iterable) else short(value)

    numbers = (text(value) for key, value in vars(shape).items() if key != "folder")
    return f"{type(shape).__name__.lower()} {' '.join(numbers)}"


def _pose_difference(A: Array, B: Array) -> tuple[float, float]:
    """The largest distance (m) and angle (rad) between poses (..., 4, 4)."""
    far = np.linalg.norm(A[..., :3, 3] - B[..., :3, 3], axis=-1)
    R = np.swapaxes(A[..., :3, :3], -1, -2) @ B[..., :3, :3]
    sine = np.linalg.norm(R - np.swapaxes(R, -1, -2), axis=(-1, -2)) / (2 * math.sqrt(2))
    cosine = (np.trace(R, axis1=-2, axis2=-1) - 1) / 2
    return float(far.max(initial=0.0)), float(np.arctan2(sine, cosine).max(initial=0.0))


# --- names that are nearly the same ---


def _name_hints(a: Model, b: Model) -> list[str]:
    """Where names of one robot are those of the other but for a prefix, or for large and small letters."""
    hints: list[str] = []
    for what, first, second in (
        ("joint", [j.name for j in a.joints], [j.name for j in b.joints]),
        ("link", list(a.index_of), list(b.index_of)),
    ):
        left = [name for name in first if name not in second]
        right = [name for name in second if name not in first]
        if left and right:
            pairs = _near_pairs(left, right)
            shown = ", ".join(f"{x!r} and {y!r}" for x, y in pairs[:MAX_HINTS])
            more = f" and {len(pairs) - MAX_HINTS} more" if len(pairs) > MAX_HINTS else ""
            if pairs:
                hints.append(
                    f"names of {what}s differ only by a prefix or by letters' case: {shown}{more}; "
                    "robot.rename({...}) makes them the same"
                )
    return hints


def _near_pairs(left: Sequence[str], right: Sequence[str]) -> list[tuple[str, str]]:
    """Names that are the same without the prefix that all on their side have, and without case and punctuation."""
    one, two = _without_prefix(left), _without_prefix(right)
    pairs = [(one[key], two[key]) for key in one if key in two]
    if pairs:
        return pairs
    ends = {_plain(name): name for name in right}
    found = ((x, ends[key]) for x in left for key in ends if _is_end(_plain(x), key))
    return list(found)


def _without_prefix(names: Sequence[str]) -> dict[str, str]:
    """The names by what is left of them without their common prefix, and by the whole of them."""
    plain = {_plain(name): name for name in names}
    first, last = min(plain), max(plain)
    count = next((i for i, (x, y) in enumerate(zip(first, last, strict=False)) if x != y), 0) if len(plain) > 1 else 0
    return plain | {key[count:]: name for key, name in plain.items()}


def _is_end(a: str, b: str) -> bool:
    """Whether one of two names is the end of the other, and more than a number."""
    shorter, longer = sorted((a, b), key=len)
    return len(shorter) > 2 and not shorter.isdigit() and longer.endswith(shorter)


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())


# --- what it means ---


def _same_joints(a: Model, b: Model) -> bool:
    """Whether the two have the same coordinates by name, each of the same kind."""
    one, two = ({c.name: c.unit for c in m.layout.coordinates} for m in (a, b))
    speeds = [sorted(m.layout.velocity_names) for m in (a, b)]
    return bool(one) and one == two and speeds[0] == speeds[1]


def _effect(robot: Mechanism, other: Mechanism, states: int) -> Effect:
    """The differences of torques and poses at random states of the first robot."""
    from chainrule.kinematics.configurations import random_state

    rng = np.random.default_rng(0)
    q = random_state(robot, rng, states)
    qd, qdd = rng.uniform(-1, 1, (2, states, robot.nv))
    order_q = [robot.coordinate_names.index(name) for name in other.coordinate_names]
    order_v = [robot.velocity_names.index(name) for name in other.velocity_names]
    torque = unit = joint = share = None
    try:
        one = evaluate(robot, "inverse_dynamics", q=q, qd=qd, qdd=qdd)[..., order_v]
        two = evaluate(other, "inverse_dynamics", q=q[..., order_q], qd=qd[..., order_v], qdd=qdd[..., order_v])
        gaps = np.abs(one - two).max(axis=0)
        k = int(np.argmax(gaps))
        torque, joint = float(gaps[k]), other.velocity_names[k]
        unit = units_of(other.model.layout.velocities[k].unit)[0]
        largest = max(float(np.abs(one[:, k]).max()), float(np.abs(two[:, k]).max()))
        share = torque / largest if largest else 0.0
    except ChainruleError:  # a robot without masses
        pass
    link = distance = angle = None
    tips = _tip(robot.model), _tip(other.model)
    common = next((tip for tip in tips if _has(robot.model, tip) and _has(other.model, tip)), None)
    if common or None not in tips:
        link = common or tips[0]
        first = evaluate(robot, "pose", q=q, link=common or tips[0])
        second = evaluate(other, "pose", q=q[..., order_q], link=common or tips[1])
        distance, angle = _pose_difference(first, second)
    return Effect(states, torque, unit, joint, share, link, distance, angle)


def _has(model: Model, name: str | None) -> bool:
    return name in model.index_of or any(frame.name == name for frame in model.frames)
