"""Models that MuJoCo has compiled, as robots: what Robot.from_mujoco reads, and files through MuJoCo's own compiler.

The coordinates of the robot are those of MuJoCo's qpos and qvel, in the same order, but for two conventions of this
library: quaternions have their scalar last, and the velocity of a free joint is the body's twist in its own axes,
angular part first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from chainrule.errors import FormatError, ModelError
from chainrule.formats.exact import snap
from chainrule.formats.mjcf.couplings import adopt_mimic
from chainrule.formats.source import FilePath, read
from chainrule.model import (
    Configuration,
    Constraint,
    Dof,
    Fixed,
    Frame,
    Free,
    Joint,
    Kind,
    Link,
    Mimic,
    Model,
    Moved,
    Screw,
    Spherical,
)
from chainrule.model.edits import unused_name
from chainrule.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Shape, Sphere, objection
from chainrule.spatial import Quaternion, Rotation, Symmetric, Transform, Vector

WORLD = "world"
MAX_NAME_BYTES = 4096
"""Length of a path inside a compiled model from which on it is cut."""


def is_compiled(thing: object) -> bool:
    """Whether a thing is a compiled model of MuJoCo, or its specification."""
    return type(thing).__module__.partition(".")[0] == "mujoco" and type(thing).__name__ in ("MjModel", "MjSpec")


def compile_file(path_or_text: FilePath) -> Model:
    """The robot in an MJCF or URDF file, read by MuJoCo's own compiler, which must be installed."""
    content, source, path = read(path_or_text)
    mujoco = _import_mujoco(source)
    try:
        if path is not None:
            compiled = mujoco.MjModel.from_xml_path(str(path))
        else:
            compiled = mujoco.MjModel.from_xml_string(content.decode())
    except Exception as error:
        raise FormatError(f"{source}: MuJoCo's compiler refuses it: {' '.join(str(error).split())[:300]}") from error
    return from_mujoco(compiled)


def _import_mujoco(source: str) -> Any:
    try:
        return import_module("mujoco")
    except ImportError as error:
        raise FormatError(
            f"{source} is to be read by MuJoCo's own compiler, and the package mujoco is not installed: "
            "`pip install mujoco`"
        ) from error


def from_mujoco(compiled: Any) -> Model:
    """The robot of a mujoco.MjModel, or of a mujoco.MjSpec, which is compiled; its base is the link "world"."""
    if not is_compiled(compiled):
        raise FormatError(f"from_mujoco takes a mujoco.MjModel or MjSpec, got {type(compiled).__name__}")
    if type(compiled).__name__ == "MjSpec":
        try:
            compiled = compiled.compile()
        except Exception as error:
            raise FormatError(f"the MjSpec does not compile: {' '.join(str(error).split())[:300]}") from error
    return _Reader(compiled).model()


