"""Mobility: the degrees of freedom that closed loops leave, redundant equations, independent joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chainrule.arguments import Array
from chainrule.core.closure import CLOSED_GAP, closure_of
from chainrule.core.derived import driven_velocities
from chainrule.core.mechanism import Mechanism
from chainrule.core.rank import independent_rows, motions
from chainrule.core.reading import read_state
from chainrule.display.text import Shown
from chainrule.errors import ModelError, ShapeError, quoted
from chainrule.loops.constraints import jacobian as constraint_jacobian

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, repr=False)
class Mobility(Shown):
    """The freedom of a mechanism in one configuration.

    `dof` degrees of freedom are left of those of the `joints`, `rank` being the number of independent equations among
    the `equations` of its constraints. `redundant` has the name of a constraint for each equation that the others
    imply; `independent_joints` are joints whose velocities can be chosen and determine all others.
    """

    dof: int
    rank: int
    joints: int
    equations: int
    redundant: tuple[str, ...]
    independent_joints: tuple[str, ...]

    def _view(self) -> Iterator[str]:
        plural = "degree" if self.dof == 1 else "degrees"
        lines = [f"{self.dof} {plural} of freedom: the joints have {self.joints}, less {self.rank} equations"]
        if self.redundant:
            counts = ", ".join(f"{count} of {name!r}" for name, count in Counter(self.redundant).items())
            lines.append(f"redundant equations: {counts}")
        lines.append(f"independent joints: {', '.join(self.independent_joints)}" if self.dof else "it cannot move")
        yield from lines


def mobility(robot: Mechanism, q: ArrayLike | None = None) -> Mobility:
    """Degrees of freedom, redundant equations and independent joints at a closed q, or near the neutral one.

    >>> import chainrule as cr
    >>> print(cr.load("four_bar").loops.mobility())
    1 degree of freedom: the joints have 3, less 2 equations
    redundant equations: 1 of 'pin'
    independent joints: crank
    """
    state = closure_of(robot).neutral if q is None else read_state(robot, "mobility", q=q)[0]
    if state.ndim != 1:
        raise ShapeError(f"mobility takes one configuration of {robot.nq} numbers, got shape {state.shape}")
    if robot.model.constraints and not closure_of(robot).is_closed(state, 1e3 * CLOSED_GAP):
        raise ModelError(
            f"mobility: the configuration is not closed: {closure_of(robot).describe_gap(state)}; close it with "
            "robot.loops.close"
        )
    G = constraint_jacobian(robot, state)
    rows = independent_rows(G)
    Z = motions(G[list(rows)])
    preferred = list(driven_velocities(robot))
    others = [i for i in range(robot.nv) if i not in preferred]
    chosen = independent_rows(Z, [*preferred, *others]) if Z.shape[1] else ()
    owners = [constraint.name for constraint in robot.model.rows]
    redundant = tuple(owner for k, owner in enumerate(owners) if k not in rows)
    joints = tuple(robot.velocity_names[i] for i in chosen)
    return Mobility(Z.shape[1], len(rows), robot.nv, len(owners), redundant, joints)


def leading_velocities(robot: Mechanism, q: Array, driven: Sequence[int], caller: str) -> tuple[int, ...]:
    """Places in qd of driven velocities that together determine the motion at a closed q; refused where too few do."""
    Z = motions(constraint_jacobian(robot, q))
    chosen = independent_rows(Z, list(driven)) if Z.shape[1] else ()
    if len(chosen) < Z.shape[1]:
        names = quoted([robot.velocity_names[i] for i in driven]) if driven else "none"
        raise ModelError(
            f"{caller}: the joints with motors ({names}) determine {len(chosen)} of the {Z.shape[1]} degrees of "
            f"freedom of robot {robot.name!r} here, so that they cannot hold it; give other joints an effort limit "
            "that is not zero, or leave singular configurations"
        )
    return chosen


def refuse_immobile(robot: Mechanism) -> None:
    """Raise if the constraints leave no motion at all."""
    if robot.model.constraints and robot.nv <= len(closure_of(robot).independent_rows):
        raise ModelError(
            f"robot {robot.name!r} cannot move: its constraints ({quoted(robot.model.constraint_names)}) leave none "
            f"of its {robot.nv} degrees of freedom; remove one with robot.without_constraint(...), or choose "
            "one of a kind that allows more"
        )
