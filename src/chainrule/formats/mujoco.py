"""Models that MuJoCo has compiled, as robots: what cr.load reads, and what MJCF files become.

The coordinates of the robot are those of MuJoCo's qpos and qvel, in the same order, but for two conventions of this
library: quaternions have their scalar last, and the velocity of a free joint is the body's twist in its own axes,
angular part first.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from chainrule.errors import FormatError, ModelError, quoted
from chainrule.formats.exact import snap, without_rounding
from chainrule.model import (
    Configuration,
    Constraint,
    Dof,
    Fixed,
    Frame,
    Free,
    Joint,
    JointKind,
    Link,
    Mimic,
    Model,
    Moved,
    PolynomialScrew,
    Screw,
    Spherical,
)
from chainrule.model.edits import unused_name
from chainrule.model.geometry import (
    Box,
    Capsule,
    Color,
    Cylinder,
    Ellipsoid,
    Geometry,
    Mesh,
    Plane,
    Shape,
    Sphere,
    objection,
)
from chainrule.spatial import Quaternion, Rotation, Symmetric, Transform, Vector

WORLD = "world"
MAX_NAME_BYTES = 4096
"""Length of a path inside a compiled model from which on it is cut."""

NO_COLOR = (0.5, 0.5, 0.5, 1.0)
"""The color that MuJoCo gives a geom without one."""

ROUNDING = 1e-14
"""Products of inertia below this part of the moments are rounding errors of turning them."""

LARGER = "the larger counts here, both ways"

MESH, FREE, BALL, SLIDE = 7, 0, 1, 2
CONNECT, WELD, JOINT = 0, 1, 2
ON_JOINTS = (0, 1)
"""MuJoCo's numbers of types of geoms, joints, equality constraints, and of actuators that act on joints."""


@dataclass(frozen=True)
class MeshFile:
    """A mesh as the file of a model names it; MuJoCo moves its vertices by `position` and `quaternion` (w, x, y, z)."""

    path: str
    folder: str | None = None
    position: Sequence[float] = (0.0, 0.0, 0.0)
    quaternion: Sequence[float] = (1.0, 0.0, 0.0, 0.0)

    def origin(self, scale: Vector) -> Transform | None:
        """The pose of the file's scaled axes in those of the mesh: vertices are S R^T (v - p); None if it skews."""
        back = _rotation(self.quaternion).inv
        if back != Rotation.identity() and not scale.x == scale.y == scale.z:
            return None
        x, y, z = self.position
        return Transform(back, -(back * Vector(x * scale.x, y * scale.y, z * scale.z)))


@dataclass(frozen=True)
class Unknown:
    """The numbers of bodies whose mass, and of geoms whose size, comes from files that are missing."""

    bodies: frozenset[int] = frozenset()
    geoms: frozenset[int] = frozenset()


NOTHING = Unknown()


def is_compiled(thing: object) -> bool:
    """Whether a thing is a compiled model of MuJoCo, or its specification."""
    return type(thing).__module__.partition(".")[0] == "mujoco" and type(thing).__name__ in ("MjModel", "MjSpec")


def from_mujoco(compiled: Any) -> Model:
    """The robot of a mujoco.MjModel, or of a mujoco.MjSpec, which is compiled; its base is the link "world"."""
    if not is_compiled(compiled):
        raise FormatError(f"from_mujoco takes a mujoco.MjModel or MjSpec, got {type(compiled).__name__}")
    meshes: dict[str, MeshFile] = {}
    if type(compiled).__name__ == "MjSpec":
        meshes = {mesh.name: MeshFile("", None, mesh.refpos, mesh.refquat) for mesh in compiled.meshes}
        try:
            compiled = compiled.compile()
        except Exception as error:
            raise FormatError(f"the MjSpec does not compile: {' '.join(str(error).split())[:300]}") from error
    return convert(compiled, meshes)


def convert(
    compiled: Any, meshes: Mapping[str, MeshFile], unknown: Unknown = NOTHING, notes: Sequence[str] = ()
) -> Model:
    """The robot of a compiled model; `meshes` has the files of meshes by the names that MuJoCo was given."""
    return _Reader(compiled, meshes, unknown, [*notes]).model()


