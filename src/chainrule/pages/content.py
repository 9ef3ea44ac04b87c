"""The content of a page: what the scripts are told of a robot, and the functions that they call."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from chainrule.arguments import Array
from chainrule.core.export import trace_functions
from chainrule.core.mechanism import Mechanism
from chainrule.dynamics.dynamics import mass_matrix, torque_terms
from chainrule.errors import ChainruleError
from chainrule.kinematics.configurations import home
from chainrule.kinematics.poses import poses
from chainrule.kinematics.tasks import task_of
from chainrule.shapes.parts import Look, bars, drawing, warn_of_problems
from chainrule.shapes.skeleton import skeleton
from chainrule.shapes.surfaces import Fineness, rotation_along
from chainrule.studio.scene import view
from chainrule.studio.scene.backdrop import grid_spacing
from chainrule.studio.scene.visuals import DrawnPart, color_of, merge

LOOK = Look(radius=0.028, slimming=0.5, fineness=Fineness(24, 6), triangles=3_000)
"""Coarser than in the studio: a page holds all corners."""

VIEWED_POSTURES = 25
"""Postures of a motion that the camera's first view takes in."""

USUAL_RATES = {"rad": 3.0, "m": 1.0}
"""Ends of sliders of velocities without a limit, in rad/s and m/s."""

KINEMATICS = ("poses", "integrate", "difference")
LOADS = ("torque_terms", "kinetic_energy", "potential_energy", "mass_matrix")
LOOPS = ("loops.residual", "loops.jacobian", "loops.velocity_terms")


