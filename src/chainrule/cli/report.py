"""What the command line prints of poses and workspaces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from chainrule.arguments import Array
from chainrule.errors import ModelError

if TYPE_CHECKING:
    from chainrule.kinematics.workspace import Workspace
    from chainrule.robot.robot import Robot

WAYS = {f"{sign}{axis}": float(f"{sign}1") * np.eye(3)[i] for i, axis in enumerate("xyz") for sign in ("", "-")}


def pose(robot: Robot, q: Array, link: str | None, order: str, *, degrees: bool, as_json: bool) -> None:
    """A pose as a matrix and as six numbers, and the manipulability there."""
    T, x = robot.pose(q, link), robot.pose_vector(q, link, order=order)
    name = robot._name(link)
    angles = np.degrees(x[3:]) if degrees else x[3:]
    unique = not robot.angles_are_singular(q, link, order=order)
    w, singular = _nearness(robot, q, link)
    if as_json:
        facts = {
            "robot": robot.name, "link": name, "pose": T.tolist(), "position": x[:3].tolist(), "order": order,
            "angles": angles.tolist(), "unit": "deg" if degrees else "rad", "angles_unique": unique,
            "manipulability": w, "singular": singular,
        }  # fmt: skip
        print(json.dumps(facts))
        return
    print(f"{name} of {robot.name}, in the base frame")
    for row in T:
        print("  " + _numbers(row, 11))
    print("position  " + _numbers(x[:3]) + "  m")
    print(f"{order:<9} " + _numbers(angles) + ("  deg" if degrees else "  rad"))
    if not unique:
        print(f"          these angles are not unique here; another order than {order!r} has no such place here")
    if w is not None:
        print(f"manipulability {w:.6g}{', singular' if singular else ''}")


def _numbers(values: Array, wide: int = 9) -> str:
    """Six digits each, and no minus before what rounds to zero."""
    return " ".join(f"{round(float(value), 6) + 0.0: {wide}.6f}" for value in values)


def _nearness(robot: Robot, q: Array, link: str | None) -> tuple[float | None, bool | None]:
    """Manipulability and whether it is singular; nothing for what no joint moves."""
    try:
        return float(robot.manipulability(q, link)), bool(robot.is_singular(q, link))
    except ModelError:
        return None, None


def workspace(cloud: Workspace, *, as_json: bool) -> None:
    """Bounds, distances, volume, and where manipulability is largest."""
    low, high = cloud.bounds
    near, far = cloud.radii
    across = min(32.0, max(1.0, (len(cloud.position) / 30) ** (1 / 3)))  # some thirty samples in a cell of a full cube
    cell = float((high - low).max()) / across
    volume = cloud.volume(cell) if cell > 0 else 0.0
    reaches = {name: cloud.reach(way).distance for name, way in WAYS.items()}
    best = int(cloud.manipulability.argmax())
    if as_json:
        facts = {
            "robot": cloud.robot.name, "link": cloud.link, "samples": len(cloud), "low": low.tolist(),
            "high": high.tolist(), "nearest": near, "farthest": far, "volume": volume, "cell": cell, "reach": reaches,
            "best": {
                "manipulability": float(cloud.manipulability[best]), "position": cloud.position[best].tolist(),
                "q": cloud.q[best].tolist(),
            },
        }  # fmt: skip
        print(json.dumps(facts))
        return
    print(f"{cloud.link} of {cloud.robot.name}: {len(cloud)} random postures within the joint limits")
    for i, axis in enumerate("xyz"):
        print(
            f"  {axis} from {low[i]: .4f} to {high[i]: .4f} m; reach {reaches['-' + axis]:.4f}, {reaches[axis]:.4f} m"
        )
    size = f"; about {volume:.3g} m^3, in cells of {cell:.2g} m" if volume else ""
    print(f"  distance from the base {near:.4f} to {far:.4f} m{size}")
    place = ", ".join(f"{value:.3f}" for value in cloud.position[best])
    print(f"  manipulability at most {cloud.manipulability[best]:.4g}, at ({place})")