@dataclass
class _Reader:
    """Walks the bodies of a compiled model."""

    m: Any
    meshes: Mapping[str, MeshFile]
    unknown: Unknown
    notes: list[str]
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)

    def __post_init__(self) -> None:
        m = self.m
        self.enums = import_module("mujoco")
        self.bodies = _names([m.body(i).name for i in range(m.nbody)], "body", first=WORLD)
        self.joint_names = _names([m.joint(i).name for i in range(m.njnt)], "joint")
        self.actuators = _names([m.actuator(i).name for i in range(len(m.actuator_trntype))], "actuator")
        self.taken = set(self.bodies)
        self.left_out: dict[str, list[str]] = defaultdict(list)
        """Geoms that are not kept, by the reason."""

    def model(self) -> Model:
        m = self.m
        for i in range(1, m.nbody):
            self._body(i)
        if self.unknown.bodies:
            names = quoted((self.bodies[i] for i in sorted(self.unknown.bodies)), 100)
            self.notes.append(
                f"the mass and inertia of {names} come from files that cannot be found: taken as massless; put the "
                "files there, or give each body an <inertial>"
            )
        self._note_forces()
        joints, constraints = self._equalities()
        gravity = Vector(0.0, 0.0, 0.0) if self._is_off("GRAVITY") else _vector(m.opt.gravity)
        geometries = [*self._geometries()]
        for reason, geoms in self.left_out.items():
            some = f"{len(geoms)} geom{'s' * (len(geoms) > 1)} ({quoted(geoms, 3)})"
            self.notes.append(f"{some} left out of the geometry: {reason}")
        model = Model.build(
            _model_name(m), [Link(WORLD), *self.links], joints, self._frames(), gravity,
            notes=self.notes, constraints=constraints, geometries=geometries,
        )  # fmt: skip
        return replace(model, configurations=tuple(self._configurations(model)))

    def _is_off(self, *flags: str) -> bool:
        bits = (getattr(self.enums.mjtDisableBit, f"mjDSBL_{name}", None) for name in flags)
        return any(bit is not None and self.m.opt.disableflags & int(bit) for bit in bits)

    def _body(self, i: int) -> None:
        m, name = self.m, self.bodies[i]
        parent, T = self.bodies[m.body_parentid[i]], _transform(m.body_pos[i], m.body_quat[i], f"body {name!r}")
        count, first = int(m.body_jntnum[i]), int(m.body_jntadr[i])
        if not count:
            joint = unused_name(f"{name}_fixed", [*self.joint_names, *(joint.name for joint in self.joints)])
            self.joints.append(Joint(joint, parent, name, Fixed(), T))
            if m.body_mocapid[i] >= 0:
                self.notes.append(f"mocap body {name!r} is fixed where the file puts it")
        for k in range(first, first + count):
            child = name
            if k < first + count - 1:
                child = unused_name(f"{name}/{self.joint_names[k]}", sorted(self.taken))
                self.taken.add(child)
                self.links.append(Link(child))
            kind, before = self._kind(k)
            origin = before if isinstance(kind, Free) else T * before
            self.joints.append(Joint(self.joint_names[k], parent, child, kind, origin, self._dofs(k, kind)))
            parent, T = child, Transform.identity()
        self.links.append(self._link(i, name))
        if m.body_gravcomp[i]:
            self.notes.append(
                f"the gravity compensation (gravcomp) of body {name!r} is not modelled: it has its full weight"
            )

    def _link(self, i: int, name: str) -> Link:
        m = self.m
        if i in self.unknown.bodies:
            return Link(name)
        R = snap(_rotation(m.body_iquat[i]))
        inertia = Symmetric(*(float(x) for x in m.body_inertia[i])).rotate(R)
        least = ROUNDING * float(max(m.body_inertia[i]))
        xx, yy, zz, *products = inertia.entries()
        products = [x if abs(x) > least else 0.0 for x in products]
        return Link(name, float(m.body_mass[i]), _vector(m.body_ipos[i]), Symmetric(xx, yy, zz, *products))

    def _kind(self, k: int) -> tuple[JointKind, Transform]:
        """The kind of a joint and the pose before it: T(q) = e^[S](q - ref) for a hinge or slide."""
        m = self.m
        type_, anchor = int(m.jnt_type[k]), _vector(m.jnt_pos[k])
        if type_ == FREE:
            return Free(), Transform.identity()
        if type_ == BALL:
            before = Transform(Rotation.identity(), anchor)
            kind: JointKind = Spherical() if anchor == Vector.zero() else Moved(Spherical(), before.inverse())
            return kind, before
        axis = _vector(m.jnt_axis[k])
        screw = Screw.prismatic(axis) if type_ == SLIDE else Screw.revolute(axis, anchor)
        ref = self._ref(k)
        return screw, screw.transform([-ref]) if ref else Transform.identity()

    def _ref(self, k: int) -> float:
        """The coordinate of a hinge or slide in the pose of the file."""
        return float(self.m.qpos0[self.m.jnt_qposadr[k]])

    def _rests(self, k: int, is_scalar: bool) -> list[float]:
        """Where a joint's spring rests: a position, or the rotation vector of a ball's orientation."""
        at = int(self.m.jnt_qposadr[k])
        if is_scalar:
            return [float(self.m.qpos_spring[at])]
        w, x, y, z = (float(number) for number in self.m.qpos_spring[at : at + 4])
        return [float(number) for number in Spherical().difference([0.0, 0.0, 0.0, 1.0], [x, y, z, w])]

    def _dofs(self, k: int, kind: JointKind) -> tuple[Dof, ...]:
        m, name = self.m, self.joint_names[k]
        start = int(m.jnt_dofadr[k])
        is_scalar = kind.nv == 1
        stiffness = 0.0 if self._is_off("SPRING", "PASSIVE") else float(m.jnt_stiffness[k])
        if stiffness and isinstance(kind, Free):
            raise ModelError(f"joint {name!r} (free) has a spring, which only hinges, slides and balls can have here")
        self._note_joint(k, start, stiffness)
        limited = bool(m.jnt_limited[k]) and not self._is_off("LIMIT", "CONSTRAINT")
        if limited and kind.name == "spherical":
            self.notes.append(f"joint {name!r}: the limit on its angle is not modelled")
        lower, upper = m.jnt_range[k] if limited and is_scalar else (-math.inf, math.inf)
        rotor, viscous = self._rotors(k)
        rests = self._rests(k, is_scalar) if stiffness else [0.0] * kind.nv
        dofs = []
        for v in range(start, start + kind.nv):
            friction = 0.0 if self._is_off("FRICTIONLOSS", "CONSTRAINT") else float(m.dof_frictionloss[v])
            damping = 0.0 if self._is_off("DAMPER", "PASSIVE") else float(m.dof_damping[v]) + viscous
            dofs.append(Dof(
                lower=float(lower), upper=float(upper), effort=self._effort(k) if is_scalar else math.inf,
                viscous=damping, coulomb=friction, coulomb_negative=friction,
                rotor=float(m.dof_armature[v]) + rotor, stiffness=stiffness, rest=rests[v - start],
            ))  # fmt: skip
        if isinstance(kind, Free):
            if any(dof.rotor or dof.coulomb for dof in dofs):
                self.notes.append(
                    f"joint {name!r}: its armature and dry friction act along the body's axes here, along the world's "
                    "in MuJoCo"
                )
            dofs = [*dofs[3:], *dofs[:3]]  # MuJoCo has the linear part first
        return tuple(dofs)

    def _note_joint(self, k: int, start: int, stiffness: float) -> None:
        """Say which forces of a joint's own are not modelled."""
        name = self.joint_names[k]
        for label, array, index in (("damping", "dof_dampingpoly", start), ("stiffness", "jnt_stiffnesspoly", k)):
            values = getattr(self.m, array, None)
            if values is not None and any(float(x) for x in values[index].ravel()):
                self.notes.append(f"joint {name!r}: its {label} is not linear; the linear part alone is modelled")
        low, high = (float(x) for x in self.m.jnt_range[k])
        if low > high:
            self.notes.append(f"joint {name!r}: its range ends before it begins, and limits nothing")
        if stiffness and _entry(self.m, "jnt_springyield", k) > 0:
            self.notes.append(f"joint {name!r}: its spring yields (springyield), which is not modelled")

    def _actuators(self, k: int) -> list[int]:
        """The numbers of the actuators that act on a joint."""
        places = zip(self.m.actuator_trntype, self.m.actuator_trnid, strict=True)
        return [i for i, (type_, target) in enumerate(places) if type_ in ON_JOINTS and target[0] == k]

    def _rotors(self, k: int) -> tuple[float, float]:
        """The rotor inertia and damping that actuators add to a joint."""
        rotor = viscous = 0.0
        for i in self._actuators(k):
            gear = float(self.m.actuator_gear[i][0])
            rotor += gear * (gear * _entry(self.m, "actuator_armature", i))
            viscous += gear * (gear * _entry(self.m, "actuator_damping", i))
        return rotor, viscous

    def _effort(self, k: int) -> float:
        """The largest effort that the actuators of a joint give, within the limits of the joint itself.

        Each gives gear times its force, which lies in its forcerange, and for a motor in gain times ctrlrange. Several
        add up. A joint without actuators, or with one of unlimited force, has its own limit alone.
        """
        m, name, own = self.m, self.joint_names[k], math.inf
        if m.jnt_actfrclimited[k]:
            low, high = (float(x) for x in m.jnt_actfrcrange[k])
            own = max(abs(low), abs(high))
            if low != -high:
                self.notes.append(f"joint {name!r}: its efforts are limited to {low:g} and {high:g}; {LARGER}")
        least = most = 0.0
        found = self._actuators(k)
        for i in found:
            gear = float(m.actuator_gear[i][0])
            low, high = sorted(gear * x if gear else 0.0 for x in self._forces(i))
            least, most = least + low, most + high
        if not found:
            return own
        least, most = (min(max(x, -own), own) for x in (least, most))
        largest = max(abs(least), abs(most))
        if math.isfinite(largest) and least != -most:
            self.notes.append(f"joint {name!r}: its actuators give {least:g} to {most:g}; {LARGER}")
        return largest

    def _forces(self, i: int) -> tuple[float, float]:
        """The least and the largest force of an actuator, before its gear."""
        m, low, high = self.m, -math.inf, math.inf
        is_plain = not any((int(m.actuator_gaintype[i]), int(m.actuator_biastype[i]), int(m.actuator_dyntype[i])))
        controls = getattr(m, "actuator_ctrladr", None)
        c = i if controls is None else int(controls[i])
        is_clamped = 0 <= c < len(m.actuator_ctrllimited) and bool(m.actuator_ctrllimited[c])
        if is_plain and is_clamped and not self._is_off("CLAMPCTRL"):
            low, high = sorted(float(m.actuator_gainprm[i][0]) * float(x) for x in m.actuator_ctrlrange[c])
        if m.actuator_forcelimited[i]:
            least, most = (float(x) for x in m.actuator_forcerange[i])
            low, high = (min(max(x, least), most) for x in (low, high))
        return low, high

    def _note_forces(self) -> None:
        """Say which forces on the whole are not modelled."""
        m = self.m
        for i, name in enumerate(self.actuators):
            has_rotor = _entry(m, "actuator_armature", i) or _entry(m, "actuator_damping", i)
            if has_rotor and m.actuator_trntype[i] not in ON_JOINTS:
                self.notes.append(f"the armature and damping of {name!r} do not act on a joint: they are not modelled")
        tendons = _names([m.tendon(i).name for i in range(m.ntendon)], "tendon")
        self.notes += [f"tendon {name!r} is not modelled" for name in tendons]
        self.notes += [f"deformable body {i} is not modelled" for i in range(getattr(m, "nflex", 0))]
        driven = [self.bodies[i] for i in range(m.nbody) if _entry(m, "body_plugin", i, -1) >= 0]
        self.notes += [f"the forces of the plugin of body {name!r} are not modelled" for name in driven]
        if m.opt.density or m.opt.viscosity:
            self.notes.append(
                "the forces of the fluid around the model (option density and viscosity) are not modelled"
            )

    def _equalities(self) -> tuple[list[Joint], list[Constraint]]:
        """Joints that follow others or stand still, and constraints that close loops."""
        m, rules, held, constraints = self.m, dict[str, _Rule](), dict[str, float](), list[Constraint]()
        is_off = self._is_off("EQUALITY", "CONSTRAINT")
        given = [m.equality(i).name for i in range(m.neq)]
        for i in range(m.neq):
            if is_off or not m.eq_active0[i]:
                continue
            type_, data = int(m.eq_type[i]), [float(x) for x in m.eq_data[i]]
            if type_ in (CONNECT, WELD):
                word = ("connect", "weld")[type_]
                name = given[i] or unused_name(f"{word}{len(constraints)}", given)
                constraints.append(self._loop(i, name, type_, data))
            elif type_ != JOINT:
                self.notes.append(f"equality constraint {given[i] or i!r} is not modelled")
            elif not self._couple(i, data, rules, held):
                follower = self.joint_names[int(m.eq_obj1id[i])]
                self.notes.append(
                    f"equality constraint {given[i] or i!r} is not modelled: joint {follower!r} moves without it"
                )
        held |= {name: float(rule.curve(held[rule.joint])) for name, rule in rules.items() if rule.joint in held}
        return [self._tie(joint, rules.get(joint.name), held) for joint in self.joints], constraints

    def _couple(self, i: int, data: list[float], rules: dict[str, _Rule], held: dict[str, float]) -> bool:
        """Read y - y0 = P(x - x0), with P of degree four at most, or y - y0 = a0; False where it cannot be modelled.

        Either joint may follow already: the equation is then one of the joints that they follow, either of which may
        lead if the other can be told from it.
        """
        a, b = int(self.m.eq_obj1id[i]), int(self.m.eq_obj2id[i])
        y, y0 = _rule_of(rules, self.joint_names[a]), self._ref(a)
        if b < 0:
            if y.joint in held or y.curve.degree() != 1:
                return False
            held[y.joint] = (y0 + data[0] - y.curve.coef[0]) / y.curve.coef[1]
            return True
        x = _rule_of(rules, self.joint_names[b])
        x = _Rule(x.joint, (Polynomial(data[:5])(Polynomial([-self._ref(b), 1.0])(x.curve)) + y0).trim())
        if y.joint == x.joint:
            apart = y.curve - x.curve
            return bool(np.allclose(apart.coef, 0.0, atol=1e-9 * np.abs(x.curve.coef).max(initial=1.0)))
        if y.joint in held or y.curve.degree() != 1:
            y, x = x, y
        if y.joint in held or y.curve.degree() != 1:
            return False
        curve = (x.curve - y.curve.coef[0]) / y.curve.coef[1]
        rules |= {name: _Rule(x.joint, r.curve(curve).trim()) for name, r in rules.items() if r.joint == y.joint}
        rules[y.joint] = _Rule(x.joint, curve)
        return True

    def _tie(self, joint: Joint, rule: _Rule | None, held: Mapping[str, float]) -> Joint:
        """The joint as it follows another, or fixed where it is held."""
        if joint.name in held:
            T = joint.origin * joint.kind.transform([held[joint.name]])
            return Joint(joint.name, joint.parent, joint.child, Fixed(), T)
        if rule is None:
            return joint
        numbers = tuple(float(c) for c in rule.curve.coef)
        if len(numbers) <= 2:
            offset, multiplier = (*numbers, 0.0)[:2]
            return replace(joint, mimic=Mimic(rule.joint, multiplier, offset))
        assert isinstance(joint.kind, Screw)
        if joint.dofs != (Dof(),):
            self.notes.append(
                f"joint {joint.name!r} follows {rule.joint!r} by a polynomial of degree {len(numbers) - 1}: limits, "
                "friction, armature and springs of its own are not modelled"
            )
        leader = next(other for other in self.joints if other.name == rule.joint)
        screw = Screw(joint.kind.angular, joint.kind.linear)
        kind = PolynomialScrew(screw, numbers, leader.kind.units)
        return replace(joint, kind=kind, mimic=Mimic(rule.joint), dofs=())

    def _loop(self, i: int, name: str, type_: int, data: list[float]) -> Constraint:
        m = self.m
        a, b = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        where = f"equality constraint {name!r}"
        if int(m.eq_objtype[i]) == int(self.enums.mjtObj.mjOBJ_SITE):
            places = [_transform(m.site_pos[s], m.site_quat[s], where) for s in (a, b)]
            a, b = (int(m.site_bodyid[s]) for s in (a, b))
        elif type_ == CONNECT:
            places = [_at(data[:3]), _at(data[3:6])]
        else:
            places = [_transform(data[3:6], data[6:10], where), _at(data[:3])]
        return Constraint(name, ("point", "weld")[type_], self.bodies[a], self.bodies[b], *places)

    def _frames(self) -> list[Frame]:
        m, frames = self.m, []
        taken = {link.name for link in self.links} | {WORLD}
        given = {m.site(i).name for i in range(m.nsite)}
        for i in range(m.nsite):
            name = m.site(i).name
            if not name:
                continue
            T = _transform(m.site_pos[i], m.site_quat[i], f"site {name!r}")
            if name in taken:
                name = unused_name(f"site/{name}", sorted(taken | given))
            frames.append(Frame(name, self.bodies[m.site_bodyid[i]], T))
        return frames

    def _geometries(self) -> Iterator[Geometry]:
        m = self.m
        for i in range(m.ngeom):
            name = m.geom(i).name or None
            found = self._shape(i)
            reason = found if isinstance(found, str) else objection(found[0])
            if reason or isinstance(found, str):
                self.left_out[str(reason)].append(name or f"geom{i}")
                continue
            shape, inner = found
            T = _transform(m.geom_pos[i], m.geom_quat[i], f"geom {name or i!r}") * inner
            size = inner.translation.norm()  # of what was subtracted from the place of the geom
            T = Transform(snap(T.rotation), Vector(*(without_rounding(x, size) for x in T.translation)))
            touches = bool(m.geom_contype[i] or m.geom_conaffinity[i])
            role = "collision" if touches else "visual"
            yield Geometry(self.bodies[m.geom_bodyid[i]], shape, T, role, self._color(i), name)  # type: ignore[arg-type]

    def _color(self, i: int) -> Color | None:
        """The geom's own color, else that of its material."""
        color, material = _color(self.m.geom_rgba[i]), int(self.m.geom_matid[i])
        if color != NO_COLOR:
            return color
        return None if material < 0 else _color(self.m.mat_rgba[material])

    def _shape(self, i: int) -> tuple[Shape, Transform] | str:
        """The shape of a geom and its own pose in the geom's frame, or why there is none.

        MuJoCo moves a mesh to its center.
        """
        m = self.m
        type_, (a, b, c) = int(m.geom_type[i]), (float(x) for x in m.geom_size[i])
        simple: dict[int, Shape] = {
            0: Plane(2 * a if a else math.inf, 2 * b if b else math.inf), 2: Sphere(a), 3: Capsule(a, 2 * b),
            4: Ellipsoid(Vector(a, b, c)), 5: Cylinder(a, 2 * b), 6: Box(Vector(2 * a, 2 * b, 2 * c)),
        }  # fmt: skip
        if i in self.unknown.geoms:
            return "it is fitted to a mesh that cannot be found"
        if type_ in simple:
            return simple[type_], Transform.identity()
        mesh = int(m.geom_dataid[i])
        if type_ != MESH or mesh < 0:
            return "a height field or distance field is no shape here"
        file, scale = self._mesh_file(mesh), _vector(m.mesh_scale[mesh])
        if not file.path:
            return "meshes without a file of their own are not kept"
        origin = file.origin(scale)
        if origin is None:
            return "a mesh that is turned (refquat) and then scaled by different factors is not kept"
        center = _transform(m.mesh_pos[mesh], m.mesh_quat[mesh], f"geom {i}")
        return Mesh(file.path, scale, file.folder), center.inverse() * origin

    def _mesh_file(self, mesh: int) -> MeshFile:
        start = int(self.m.mesh_pathadr[mesh])
        if start < 0:
            return MeshFile("")
        path = bytes(self.m.paths)[start : start + MAX_NAME_BYTES].split(b"\0")[0].decode(errors="replace")
        written = self.meshes.get(path) or self.meshes.get(self.m.mesh(mesh).name)
        if written is None:
            return MeshFile(path)
        return written if written.path else replace(written, path=path)

    def _configurations(self, model: Model) -> Iterator[Configuration]:
        """The keyframes; quaternions have their scalar last here."""
        m = self.m
        names = _names([m.key(i).name for i in range(m.nkey)], "key")
        for name, qpos in zip(names, m.key_qpos, strict=True):
            positions = []
            for k, joint in enumerate(self.joint_names):
                places = model.layout.by_joint.get(joint)
                if places is None:  # it follows another
                    continue
                values = [float(x) for x in qpos[m.jnt_qposadr[k] :][: places.joint.kind.nq]]
                if places.joint.kind.nq >= 4:
                    values = [*values[:-4], *values[-3:], values[-4]]
                coordinates = [entry.name for entry in model.layout.coordinates[places.q]]
                positions += [*zip(coordinates, values, strict=True)]
            yield Configuration(name, tuple(positions))


