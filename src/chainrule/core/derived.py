"""What follows from a robot's model, computed once for each robot: the merged model, digests, what moves mass."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from chainrule.core.validation import idle_joints
from chainrule.model import Model, edits

if TYPE_CHECKING:
    from chainrule.compile.backend import Backend

T = TypeVar("T")


class Modelled(Protocol):
    """A robot, as far as it is its model."""

    @property
    def model(self) -> Model:
        """The links, joints, frames and constraints."""


def remember(robot: Modelled, key: Hashable, compute: Callable[[], T]) -> T:
    """The result of `compute`, computed once for this robot."""
    memory: dict[Hashable, Any] = robot.__dict__.setdefault("_remembered", {})
    if key not in memory:
        memory[key] = compute()
    value: T = memory[key]
    return value


def backend_of(robot: Modelled) -> Backend:
    """The evaluation of a robot's functions: compiled, or as they are written."""
    backend: Backend = cast(Any, robot)._backend
    return backend


def merged_model(robot: Modelled) -> Model:
    """The model with its fixed joints welded: what dynamics is computed on. It has no geometry."""
    merged: Model | None = robot.__dict__.get("_merged")
    if merged is None:
        merged = robot.__dict__["_merged"] = edits.merge_fixed(edits.without_annotations(robot.model))
    return merged


def fingerprint(robot: Modelled) -> str:
    """A digest of every number and name that shapes the model's motion."""
    return robot.model.digest()


def merged_fingerprint(robot: Modelled) -> str:
    """A digest of every number and name that shapes the merged model's motion."""
    return merged_model(robot).digest()


def driven_velocities(robot: Modelled) -> tuple[int, ...]:
    """The indices in qd of the velocities that can be driven: those whose effort limit is not zero."""
    return tuple(velocity.index for velocity in robot.model.layout.velocities if not velocity.dof.passive)


def has_moving_mass(robot: Modelled) -> bool:
    """Whether anything that moves has a mass, an inertia or a rotor."""
    return remember(robot, "has mass", lambda: merged_model(robot).has_mass)


def massless_joints(robot: Modelled) -> tuple[str, ...]:
    """Joints that move no mass, so that the mass matrix is singular."""
    return remember(robot, "massless joints", lambda: tuple(idle_joints(merged_model(robot))))