@dataclass
class _Reader:
    """Walks the bodies of a compiled model."""

    m: Any
    notes: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)

    def __post_init__(self) -> None:
        m = self.m
        self.enums = import_module("mujoco")
        self.bodies = _names([m.body(i).name for i in range(m.nbody)], "body", first=WORLD)
        self.joint_names = _names([m.joint(i).name for i in range(m.njnt)], "joint")
        self.taken = set(self.bodies)

    def model(self) -> Model:
        m = self.m
        for i in range(1, m.nbody):
            self._body(i)
        self._note_forces()
        joints, constraints = self._equalities()
        gravity = Vector(0.0, 0.0, 0.0) if self._is_off("GRAVITY") else _vector(m.opt.gravity)
        model = Model.build(
            _model_name(m), [Link(WORLD), *self.links], joints, self._frames(), gravity,
            notes=self.notes, constraints=constraints, geometries=[*self._geometries()],
        )  # fmt: skip
        return replace(model, configurations=tuple(self._configurations(model)))

    def _is_off(self, *flags: str) -> bool:
        bits = (getattr(self.enums.mjtDisableBit, f"mjDSBL_{name}", None) for name in flags)
        return any(bit is not None and self.m.opt.disableflags & int(bit) for bit in bits)

    def _body(self, i: int) -> None:
        m, name = self.m, self.bodies[i]
        parent, T = self.bodies[m.body_parentid[i]], _transform(m.body_pos[i], m.body_quat[i])
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
        R = snap(_rotation(m.body_iquat[i]))
        inertia = Symmetric(*(float(x) for x in m.body_inertia[i])).rotate(R)
        self.links.append(Link(name, float(m.body_mass[i]), _vector(m.body_ipos[i]), inertia))
        if m.body_gravcomp[i]:
            self.notes.append(
                f"the gravity compensation (gravcomp) of body {name!r} is not modelled: it has its full weight"
            )

    def _kind(self, k: int) -> tuple[Kind, Transform]:
        """The kind of a joint and the pose before it: T(q) = e^[S](q - ref) for a hinge or slide."""
        m = self.m
        type_, anchor = int(m.jnt_type[k]), _vector(m.jnt_pos[k])
        if type_ == 0:
            return Free(), Transform.identity()
        if type_ == 1:
            before = Transform(Rotation.identity(), anchor)
            kind: Kind = Spherical() if anchor == Vector.zero() else Moved(Spherical(), before.inverse())
            return kind, before
        axis = _vector(m.jnt_axis[k])
        screw = Screw.prismatic(axis) if type_ == 2 else Screw.revolute(axis, anchor)
        ref = float(m.qpos0[m.jnt_qposadr[k]])
        return screw, screw.transform([-ref]) if ref else Transform.identity()

    def _rests(self, k: int, is_scalar: bool) -> list[float]:
        """Where a joint's spring rests: a position, or the rotation vector of a ball's orientation."""
        at = int(self.m.jnt_qposadr[k])
        if is_scalar:
            return [float(self.m.qpos_spring[at])]
        w, x, y, z = (float(number) for number in self.m.qpos_spring[at : at + 4])
        return [float(number) for number in Spherical().difference([0.0, 0.0, 0.0, 1.0], [x, y, z, w])]

    def _dofs(self, k: int, kind: Kind) -> tuple[Dof, ...]:
        m, name = self.m, self.joint_names[k]
        start = int(m.jnt_dofadr[k])
        is_scalar = kind.nv == 1
        stiffness = 0.0 if self._is_off("SPRING", "PASSIVE") else float(m.jnt_stiffness[k])
        if stiffness and isinstance(kind, Free):
            raise ModelError(f"joint {name!r} (free) has a spring, which only hinges, slides and balls can have here")
        for label, array, index in (("damping", "dof_dampingpoly", start), ("stiffness", "jnt_stiffnesspoly", k)):
            values = getattr(m, array, None)
            if values is not None and any(float(x) for x in values[index].ravel()):
                self.notes.append(f"joint {name!r}: its {label} is not linear; the linear part alone is modelled")
        limited = bool(m.jnt_limited[k]) and not self._is_off("LIMIT", "CONSTRAINT")
        if limited and kind.name == "spherical":
            self.notes.append(f"joint {name!r}: the limit on its angle is not modelled")
        lower, upper = m.jnt_range[k] if limited and is_scalar else (-math.inf, math.inf)
        rotor, viscous, effort = self._actuation(k) if is_scalar else (0.0, 0.0, math.inf)
        rests = [0.0] * kind.nv
        if stiffness:
            rests = self._rests(k, is_scalar)
        dofs = []
        for v in range(start, start + kind.nv):
            friction = 0.0 if self._is_off("FRICTIONLOSS", "CONSTRAINT") else float(m.dof_frictionloss[v])
            damping = 0.0 if self._is_off("DAMPER", "PASSIVE") else float(m.dof_damping[v]) + viscous
            dofs.append(Dof(
                lower=float(lower), upper=float(upper), effort=effort, viscous=damping, coulomb=friction,
                coulomb_negative=friction, rotor=float(m.dof_armature[v]) + rotor, stiffness=stiffness,
                rest=rests[v - start],
            ))  # fmt: skip
        if isinstance(kind, Free):
            if any(dof.rotor or dof.coulomb for dof in dofs):
                self.notes.append(
                    f"joint {name!r}: its armature and dry friction act along the body's axes here, along the world's "
                    "in MuJoCo"
                )
            dofs = [*dofs[3:], *dofs[:3]]  # MuJoCo has the linear part first
        return tuple(dofs)

    def _actuation(self, k: int) -> tuple[float, float, float]:
        """The rotor and damping that actuators add to a joint, and the effort that they are limited to."""
        m = self.m
        rotor, viscous, effort, has_limit = 0.0, 0.0, 0.0, True
        found = [i for i in range(len(m.actuator_trntype)) if self._acts_on(i, k)]
        for i in found:
            gear = float(m.actuator_gear[i][0])
            rotor += gear * gear * float(_entry(m, "actuator_armature", i))
            viscous += gear * gear * float(_entry(m, "actuator_damping", i))
            limit = self._force_limit(i)
            has_limit = has_limit and math.isfinite(limit)
            effort += abs(gear) * limit
        largest = effort if found and has_limit else math.inf
        if m.jnt_actfrclimited[k]:
            low, high = (float(x) for x in m.jnt_actfrcrange[k])
            largest = min(largest, max(abs(low), abs(high)))
        return rotor, viscous, largest

    def _acts_on(self, i: int, k: int) -> bool:
        return int(self.m.actuator_trntype[i]) in (0, 1) and int(self.m.actuator_trnid[i][0]) == k

    def _force_limit(self, i: int) -> float:
        """The largest force of an actuator: within its forcerange, and within that of a plain motor's ctrlrange."""
        m = self.m
        limited = bool(m.actuator_forcelimited[i])
        return min(
            float(max(abs(x) for x in m.actuator_forcerange[i])) if limited else math.inf, self._control_limit(i)
        )

    def _control_limit(self, i: int) -> float:
        """The largest force of a motor whose control is limited; infinite for other actuators."""
        m = self.m
        is_plain = not any((int(m.actuator_gaintype[i]), int(m.actuator_biastype[i]), int(m.actuator_dyntype[i])))
        controls = getattr(m, "actuator_ctrladr", None)
        c = i if controls is None else int(controls[i])
        if is_plain and 0 <= c < len(m.actuator_ctrllimited) and m.actuator_ctrllimited[c]:
            return abs(float(m.actuator_gainprm[i][0])) * float(max(abs(x) for x in m.actuator_ctrlrange[c]))
        return math.inf

    def _note_forces(self) -> None:
        m = self.m
        self.notes += [f"tendon {m.tendon(i).name!r} is not modelled" for i in range(m.ntendon)]
        self.notes += [f"deformable body {i} is not modelled" for i in range(getattr(m, "nflex", 0))]
        if m.opt.density or m.opt.viscosity:
            self.notes.append(
                "the forces of the fluid around the model (option density and viscosity) are not modelled"
            )

    def _equalities(self) -> tuple[list[Joint], list[Constraint]]:
        """Joints that follow others, and constraints that close loops."""
        m, mimics, constraints = self.m, dict[str, Mimic](), list[Constraint]()
        is_off = self._is_off("EQUALITY", "CONSTRAINT")
        names = _names([m.equality(i).name for i in range(m.neq)], "equality")
        kinds = {joint.name: joint.kind for joint in self.joints}
        for i in range(m.neq):
            if is_off or not m.eq_active0[i]:
                continue
            type_, data = int(m.eq_type[i]), [float(x) for x in m.eq_data[i]]
            if type_ in (0, 1):
                constraints.append(self._loop(i, names[i], type_, data))
                continue
            a, b = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
            if type_ == 2 and b >= 0 and not any(data[2:5]):
                follower, leader = self.joint_names[a], self.joint_names[b]
                refs = [float(m.qpos0[m.jnt_qposadr[k]]) for k in (a, b)]
                mimic = Mimic(leader, data[1], refs[0] + data[0] - data[1] * refs[1])
                if kinds[follower].nv == kinds[leader].nv == 1 and adopt_mimic(mimics, follower, mimic):
                    continue
            self.notes.append(f"equality constraint {names[i]!r} is not modelled")
        return [replace(joint, mimic=mimics.get(joint.name)) for joint in self.joints], constraints

    def _loop(self, i: int, name: str, type_: int, data: list[float]) -> Constraint:
        m = self.m
        a, b = int(m.eq_obj1id[i]), int(m.eq_obj2id[i])
        kind = ("point", "weld")[type_]
        if int(m.eq_objtype[i]) == int(self.enums.mjtObj.mjOBJ_SITE):
            places = [_transform(m.site_pos[s], m.site_quat[s]) for s in (a, b)]
            a, b = (int(m.site_bodyid[s]) for s in (a, b))
        elif type_ == 0:
            places = [_at(data[:3]), _at(data[3:6])]
        else:
            places = [_transform(data[3:6], data[6:10]), _at(data[:3])]
        return Constraint(name, kind, self.bodies[a], self.bodies[b], *places)

    def _frames(self) -> list[Frame]:
        m, frames = self.m, []
        taken = {link.name for link in self.links} | {WORLD}
        given = {m.site(i).name for i in range(m.nsite)}
        for i in range(m.nsite):
            name = m.site(i).name
            if not name:
                continue
            if name in taken:
                name = unused_name(f"site/{name}", sorted(taken | given))
            frames.append(Frame(name, self.bodies[m.site_bodyid[i]], _transform(m.site_pos[i], m.site_quat[i])))
        return frames

    def _geometries(self) -> Iterator[Geometry]:
        m = self.m
        for i in range(m.ngeom):
            found = self._shape(i)
            if found is None or objection(found[0]):
                continue
            shape, inner = found
            touches = bool(m.geom_contype[i] or m.geom_conaffinity[i])
            color = tuple(min(max(float(x), 0.0), 1.0) for x in self._color(i))
            T = _transform(m.geom_pos[i], m.geom_quat[i]) * inner
            yield Geometry(
                self.bodies[m.geom_bodyid[i]], shape, T, "collision" if touches else "visual",
                (color[0], color[1], color[2], color[3]), m.geom(i).name or None,
            )  # fmt: skip

    def _color(self, i: int) -> Any:
        material = int(self.m.geom_matid[i])
        return self.m.geom_rgba[i] if material < 0 else self.m.mat_rgba[material]

    def _shape(self, i: int) -> tuple[Shape, Transform] | None:
        """The shape of a geom, and its own pose in the geom's frame: that of a mesh, which MuJoCo centers."""
        m, here = self.m, Transform.identity()
        type_, (a, b, c) = int(m.geom_type[i]), (float(x) for x in m.geom_size[i])
        simple: dict[int, Shape] = {
            0: Plane(2 * a if a else math.inf, 2 * b if b else math.inf), 2: Sphere(a), 3: Capsule(a, 2 * b),
            4: Ellipsoid(Vector(a, b, c)), 5: Cylinder(a, 2 * b), 6: Box(Vector(2 * a, 2 * b, 2 * c)),
        }  # fmt: skip
        if type_ in simple:
            return simple[type_], here
        mesh = int(m.geom_dataid[i])
        path = self._mesh_path(mesh) if type_ == 7 and mesh >= 0 else ""
        if not path:
            return None
        moved = _transform(m.mesh_pos[mesh], m.mesh_quat[mesh])
        return Mesh(path, _vector(m.mesh_scale[mesh])), moved.inverse()

    def _mesh_path(self, mesh: int) -> str:
        start = int(self.m.mesh_pathadr[mesh])
        if start < 0:
            return ""
        return bytes(self.m.paths)[start : start + MAX_NAME_BYTES].split(b"\0")[0].decode(errors="replace")

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


def _entry(m: Any, array: str, i: int) -> float:
    """A number of a field that older versions of MuJoCo do not have."""
    values = getattr(m, array, None)
    return 0.0 if values is None else float(values[i])


def _vector(numbers: Any) -> Vector:
    return Vector(*(float(x) for x in numbers))


def _rotation(quaternion: Any) -> Rotation:
    w, x, y, z = (float(x) for x in quaternion)
    return Quaternion(x, y, z, w).rotation()


def _transform(position: Any, quaternion: Any) -> Transform:
    return Transform(snap(_rotation(quaternion)), _vector(position))


def _at(point: Any) -> Transform:
    return Transform(Rotation.identity(), _vector(point))
