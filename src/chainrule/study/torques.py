"""Torques of subjects who differ in size and masses, by one kernel.

A body whose lengths are s times those of another, with masses m, centers of mass s c and inertias s^2 I, moves by the
same angles with the torques

    tau(m, s c, s^2 I, g) = s^2 tau(m, c, I, g / s),

for there are two lengths in kinetic energy and one in the energy of weight. Torques are linear in the masses, so that
s^2 goes into them: the kernel of one body serves another, with the numbers of the links and gravity as arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from chainrule.algorithms.terms import term_names
from chainrule.arguments import Array
from chainrule.core.derived import merged_model, remember
from chainrule.core.evaluation import kernel_of
from chainrule.core.reading import find_link
from chainrule.display.text import FieldsShown
from chainrule.errors import ShapeError
from chainrule.lazy import cached_property
from chainrule.spatial import Inertia

if TYPE_CHECKING:
    from chainrule.robot.robot import Robot
    from chainrule.study.motions import Motion
    from chainrule.study.subjects import Subject

DYNAMIC = ("inertial", "centrifugal", "coriolis")
"""Terms that vanish at rest, and grow with the square of the pace."""


@dataclass(frozen=True, eq=False, repr=False)
class MotionTorques(FieldsShown):
    """A motion of a subject and the torques that it takes: arrays of (T, n), in SI units."""

    subject: Subject
    motion: Motion
    terms: Mapping[str, Array]
    """Torques by cause, as of `robot.torque_terms`, and "contact", what the hand's force on its surroundings adds. All
    but "total" add up to it."""

    @property
    def total(self) -> Array:
        """The whole torque."""
        return self.terms["total"]

    @property
    def gravity(self) -> Array:
        """The torque that holds the links and what is in the hand."""
        return self.terms["gravity"]

    @property
    def contact(self) -> Array:
        """The torque that the hand's force on its surroundings takes."""
        return self.terms["contact"]

    @cached_property
    def other(self) -> Array:
        """The sum of all further torques: friction, springs, dampers, and what closed loops carry."""
        named = (*DYNAMIC, "gravity", "contact", "total")
        return sum((term for name, term in self.terms.items() if name not in named), start=np.zeros_like(self.total))

    @property
    def angles(self) -> Array:
        """Angles, or the displacements from the neutral configuration of a robot with quaternions in q."""
        robot, q = self.subject.robot, self.motion.q
        return q if robot.nq == robot.nv else robot.difference(robot.neutral(), q)

    @cached_property
    def dynamic(self) -> Array:
        """The sum of inertial, centrifugal and Coriolis torques, which vanish at rest."""
        return sum((self.terms[name] for name in DYNAMIC), start=np.zeros_like(self.total))

    def joint_wrenches(self) -> Array:
        """The whole wrench (moment, force) that each joint carries (T, joints, 6), as of `robot.joint_wrenches`.

        What is in the hand, and what it meets, pull at the end-effector.
        """
        motion, robot, force = self.motion, self.subject.robot, self.hand_force()
        moment = np.zeros_like(force) if motion.contact is None else motion.contact[:, :3]
        tip = np.concatenate([moment, force], axis=1)
        return robot.joint_wrenches(motion.q, motion.qd, motion.qdd, tip_wrench=tip)

    def hand_force(self) -> Array:
        """The force of the hand on what it holds, as a point mass, and on what it meets, in base axes (T, 3), in N."""
        motion, robot = self.motion, self.subject.robot
        force = np.zeros((len(motion), 3)) if motion.contact is None else motion.contact[:, 3:].copy()
        if motion.grasps:
            lift = robot.acceleration(motion.q, motion.qd, motion.qdd)[:, 3:] - np.array([*robot.model.gravity])
            for grasp in motion.grasps:
                force[grasp.during] += grasp.body.mass * lift[grasp.during]
        return force

    @cached_property
    def power(self) -> Array:
        """The power of each joint, in W: positive where the joint drives, negative where it is driven."""
        return self.total * self.motion.qd


