"""What calibration compares: poses of links, as parameters of the robot have them, and references of several kinds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from chainrule.arguments import Array
from chainrule.calibration.hand_eye import cross_matrices, inverse, small_motion, turns
from chainrule.calibration.least_squares import independent_columns
from chainrule.core.at import at
from chainrule.core.mechanism import Mechanism
from chainrule.kinematics.poses import pose
from chainrule.model.parameters import find_parameters, own_values
from chainrule.parameters.derivatives import by_parameters

ROWS: Mapping[str, tuple[int, ...]] = {
    "pose": (0, 1, 2, 3, 4, 5),
    "position": (3, 4, 5),
    "orientation": (0, 1, 2),
    "plane": (5,),
}
"""The numbers of an error of a pose (turn, then displacement in the reference's axes) that count for each task."""
FIXTURES: Mapping[str, tuple[int, ...]] = {"pose": (0, 1, 2, 3, 4, 5), "point": (3, 4, 5), "plane": (0, 1, 5)}
"""Motions of something fixed and unknown that change an error: of a pose, a point, and a plane, the xy-plane of one."""
BASE = "base"
BASE_NUMBERS = ("base.rx", "base.ry", "base.rz", "base.x", "base.y", "base.z")
"""The place of the robot in the frame of the measurements: turns about the axes of that frame (rad), and the origin."""
SHOWN_SHARE = 0.02
"""The share of a number's effect that another must have to be named for it."""


class Guess(NamedTuple):
    """Numbers that calibration looks for."""

    values: Array
    """Numbers of the robot, one after the other."""
    base: Array
    """The pose of its base in the frame of the measurements (4, 4)."""
    fixture: Array
    """The pose of what the tip touches (4, 4)."""


@dataclass(frozen=True)
class Measurements:
    """Configurations with poses that links have there, and the numbers on which these depend."""

    robot: Mechanism
    q: Array
    """(k, nq)"""
    links: tuple[str, ...]
    references: Array | None
    """Measured poses (k, links, 4, 4); None where the tip touches something unknown."""
    task: str
    touching: str | None
    names: tuple[str, ...]
    """Parameters of the robot."""
    counts: tuple[int, ...]
    """The numbers of each."""

    @property
    def columns(self) -> int:
        """Numbers of the robot, six of its base, and those of what it touches."""
        return sum(self.counts) + 6 + len(self.motions)

    @property
    def motions(self) -> tuple[int, ...]:
        """The motions of what the tip touches that change an error."""
        return FIXTURES[self.touching] if self.touching else ()

    @property
    def kinds(self) -> list[int]:
        """The kind of each number of an error: 0 for positions, 1 for orientations, where both are measured."""
        return [int(row < 3 and self.task == "pose") for row in ROWS[self.task]]

    @property
    def kind_names(self) -> tuple[str, ...]:
        """Names of the kinds."""
        return {"pose": ("position", "orientation"), "orientation": ("orientation",)}.get(self.task, ("position",))

    @property
    def labels(self) -> list[str]:
        """Names of the numbers of the robot, one by one, and of its base."""
        each = find_parameters(self.robot.model, self.names)
        return [
            p.full_name if len(p.labels) == 1 else f"{p.full_name}.{label}" for p in each for label, _ in p.labels
        ] + list(BASE_NUMBERS)

    def numbers(self, x: Guess) -> list[float]:
        """The numbers that `labels` names."""
        return [*x.values.tolist(), *turns(x.base[None, :3, :3])[0].tolist(), *x.base[:3, 3].tolist()]

    def rms(self, r: Array) -> dict[str, float]:
        """Root mean squares of errors (k, m), of positions and of orientations: the lengths of their vectors."""
        kinds = np.array(self.kinds)
        return {
            name: float(np.sqrt((r[:, kinds == i] ** 2).sum(axis=1).mean())) for i, name in enumerate(self.kind_names)
        }

    @property
    def own(self) -> Array:
        """The numbers that the robot has."""
        return np.array([x for name in self.names for x in own_values(self.robot.model, name)], dtype=float)

    def by_name(self, values: Array) -> dict[str, Array]:
        """Numbers by parameter."""
        split = np.split(values, np.cumsum(self.counts)[:-1])
        return {name: x if len(x) > 1 else x[0] for name, x in zip(self.names, split, strict=True)}

    def poses(self, values: Array) -> Array:
        """Poses of the links in the base (k, links, 4, 4)."""
        if not self.names:
            return np.stack([pose(self.robot, self.q, link) for link in self.links], axis=1)
        bound = at(self.robot, self.by_name(values))
        return np.stack([bound.pose(self.q, link) for link in self.links], axis=1)

    def rates(self, values: Array) -> Array:
        """Derivatives of the poses by the numbers (k, links, 4, 4, n)."""
        if not self.names:
            return np.zeros((len(self.q), len(self.links), 4, 4, 0))
        each = []
        for link in self.links:
            found = by_parameters(self.robot, "pose", self.by_name(values), {"q": self.q}, link=link)
            each.append(np.concatenate([x if x.ndim == 4 else x[..., None] for x in found.values()], axis=-1))
        return np.stack(each, axis=1)

    def errors(self, x: Guess) -> tuple[Array, Array]:
        """Errors of the task (k links, m), and their derivatives by steps of all numbers (k links, m, n)."""
        T, dT = self.poses(x.values), self.rates(x.values)
        T, dT = T.reshape(-1, 4, 4), dT.reshape(-1, 4, 4, dT.shape[-1])
        R_b, arm = x.base[:3, :3], T[:, :3, 3] @ x.base[:3, :3].T
        Z = inverse(x.fixture[None] if self.references is None else self.references.reshape(-1, 4, 4))
        E = Z @ x.base @ T
        R_z, a, n = Z[:, :3, :3], E[:, :3, 3], dT.shape[-1]
        w = turns(E[:, :3, :3])
        J = np.zeros((len(T), 6, n + 12))
        spin = np.swapaxes(T[:, :3, :3], -1, -2) @ np.moveaxis(dT[:, :3, :3], -1, 0)  # (n, k, 3, 3): R^T dR
        J[:, :3, :n] = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]]).transpose(2, 0, 1)
        J[:, 3:, :n] = R_z @ R_b @ dT[:, :3, 3]
        J[:, :3, n : n + 3] = np.swapaxes(R_b @ T[:, :3, :3], -1, -2)
        J[:, 3:, n : n + 3], J[:, 3:, n + 3 : n + 6] = -R_z @ cross_matrices(arm), R_z
        J[:, :3, : n + 6] += cross_matrices(w) @ J[:, :3, : n + 6] / 2
        J[:, :3, n + 6 : n + 9] = cross_matrices(w) / 2 - np.eye(3)
        J[:, 3:, n + 6 : n + 9], J[:, 3:, n + 9 :] = cross_matrices(a), -np.eye(3)
        rows = list(ROWS[self.task])
        kept = [*range(n + 6), *(n + 6 + i for i in self.motions)]
        return np.concatenate([w, a], axis=1)[:, rows], J[:, rows][..., kept]

    def step(self, x: Guess, d: Array) -> Guess:
        """The state after a step of all numbers."""
        n = len(x.values)
        turn = small_motion(np.concatenate([d[n : n + 3], np.zeros(3)]))
        base = turn @ x.base
        base[:3, 3] = x.base[:3, 3] + d[n + 3 : n + 6]
        motion = np.zeros(6)
        motion[list(self.motions)] = d[n + 6 :]
        return Guess(x.values + d[:n], base, x.fixture @ small_motion(motion))