class _Rule(NamedTuple):
    """A joint's coordinate as a polynomial of another's."""

    joint: str
    curve: Polynomial


def _rule_of(rules: Mapping[str, _Rule], joint: str) -> _Rule:
    """A joint by the one that it follows: itself, where it follows none."""
    return rules.get(joint, _Rule(joint, Polynomial([0.0, 1.0])))


def _names(given: list[str], word: str, first: str | None = None) -> list[str]:
    """Names for elements without one, from their numbers; the first may have a name of its own."""
    taken = {name for name in given if name} | ({first} if first else set())
    found = []
    for i, name in enumerate(given):
        if first is not None and i == 0:
            found.append(first)
            continue
        found.append(name or unused_name(f"{word}{i}", sorted(taken)))
        taken.add(found[-1])
    return found


def _model_name(m: Any) -> str:
    return bytes(m.names).split(b"\0")[0].decode(errors="replace") or "robot"


def _entry(m: Any, array: str, i: int, absent: float = 0.0) -> float:
    """A number of a field that older versions of MuJoCo do not have."""
    values = getattr(m, array, None)
    return absent if values is None else float(values[i])


def _color(numbers: Any) -> Color:
    """A color with the decimals that it was written with; MuJoCo keeps it in single precision."""
    red, green, blue, opacity = (min(max(float(str(x)), 0.0), 1.0) for x in numbers)
    return red, green, blue, opacity


def _vector(numbers: Any) -> Vector:
    return Vector(*(float(x) for x in numbers))


def _rotation(quaternion: Any) -> Rotation:
    w, x, y, z = (float(x) for x in quaternion)
    length = math.hypot(w, x, y, z)
    return Quaternion(x / length, y / length, z / length, w / length).rotation() if length else Rotation.identity()


def _transform(position: Any, quaternion: Any, what: str) -> Transform:
    if not 0.5 < math.hypot(*(float(x) for x in quaternion)) < 2.0:
        raise FormatError(f"{what} has no orientation: its quaternion, {quaternion}, has no direction or is too large")
    return Transform(snap(_rotation(quaternion)), _vector(position))


def _at(point: Any) -> Transform:
    return Transform(Rotation.identity(), _vector(point))