class TorqueFunction:
    """Torque terms of the subjects who share a base robot."""

    def __init__(self, base: Robot) -> None:
        self.base = base
        self.names = term_names(merged_model(base))

    def __call__(self, subject: Subject, motion: Motion) -> MotionTorques:
        """The torques of one motion."""
        changed = self._changed_links(subject, motion)
        if changed or subject.scale != 1 or subject.robot.model.gravity != self.base.model.gravity:
            if self.base.model.constraints:
                raise ShapeError(
                    f"robot {self.base.name!r} has closed loops, where held objects, other masses and another gravity "
                    "are not added by a study; add them before, by robot.with_payload(...) and robot.edit(gravity=...)"
                )
            parameters = ("gravity", *(f"{name}.inertial" for name in changed))
            kernel = kernel_of(self._merged, "torque_terms", parameters=parameters)
            gravity = np.array([*subject.robot.model.gravity]) / subject.scale
            values = kernel(motion.q, motion.qd, motion.qdd, gravity, *changed.values())
            terms = {name: values[..., k, :] for k, name in enumerate(self.names)}
        else:
            terms = dict(self.base.torque_terms(motion.q, motion.qd, motion.qdd))
        total, contact = terms.pop("total"), self._contact(subject, motion)
        return MotionTorques(subject, motion, {**terms, "contact": contact, "total": total + contact})

    @cached_property
    def _merged(self) -> Robot:
        """The base robot with its fixed joints welded: the one whose links change."""
        return self.base.merge_fixed()

    def _changed_links(self, subject: Subject, motion: Motion) -> dict[str, Array]:
        """Ten numbers (10,) or (T, 10), of each link whose inertia differs from that in the kernel."""
        changed = {}
        hand, T_grip = (
            merged_model(subject.robot).locate(find_link(subject.robot, None)) if motion.grasps else (None, None)
        )
        for i, (own, link) in enumerate(
            zip(merged_model(self.base).links, merged_model(subject.robot).links, strict=True)
        ):
            grasps = motion.grasps if i == hand else ()
            if not (i and (grasps or (link.mass and subject.scale != 1) or link != own)):
                continue
            numbers = _numbers(link.spatial_inertia, subject.scale)
            for grasp in grasps:
                assert T_grip is not None
                together = link.spatial_inertia + grasp.body.spatial_inertia.moved_by(T_grip)
                numbers = np.where(grasp.during[:, None], _numbers(together, subject.scale), numbers)
            changed[link.name] = numbers
        return changed

    def _contact(self, subject: Subject, motion: Motion) -> Array:
        """J^T F of the wrench that the hand applies to its surroundings, in the axes of the base."""
        if motion.contact is None:
            return np.zeros_like(motion.qd)
        J = self.base.jacobian(motion.q)
        wrench = motion.contact * np.repeat([1.0, subject.scale], 3)
        return np.einsum("tij,ti->tj", J, wrench)


def torques_of(
    motions: Iterable[tuple[Subject, Motion]], prepare: Callable[[Subject], Subject] | None = None
) -> Iterator[MotionTorques]:
    """Motions of subjects with their torques, one by one.

    prepare: what is done to each subject before.
    """
    for subject, motion in motions:
        if prepare is not None:
            subject = prepare(subject)
        function = remember(subject.base, "torques of subjects", partial(TorqueFunction, subject.base))
        yield function(subject, motion)


def _numbers(body: Inertia, scale: float) -> Array:
    """Mass, center of mass and inertia about it (10,), of a body drawn smaller by the scale, its mass times scale^2."""
    c, I = body.com, body.about_com()
    return np.array(
        [body.mass * scale**2, c.x / scale, c.y / scale, c.z / scale, I.xx, I.yy, I.zz, I.xy, I.xz, I.yz], dtype=float
    )