def identifiable(data: Measurements, x: Guess, opens_base: bool) -> tuple[list[int], dict[str, str]]:
    """Numbers that measurements tell apart, as columns of derivatives; and the others by name, with the reason.

    Of numbers that act alike the first is found: the base, then those of the robot in the order that is asked.
    """
    _, J = data.errors(x)
    n = sum(data.counts)
    fixture = [*range(n + 6, data.columns)]
    open_columns = [*fixture, *(range(n, n + 6) if opens_base else ()), *range(n)]
    J = J.reshape(-1, data.columns)[:, open_columns]
    lengths = np.linalg.norm(J, axis=0)
    J = J / np.where(lengths > 0, lengths, 1.0)
    kept = independent_columns(J)
    share = np.linalg.lstsq(J[:, kept], J, rcond=None)[0]
    names = dict(enumerate(data.labels)) | dict.fromkeys(fixture, f"the place of the {data.touching}")
    reasons = {}
    for i in set(range(len(open_columns))) - set(kept):
        others = [names[open_columns[k]] for k, part in zip(kept, share[:, i], strict=True) if abs(part) > SHOWN_SHARE]
        why = f"it acts as {', '.join(dict.fromkeys(others))} does" if others else "it moves nothing that was measured"
        reasons[names[open_columns[i]]] = why
    return sorted(open_columns[i] for i in kept), reasons