class PageContent:
    """The content of the page of a robot in postures q (k, nq), one every `step` seconds; one posture is no motion."""

    def __init__(self, robot: Mechanism, q: Array, step: float) -> None:
        self._robot = robot
        hands = [hand for hand in _hands(robot) if hand["rank"]]
        self.tapes, self.about = trace_functions(robot, {name: (name, {}) for name in KINEMATICS})
        self._add({hand["jacobian"]: ("jacobian", {"link": hand["name"]}) for hand in hands})
        if robot.model.constraints:
            self._add({name: (name, {}) for name in LOOPS})
        self._missing: list[str] = []
        can_load = self._try(LOADS, "Torques and energies are not shown")
        can_simulate = can_load and self._try(("forward_dynamics",), "There is no simulation")
        self.data = {
            **self._joints(),
            **self._scene(q),
            "name": robot.name,
            "home": q[0].tolist(),
            "hands": hands,
            "terms": self._terms() if can_load else [],
            "can_load": can_load,
            "can_simulate": can_simulate,
            "loop_rows": len(robot.model.rows),
            "reach": skeleton(robot).reach,
            "mass": float(robot.mass),
            "gravity": [float(x) for x in robot.gravity],
            "gravity_at_start": 0 if self._falls else 1,
            "simulation_note": self._simulation_note(),
            "about": list(self._sentences()),
            "motion": _motion(q, step),
        }

    def _add(self, wanted: dict[str, tuple[str, dict[str, Any]]]) -> None:
        tapes, about = trace_functions(self._robot, wanted)
        self.tapes |= tapes
        self.about["functions"] |= about["functions"]

    def _try(self, functions: Sequence[str], otherwise: str) -> bool:
        """Whether the robot has these functions; the page says why where it has not."""
        try:
            self._add({name: (name, {}) for name in functions})
        except ChainruleError as error:
            self._missing.append(f"{otherwise}: {error}")
            return False
        return True

    @property
    def _falls(self) -> bool:
        """Whether nothing holds the robot's base."""
        free = any(body.joint.type == "free" for body in self._robot.model.bodies)
        return free and not self._robot.model.constraints

    def _terms(self) -> list[str]:
        zeros = np.zeros(self._robot.nv)
        return list(torque_terms(self._robot, home(self._robot), zeros, zeros))

    # --- joints ---

    def _joints(self) -> dict[str, Any]:
        layout, model = self._robot.model.layout, self._robot.model
        units = zip(layout.velocities, layout.units_of("effort"), strict=True)
        driven = {places.joint.name: places.joint.type != "free" for places in layout.joints}
        inertia = self._inertias()
        places = {places.joint.name: index for index, places in enumerate(layout.joints)}
        carriers = [0] * len(model.links)
        for body in model.bodies:
            joint = body.joint
            own = places.get(joint.name if joint.mimic is None else joint.mimic.joint)
            carriers[body.index] = carriers[body.parent] if own is None else own + 1
        return {
            "links": [{"joint": carrier} for carrier in carriers],
            "joints": [{"v": list(range(p.v.start, p.v.stop))} for p in layout.joints],
            "coordinates": [
                {
                    "lower": _finite(c.lower),
                    "upper": _finite(c.upper),
                    "velocity": c.velocity,
                    "inertia": None if c.velocity is None else inertia[c.velocity],
                }
                for c in layout.coordinates
            ],
            "velocities": [
                {"name": v.name, "effort_unit": unit, "effort": _finite(v.dof.effort) if driven[v.joint] else 0}
                for v, unit in units
            ],
            "sliders": list(self._sliders()),
        }

    def _inertias(self) -> list[float]:
        """What each joint moves where the others are free: one over the diagonal of M^-1, in kg m^2 or kg."""
        try:
            M: Array = np.asarray(mass_matrix(self._robot, home(self._robot)))
            return [float(x) for x in 1 / np.diag(np.linalg.pinv(M))]
        except (ChainruleError, np.linalg.LinAlgError):
            return [0.0] * self._robot.nv

    def _sliders(self) -> Iterator[dict[str, Any]]:
        """A slider for each coordinate, and three for the rotation vector of a quaternion."""
        layout, reach = self._robot.model.layout, skeleton(self._robot).reach
        for places in layout.joints:
            v = list(range(places.v.start, places.v.stop))
            rates = layout.velocities[places.v]
            flat = layout.coordinates[places.q]
            turns = len(flat) != len(rates)
            if turns:
                flat = flat[:-4]
            for k, coordinate in enumerate(flat):
                rate = rates[k + 3 * turns]
                size = math.pi if coordinate.unit == "rad" else reach
                yield {
                    "name": coordinate.name,
                    "q": coordinate.index,
                    "low": _finite(coordinate.lower, -size),
                    "high": _finite(coordinate.upper, size),
                    **_rates(rate, v),
                }
            for entry in range(3 * turns):
                yield {
                    "name": f"{places.joint.name}, turn about {'xyz'[entry]}",
                    "quaternion": places.q.stop - 4,
                    "entry": entry,
                    "low": -3.1,
                    "high": 3.1,
                    **_rates(rates[entry], v),
                }

    # --- what is drawn ---

    def _scene(self, q: Array) -> dict[str, Any]:
        robot, frame = self._robot, skeleton(self._robot)
        drawn = drawing(robot, LOOK)
        warn_of_problems(robot, drawn.problems)
        parts = merge(drawn.parts)
        seen = np.asarray(poses(robot, q[:: max(1, len(q) // VIEWED_POSTURES)]), dtype=float)
        points = np.concatenate([view.drawn_points(robot, parts, place) for place in seen])
        ground, camera = view.ground(robot, points), view.first_camera(robot, points)
        meshes = [_mesh(part) for part in parts]
        return {
            "parts": [
                {"link": part.link, "color": part.color, "opacity": part.opacity, **size}
                for part, (size, _) in zip(parts, meshes, strict=True)
            ],
            "mesh_bytes": base64.b64encode(zlib.compress(b"".join(content for _, content in meshes), 9)).decode(),
            "bars": [
                {
                    "link_a": bar.links[0],
                    "link_b": bar.links[1],
                    "in_a": bar.points[0].tolist(),
                    "in_b": bar.points[1].tolist(),
                    "radius": bar.radius,
                    "color": color_of(bar.role, 0),
                }
                for bar in bars(robot, LOOK, slides=not drawn.has_geometry)
            ],
            "marks": list(self._marks()),
            "mark_size": 0.8 * LOOK.radius * frame.reach,
            "ground": {
                "point": ground.point.tolist(),
                "axes": rotation_along(ground.up).T.tolist(),
                "size": ground.size,
                "spacing": grid_spacing(ground.size),
            },
            "camera": {
                "position": camera.position.tolist(),
                "look_at": camera.look_at.tolist(),
                "up": camera.up.tolist(),
                "angle": view.FIELD_OF_VIEW,
            },
        }

    def _marks(self) -> Iterator[dict[str, Any]]:
        """Where torques and forces of joints are drawn: of those with one axis that follow no other."""
        model = self._robot.model
        follows = {body.joint.name for body in model.bodies if body.joint.mimic is not None}
        for joint in skeleton(self._robot).joints:
            turns = joint.kind == "turns"
            axis = joint.axis if turns else joint.axis_in_parent
            if joint.kind in ("turns", "slides") and joint.name not in follows and axis is not None:
                link, point = joint.symbol
                yield {"v": joint.first_v, "link": link, "point": point.tolist(), "axis": axis.tolist(), "turns": turns}

    # --- sentences ---

    def _simulation_note(self) -> str:
        if self._falls:
            return "There is no floor: with gravity the robot falls. While it plays, drag a link to pull it."
        return "While it plays, drag a link to pull it; if it is held, drag the ball or a slider to move the goal."

    def _sentences(self) -> Iterator[str]:
        robot, model = self._robot, self._robot.model
        yield f"{len(model.links)} links, {len(robot.joint_names)} joints that move, {robot.nv} degrees of freedom."
        yield "Joints in order: " + ", ".join(robot.joint_names) + "."
        if model.constraints:
            names = ", ".join(constraint.name for constraint in model.constraints)
            yield f"Closed loops: {names}. Joints that are not moved follow, by Newton's method."
        for body in model.bodies:
            if body.joint.mimic is not None:
                yield f"{body.joint.name} follows {body.joint.mimic.joint}."
        if any(len(model.layout.coordinates[p.q]) != len(model.layout.velocities[p.v]) for p in model.layout.joints):
            yield (
                "Orientations of joints that turn about all axes are shown as rotation vectors, and their velocities "
                "in their own axes."
            )
        yield from self._missing
        yield "All numbers are computed in this page, by functions that chainrule has written for this robot."


def _rates(rate: Any, v: list[int]) -> dict[str, Any]:
    """The velocity that belongs to a slider, and those of its joint."""
    most = _finite(rate.dof.velocity, USUAL_RATES[rate.unit])
    return {"velocity": rate.index, "v": v, "unit": rate.unit, "rate": most}


def _hands(robot: Mechanism) -> list[dict[str, Any]]:
    """The end-effector, or each tip of a robot that has several and names none."""
    model = robot.model
    found = []
    for k, name in enumerate(model.tips if model.end_effector is None else (model.end_effector,)):
        link, offset = model.locate(name)
        point = np.array(offset, dtype=float)[:3, 3].tolist()
        rank = task_of(robot, name, task="position").rank
        found.append({"name": name, "link": link, "point": point, "rank": rank, "jacobian": f"jacobian_{k}"})
    return found


def _mesh(part: DrawnPart) -> tuple[dict[str, Any], bytes]:
    """The numbers and the bytes of a surface: corners as 16-bit parts of its size, then the triangles' indices."""
    corners, triangles = np.asarray(part.surface.corners), part.surface.triangles
    size = max(float(np.abs(corners).max()), 1e-9)
    indices = triangles.astype("<u4" if len(corners) > 65535 else "<u2")
    packed = (np.round(corners / size * 32767).astype("<i2").tobytes(), indices.tobytes())
    content = b"".join(piece + bytes(-len(piece) % 4) for piece in packed)
    return {"corners": len(corners), "triangles": len(triangles), "size": size}, content


def _motion(q: Array, step: float) -> dict[str, Any] | None:
    if len(q) == 1:
        return None
    return {"step": step, "start": 0, "postures": base64.b64encode(q.astype("<f8").tobytes()).decode()}


def _finite(x: Any, otherwise: float | None = None) -> float | None:
    return float(x) if math.isfinite(x) else otherwise
