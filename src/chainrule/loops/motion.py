"""A robot with closed loops: closing them, moving along them, and the forces that hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.arguments import Array, names, rows_of
from chainrule.core.mechanism import Evaluation, is_lazy
from chainrule.errors import ModelError, ShapeError, UnknownNameError, shown
from chainrule.functions.table import FUNCTIONS
from chainrule.loops import closure, mobility
from chainrule.loops.closure import Truths
from chainrule.loops.mobility import Mobility
from chainrule.model import edits
from chainrule.spatial import Force

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.dynamics.dae import DAE

CONSISTENT = 1e-6
"""How far velocities and accelerations may violate the constraints, relative to the terms that should cancel."""


class LoopTorques(NamedTuple):
    """Torques of a robot with closed loops, and the wrench of each constraint on its second link, in its frame."""

    tau: Array
    forces: Array


STEPS_AWAY = 4
"""How far to walk from a configuration in search of one that is not singular."""


class Loops(Evaluation):
    """What constraints add to a robot. M, C, g and h stay those of the tree: M qdd + h = tau + G^T lambda."""

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """The constraints that close loops, in order."""
        return tuple(constraint.name for constraint in self.model.constraints)

    def constraint_residual(self, q: ArrayLike) -> Array:
        """phi(q), zero where every loop is closed: (..., rows), in m, and without unit for directions."""
        return self._evaluate("constraint_residual", {"q": q})

    def constraint_jacobian(self, q: ArrayLike) -> Array:
        """G with d phi/dt = G qd: (..., rows, n)."""
        return self._evaluate("constraint_jacobian", {"q": q})

    def constraint_velocity_terms(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """gamma = dG/dt qd, so that d2 phi/dt2 = G qdd + gamma: (..., rows)."""
        return self._evaluate("constraint_velocity_terms", {"q": q, "qd": qd})

    def constraint_poses(self, q: ArrayLike) -> Array:
        """The pose of each constraint's second origin in its first: (..., constraints, 4, 4)."""
        return self._evaluate("constraint_poses", {"q": q})

    # --- configurations ---

    def close(self, q: ArrayLike, *, hold: Sequence[str] = ()) -> Array:
        """A closed configuration near q, for each state of a batch: (..., nq). The joints in `hold` stay as they are.

        Newton's method with damping. Where it ends in a loop that is open, or closed the wrong way round (axes
        opposed), other starts around q are tried; if all fail, the error says which constraint stays open.

        >>> import chainrule as cr
        >>> bar = cr.load("four_bar")
        >>> q = bar.close([1.0, 0.0, 0.0], hold=["crank"])
        >>> bool(abs(bar.constraint_residual(q)).max() < 1e-12)
        True
        """
        (state,) = self._arguments("close", {"q": q})
        flat = state.reshape(-1, self.model.nq)
        if not self.model.constraints:
            return np.array(state, dtype=float)
        best, good = self._closed(flat, self._held("close", hold))
        bad = np.flatnonzero(~good & np.isfinite(flat).all(axis=-1))
        if len(bad):
            kept = f" with {shown(hold)} held" if hold else ""
            many = f" ({len(bad)} of {len(flat)} states)" if len(flat) > 1 else ""
            raise ModelError(
                f"close: robot {self.model.name!r} cannot be closed from this configuration{kept}{many}: "
                f"{self._gap(best[bad[0]])}; start nearer to a closed configuration"
                + (", or hold fewer joints" if hold else "")
            )
        return best.reshape(state.shape)

    def _closed(self, q: Array, held: Sequence[int] = ()) -> tuple[Array, Truths]:
        """States (N, nq) closed, and which of them are."""
        free = np.array([i not in held for i in range(self.model.nv)])

        def is_closed(states: Array) -> Truths:
            lengths, angles = closure.gaps(self.model.constraints, self.constraint_poses(states))
            return np.asarray((np.maximum(lengths, angles) <= closure.CLOSED).all(axis=-1))

        def integrate(states: Array, steps: Array) -> Array:
            return self._evaluate("integrate", {"q": states, "v": steps})

        return closure.closed_from(q, self.constraint_residual, self.constraint_jacobian, integrate, is_closed, free)

    def _gap(self, q: Array) -> str:
        """The constraint that is farthest open in a configuration, and by how much."""
        lengths, angles = closure.gaps(self.model.constraints, self.constraint_poses(q))
        worst = int(np.argmax(np.maximum(lengths, angles)))
        turned = f" and {np.degrees(angles[worst]):.3g} degrees" if angles[worst] > closure.CLOSED else ""
        return f"constraint {self.constraint_names[worst]!r} stays open by {lengths[worst]:.3g} m{turned}"

    def _held(self, function: str, hold: Sequence[str]) -> tuple[int, ...]:
        """The places in qd of joints that are to be held."""
        places: list[int] = []
        for name in names(hold, f"{function}: hold"):
            joint = edits.find_joint(self.model, name)
            if joint not in self.model.moving:
                raise ModelError(f"{function}: joint {name!r} has no coordinate of its own to hold")
            places += [i for i, owner in enumerate(self._owners) if owner == name]
        return tuple(places)

    @cached_property
    def _owners(self) -> list[str]:
        """The joint that each velocity belongs to."""
        return [joint.name for joint in self.model.moving for _ in range(joint.kind.nv)]

    # --- velocities and accelerations ---

    def closing_step(self, q: ArrayLike) -> Array:
        """One Newton step towards closed loops: integrate(q, closing_step(q)) has less residual: (..., n).

        The smallest such step in the metric of the mass matrix.
        """
        if not self.model.constraints:
            return np.zeros((*self._arguments("closing_step", {"q": q})[0].shape[:-1], self.model.nv))
        return self._evaluate("closing_step", {"q": q})

    def consistent_velocity(self, q: ArrayLike, qd: ArrayLike, hold: Sequence[str] = ()) -> Array:
        """The velocity nearest to qd that keeps the loops closed, in the metric of the mass matrix: (..., n).

        The joints in `hold` keep theirs; an error names the constraint if the others cannot follow.
        """
        held = self._held("consistent_velocity", hold)
        if not self.model.constraints:
            return np.array(self._arguments("consistent_velocity", {"q": q, "qd": qd})[1], dtype=float)
        v = self._evaluate("consistent_velocity", {"q": q, "qd": qd}, held=held)
        if held:
            still = np.zeros(len(self.model.rows))
            self._refuse_violation("consistent_velocity", q, v, still, f"with {shown(hold)} held")
        return v

    def consistent_acceleration(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, hold: Sequence[str] = ()) -> Array:
        """The acceleration nearest to qdd that keeps the loops closed, G qdd + gamma = 0: (..., n)."""
        held = self._held("consistent_acceleration", hold)
        state = {"q": q, "qd": qd, "qdd": qdd}
        if not self.model.constraints:
            return np.array(self._arguments("consistent_acceleration", state)[2], dtype=float)
        a = self._evaluate("consistent_acceleration", state, held=held)
        if held:
            gamma = self.constraint_velocity_terms(q, qd)
            self._refuse_violation("consistent_acceleration", q, a, gamma, f"with {shown(hold)} held")
        return a

    def _refuse_violation(self, function: str, q: ArrayLike, v: Array, gamma: Array, how: str) -> None:
        """Raise, naming the constraint, where G v + gamma is not zero; states that are not finite are passed over."""
        G = self.constraint_jacobian(q)
        left = np.abs((G @ v[..., None])[..., 0] + gamma)
        scale = (np.abs(G) @ np.abs(v)[..., None])[..., 0] + np.abs(gamma)
        bad = left > CONSISTENT * (1 + scale.max(axis=-1, initial=0.0, keepdims=True))
        if bad.any():
            row = int(np.argwhere(bad)[0][-1])
            name = self.model.rows[row].name
            raise ModelError(
                f"{function}: {how}, constraint {name!r} is violated by {left[bad].max():.3g}: the joints do not move "
                "together; robot.consistent_velocity and robot.consistent_acceleration keep loops closed"
            )

    # --- mobility ---

    @cached_property
    def independent_rows(self) -> tuple[int, ...]:
        """Equations of the constraints that do not follow from others, chosen greedily in listed order.

        Chosen where the mechanism has most of them on a walk among closed configurations that starts at the neutral
        one; a row counts when more than 1e-7 of it, relative to its length, is new.
        """
        if not self.model.constraints:
            return ()
        return self._rows_near(self._closed_neutral)

    def _rows_near(self, q: Array) -> tuple[int, ...]:
        """Independent equations at a closed configuration, or near it where it is a singular one."""
        rng = np.random.default_rng(0)
        best, rows = q, mobility.independent_rows(self.constraint_jacobian(q))
        for _ in range(STEPS_AWAY):
            N = mobility.motions(self.constraint_jacobian(best))
            away = rng.normal(size=(8, N.shape[1])) * 0.05 @ N.T
            states, good = self._closed(self._evaluate("integrate", {"q": best, "v": away}))
            for state in states[good]:
                found = mobility.independent_rows(self.constraint_jacobian(state))
                if len(found) > len(rows):
                    best, rows = state, found
        return rows

    def mobility(self, q: ArrayLike | None = None) -> Mobility:
        """Degrees of freedom, redundant equations and independent joints at a closed q, or near the neutral one.

        >>> import chainrule as cr
        >>> print(cr.load("four_bar").mobility())
        1 degree of freedom: the joints have 3, less 2 equations
        redundant equations: 1 of 'pin'
        independent joints: crank
        """
        state = self._closed_neutral if q is None else self._arguments("mobility", {"q": q})[0]
        if state.ndim != 1:
            raise ShapeError(f"mobility takes one configuration of {self.model.nq} numbers, got shape {state.shape}")
        if self.model.constraints:
            lengths, angles = closure.gaps(self.model.constraints, self.constraint_poses(state))
            if not np.maximum(lengths, angles).max() <= 1e3 * closure.CLOSED:
                raise ModelError(
                    f"mobility: the configuration is not closed: {self._gap(state)}; close it with robot.close"
                )
        owners = [constraint.name for constraint in self.model.rows]
        return mobility.mobility(self.constraint_jacobian(state), owners, self._velocity_names, list(self._actuated))

    @cached_property
    def _velocity_names(self) -> list[str]:
        return [
            joint.name if joint.kind.nv == 1 else f"{joint.name}.{k}"
            for joint in self.model.moving
            for k in range(joint.kind.nv)
        ]

    def _require_mobility(self) -> None:
        """Raise if the constraints leave no motion at all."""
        if self.model.constraints and self.model.nv <= len(self.independent_rows):
            raise ModelError(
                f"robot {self.model.name!r} cannot move: its constraints ({shown(self.constraint_names)}) leave none "
                f"of its {self.model.nv} degrees of freedom; remove one with robot.without_constraint(...), or choose "
                "one of a kind that allows more"
            )

    # --- forces ---

    def constraint_forces(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """The wrench of each constraint on its second link, in that link's frame, under torques: (..., constraints, 6).

        The first link feels the opposite. Equations left out as redundant carry nothing.
        """
        return self._forces("constraint_forces", {"q": q, "qd": qd, "tau": tau}, tip_wrench, wrenches)

    def loop_forces(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """The wrench of each constraint on its second link during a motion: (..., constraints, 6)."""
        return self._forces("loop_forces", {"q": q, "qd": qd, "qdd": qdd}, tip_wrench, wrenches)

    def _forces(
        self,
        function: str,
        state: dict[str, ArrayLike],
        tip_wrench: ArrayLike | None,
        wrenches: Mapping[str, ArrayLike] | None,
        **options: Any,
    ) -> Array:
        """Wrenches of the constraints, none where there are no constraints."""
        if not self.model.constraints:
            return np.zeros((*self._arguments(function, state)[0].shape[:-1], 0, 6))
        return self._loaded(function, state, tip_wrench, wrenches, **options)

    def loop_torques(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        actuated: Sequence[str] | None = None,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> LoopTorques:
        """Torques of the actuated joints that produce qdd, zero elsewhere, and the forces of the constraints.

        M qdd + h = tau + G^T lambda. `actuated` names joints; without it, they are those whose effort limit is not
        zero. Of several torques that would do, the smallest. Errors say when qdd does not keep the loops closed, and
        when those joints cannot produce it.
        """
        driven = self._actuated if actuated is None else self._held("loop_torques", actuated)
        options = {"actuated": driven} if self.model.constraints else {}
        state = {"q": q, "qd": qd, "qdd": qdd}
        tau = self._loaded("inverse_dynamics", dict(state), tip_wrench, wrenches, **options)
        forces = self._forces("loop_forces", dict(state), tip_wrench, wrenches, **options)
        if self.model.constraints and not any(is_lazy(x) for x in state.values()):
            arrays = self._arguments("loop_torques", state)
            gamma = self.constraint_velocity_terms(arrays[0], arrays[1])
            self._refuse_violation("inverse_dynamics", arrays[0], arrays[2], gamma, "with this qdd")
            needed = self._loaded("bias", {"q": q, "qd": qd}, tip_wrench, wrenches)
            needed = needed + (self._evaluate("mass_matrix", {"q": arrays[0]}) @ arrays[2][..., None])[..., 0]
            self._refuse_undriven(arrays[0], needed, tau, driven)
        return LoopTorques(tau, forces)

    @cached_property
    def _actuated(self) -> tuple[int, ...]:
        """The velocities that can be driven: those whose effort limit is not zero."""
        efforts = [dof.effort for joint in self.model.moving for dof in joint.dofs]
        return tuple(i for i, effort in enumerate(efforts) if effort != 0)

    def _refuse_undriven(self, q: Array, needed: Array, tau: Array, driven: Sequence[int]) -> None:
        """Raise where tau and the constraints together do not supply what the tree needs."""
        rows = list(self.independent_rows)
        across = np.swapaxes(self.constraint_jacobian(q)[..., rows, :], -1, -2)
        with np.errstate(all="ignore"):
            rest = needed - tau
            whole = np.asarray(np.isfinite(needed).all(axis=-1))
            lost = np.asarray(~np.isfinite(rest).all(axis=-1))
            rest = np.where((whole & ~lost)[..., None], rest, 0.0)
            across = np.where(np.isfinite(across), across, 0.0)
            left = rest - (across @ (np.linalg.pinv(across) @ rest[..., None]))[..., 0]
            scale = 1 + np.abs(np.where(whole[..., None], needed, 0.0)).max(axis=-1, initial=0.0)
        if (whole & (lost | (np.abs(left).max(axis=-1, initial=0.0) > CONSISTENT * scale))).any():
            free = self.model.nv - len(rows)
            joints = shown(dict.fromkeys(self._owners[i] for i in driven))
            raise ModelError(
                f"inverse_dynamics: the actuated joints ({joints}) cannot produce this motion of robot "
                f"{self.model.name!r}, which has {free} degree{'s' if free != 1 else ''} of freedom; give other joints "
                "an effort limit that is not zero, or name them: robot.loop_torques(q, qd, qdd, actuated=[...])"
            )

    def dae(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        tip_wrench: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> DAE:
        """The equations of motion of one state with nothing eliminated: links, joints and constraints in one system.

        Links on fixed joints are part of what carries them. `solve()` gives every unknown, `reduce()` the steps that
        lead to M and h.

        >>> import chainrule as cr
        >>> system = cr.load("planar_2r").dae([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
        >>> system.solve().qdd.round(3).tolist()
        [-9.81, 9.81]
        """
        from chainrule.dynamics.dae import dae

        arrays = self._arguments("dae", {"q": q, "qd": qd, "tau": tau})
        self._require_masses("forward_dynamics")
        if arrays[0].ndim != 1:
            raise ShapeError(f"dae takes one state, got a batch of shape {arrays[0].shape[:-1]}")
        acting = {
            name: rows_of(F, 6, f"dae: wrenches[{name!r}]", "moment and force") for name, F in (wrenches or {}).items()
        }
        loads = [*acting.items()]
        if tip_wrench is not None:
            loads.append((self.model.tip, -rows_of(tip_wrench, 6, "dae: tip_wrench", "moment and force")))
        on_links: dict[int, Force] = {}
        for name, wrench in loads:
            index, offset = self._merged.locate(name)
            on_links[index] = on_links.get(index, Force.zero()) + offset * Force.of(wrench.tolist())
        at, rates, torques = (array.tolist() for array in arrays)
        return dae(self._merged, at, rates, torques, on_links, self.independent_rows)

    # --- what evaluation needs to know ---

    @cached_property
    def _closed_neutral(self) -> Array:
        """The closed configuration next to that of all zeros and unit quaternions; if there is none, any."""
        neutral = np.array([x for joint in self.model.moving for x in joint.kind.neutral()], dtype=float)
        if self.model.constraints and not self._closed(neutral[None])[1].all():
            states, good = self._closed(self._random_open(np.random.default_rng(0), (64,)))
            if good.any():
                return np.asarray(states[good][0])
        return self.close(neutral)

    def _loop_options(self, function: str) -> dict[str, Any]:
        """The options that closed loops add to those of a function."""
        if not self.model.constraints:
            return {}
        values: dict[str, Callable[[], tuple[int, ...]]] = {
            "rows": lambda: self.independent_rows, "actuated": lambda: self._actuated, "held": lambda: (),
        }  # fmt: skip
        return {option: values[option]() for option in FUNCTIONS[function].loops}

    def _check_loop_options(self, options: Mapping[str, Any]) -> None:
        """Refuse places that are not there."""
        for option, size in (("rows", len(self.model.rows)), ("actuated", self.model.nv), ("held", self.model.nv)):
            places = options.get(option, ())
            if not isinstance(places, Sequence) or not all(isinstance(k, int) and 0 <= k < size for k in places):
                raise ShapeError(f"{option} must be a list of places from 0 to {size - 1}, got {places!r:.60}")
            if len(set(places)) < len(places):
                raise UnknownNameError(f"{option} names a place twice: {places!r:.60}")

    def _random_closed(self, rng: np.random.Generator, batch: tuple[int, ...]) -> Array:
        """Random configurations that are closed and within the limits: those that are not are drawn again."""
        count = int(np.prod(batch))
        q = np.empty((count, self.model.nq))
        open_ = np.arange(count)
        for k in range(40):
            if not len(open_):
                return q.reshape(*batch, self.model.nq)
            drawn = self._random_open(rng, (len(open_),))
            if k >= 4:  # a mechanism of many loops seldom closes from afar: start from a closed one, ever less far away
                away = rng.normal(size=(len(open_), self.model.nv)) / (k - 3)
                drawn = self._evaluate("integrate", {"q": self._closed_neutral, "v": away})
            states, good = self._closed(drawn)
            good &= self._within_limits(states)
            q[open_[good]] = states[good]
            open_ = open_[~good]
        raise ModelError(
            f"robot {self.model.name!r}: no closed configuration within the limits was found at random; close one that "
            "you know, with robot.close(q)"
        )

    def _random_open(self, rng: np.random.Generator, batch: tuple[int, ...]) -> Array:
        raise NotImplementedError

    def _within_limits(self, q: Array) -> Truths:
        """Whether states (N, nq) keep the limits of the joints that have coordinates to be limited."""
        good = np.ones(len(q), dtype=bool)
        place = 0
        for joint in self.model.moving:
            if joint.kind.nq == joint.kind.nv:
                for k, dof in enumerate(joint.dofs):
                    good &= (q[:, place + k] >= dof.lower) & (q[:, place + k] <= dof.upper)
            place += joint.kind.nq
        return good
