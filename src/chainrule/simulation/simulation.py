"""The object `Simulation`, moved on step by step by its user: for loops of one's own, and reinforcement learning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from chainrule.arguments import Array, real_array, refuse_nonfinite, rows_of, whole_number
from chainrule.calls import explains_arguments, explains_methods
from chainrule.core.at import takes_parameters, unbind
from chainrule.core.derived import driven_velocities
from chainrule.core.dimensions import refuse_named_batch
from chainrule.core.mechanism import Mechanism
from chainrule.core.parameter_values import read_parameters
from chainrule.core.reading import read_joints
from chainrule.display.text import Advised
from chainrule.errors import ShapeError, SimulationError, UnknownNameError, short_repr
from chainrule.loops.constraints import residual as constraint_residual

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.control.laws.controller import Controller
    from chainrule.simulation.impacts import Impacts, Stops
    from chainrule.simulation.integrators import FixedStep, Integrator
    from chainrule.simulation.request import SimulationRequest
    from chainrule.simulation.sampled import Torque


@takes_parameters
@explains_arguments
def simulation(
    robot: Mechanism,
    q0: ArrayLike,
    qd0: ArrayLike | None = None,
    *,
    torque: Torque = None,
    integrator: str | Integrator = "rk4",
    dt: float | None = None,
    tip_wrench: Torque = None,
    external: Mapping[str, Torque] | None = None,
    frame: str = "world",
    stops: Stops | Impacts | None = None,
    loops: str = "projection",
    limits: bool = True,
    torque_limits: bool = True,
    diverged: str = "raise",
) -> Simulation:
    """A simulation that is moved on step by step: `sim.step(tau)`, for every row of a batch of starts.

    Each step is compiled, and the same as a step of `simulate` with these torques.

    Parameters
    ----------
    q0, qd0
        Configurations (..., nq) and velocities (..., n) at the start; None for at rest. Loops are closed there.
    torque
        A controller, or anything else that simulate takes for torques. `step` then takes none, and `sim.control` puts
        other gains or another target.
    integrator, dt
        An integrator of fixed steps, as an object, or by its name and its step in s: "rk4" and 1 ms unless given.
    tip_wrench, external, frame
        Wrenches that act all the time, and their frame, as in simulate; `sim.push` gives constant
        ones other values on the way.
    stops
        What happens at the position limits: cr.Stops(stiffness, damping), cr.Impacts(restitution), or nothing.
    loops
        How loops are kept closed: "projection" after every step, "baumgarte", or "none".
    limits
        Refuse a start outside the position limits.
    torque_limits
        Torques saturate at the joints' effort limits.
    diverged
        "raise" an error where a motion diverges, or "keep" its row, as nan.

    `sim.change` gives parameters that are bound by `robot.at({...})` other values on the way.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> sim = arm.simulation([0.0, 0.0], dt=0.01)
    >>> for _ in range(100):
    ...     sim.step(-5.0 * sim.qd)
    >>> round(sim.t, 9), sim.q.shape
    (1.0, (2,))
    """
    from chainrule.simulation.integrators import FixedStep
    from chainrule.simulation.run import read_request

    robot, parameters = unbind(robot)
    asked, _ = read_request(
        robot, q0, qd0, np.zeros(robot.nv) if torque is None else torque, parameters, caller="simulation",
        integrator=integrator, dt=dt, tip_wrench=tip_wrench, external=external, frame=frame, stops=stops, loops=loops,
        limits=limits, torque_limits=torque_limits, diverged=diverged,
    )  # fmt: skip
    chosen = asked.integrator
    if not isinstance(chosen, FixedStep):
        raise ShapeError(
            f"simulation: {chosen.name} chooses its own steps; take an integrator of fixed steps, such as "
            "integrator=cr.RK4(dt=1e-3), or simulate(..., cr.Sampled(law, period)) with any"
        )
    return Simulation(asked, chosen, asked.limits, takes_torques=torque is None)


@explains_methods
class Simulation(Advised):
    """A motion, or a batch of them, that `step` moves on. Made by `robot.simulation`.

    Attributes
    ----------
    t
        The time since the start, in s.
    q, qd
        Configurations (..., nq) and velocities (..., n): copies, which later steps leave alone.
    state
        Everything that the motion goes on from, (..., size): q, qd and the work done. Assign one to return to it.
    """

    def __init__(
        self,
        request: SimulationRequest,
        integrator: FixedStep,
        within_limits: bool = True,
        *,
        takes_torques: bool = True,
    ) -> None:
        from chainrule.simulation.splitting import StepSplitter
        from chainrule.simulation.time_loop import record_size

        self.robot, self.dt, self.batch = request.robot, integrator.dt, request.start.batch
        self._request, self._within_limits = request, within_limits
        self._start = request.state.copy()
        self._state = request.state.copy()
        self._taken = 0
        rows = np.broadcast_to(request.parameters, (len(self._state), request.parameters.shape[-1]))
        self._splitter = StepSplitter(replace_parameters(request, rows.copy()), integrator)
        at = request.plant.own_parameters
        self._takes_torques = takes_torques
        self._torques = self._splitter.request.parameters[:, at : at + (self.robot.nv if takes_torques else 0)]
        """The torques of every row: a part of the parameters, in place; nothing where a law gives them."""
        self._record = np.empty((len(self._state), 1, record_size(request.plant)))
        self._quick = self._splitter.bind(self._state, integrator.dt)
        driven = set(driven_velocities(self.robot)) if request.torque_limits else set(range(self.robot.nv))
        self._undriven = [i for i in range(self.robot.nv) if i not in driven] if takes_torques else []

    def __repr__(self) -> str:
        many = f"{self.batch} motions of " if self.batch else ""
        return f"<Simulation of {many}{self.robot.name!r} at {self.t:g} s, {self._request.integrator.name}>"

    # --- the state ---

    @property
    def t(self) -> float:
        """The time since the start, in s."""
        return self._taken * self.dt

    @property
    def q(self) -> Array:
        """Configurations (..., nq)."""
        return self._state[:, : self.robot.nq].reshape((*self.batch, self.robot.nq)).copy()

    @property
    def qd(self) -> Array:
        """Velocities (..., n)."""
        nq, nv = self.robot.nq, self.robot.nv
        return self._state[:, nq : nq + nv].reshape((*self.batch, nv)).copy()

    @property
    def state(self) -> Array:
        """Everything that the motion goes on from: (..., size)."""
        return self._state.reshape((*self.batch, -1)).copy()

    @state.setter
    def state(self, value: ArrayLike) -> None:
        array = real_array(value, "simulation: state").astype(float)
        if array.shape != (*self.batch, self._state.shape[1]):
            raise ShapeError(
                f"simulation: state must have the shape {(*self.batch, self._state.shape[1])}, as sim.state gives it, "
                f"got {array.shape}"
            )
        self._state[:] = array.reshape(self._state.shape)

    # --- steps ---

    def step(self, tau: ArrayLike | None = None, steps: int = 1) -> None:
        """Move on by one step of dt, or by several, under torques tau (..., n); none if they are left out."""
        if not self._takes_torques:
            if tau is not None:
                raise ShapeError(
                    "step: this simulation was made with torque=..., which gives the torques; leave out tau"
                )
        elif type(tau) is np.ndarray and tau.dtype == np.float64 and tau.shape == (*self.batch, self.robot.nv):
            self._torques[:] = tau.reshape(self._torques.shape)
        else:
            self._torques[:] = self._read(tau)
        if self._undriven:
            self._refuse_undriven()
        count = 1 if steps == 1 else whole_number(steps, "step: steps", least=1)
        if not np.isfinite(self._torques).all():
            raise ShapeError(f"step: tau must be finite, got {tau!r:.80}")
        if count == 1 and self._quick is not None:
            self._quick()
        else:
            self._advance(count)
        self._taken += count
        self._check()

    def _read(self, tau: ArrayLike | None) -> Array:
        """Torques of all rows, from any array that fits."""
        if tau is None:
            return np.zeros(self._torques.shape)
        nv = self.robot.nv
        refuse_named_batch(self.robot.model.layout, tau, "step: tau")
        array = read_joints(self.robot, tau, "effort", "step: tau")
        try:
            return np.broadcast_to(array, (*self.batch, nv)).reshape(self._torques.shape)
        except ValueError:
            raise ShapeError(f"step: tau has the shape {array.shape}, and starts have {self.batch}") from None

    def _refuse_undriven(self) -> None:
        for i in self._undriven:
            if self._torques[:, i].any():
                raise ShapeError(
                    f"step: joint {self.robot.velocity_names[i]!r} has an effort limit of 0, so that no torque can act "
                    "there; give it none, or pass torque_limits=False"
                )

    def _advance(self, count: int) -> None:
        grid = np.asarray((self._taken + np.arange(count + 1)) * self.dt, dtype=float)
        self._splitter.advance(self._state, grid, self.dt, count, self._record)

    def _check(self) -> None:
        """An error where the motion cannot be trusted any further."""
        if self._request.keeps_diverged:
            return
        if not np.isfinite(self._state).all():
            row = int(np.flatnonzero(~np.isfinite(self._state).all(axis=1))[0])
            which = f", row {self._request.start.index_of(row)}" if self.batch else ""
            raise SimulationError(
                f"step: the motion diverges at about t = {self.t:.6g} s{which}. Take a smaller dt than {self.dt:g} s, "
                "or softer gains; reset() starts again",
                None,
            )
        if self._request.plant.rows and self._request.projects:
            from chainrule.simulation.guards import MAX_LOOP_GAP

            gap = float(np.abs(constraint_residual(self.robot, self._state[:, : self.robot.nq])).max())
            if gap > MAX_LOOP_GAP:
                raise SimulationError(f"step: a loop comes open at t = {self.t:.6g} s, by {gap:.2g}", None)

    def change(self, parameters: Mapping[str, ArrayLike]) -> None:
        """Give parameters of the robot other values from now on: a payload that is picked up, or put down.

        They are some of those that the simulation was made with. Nothing is compiled.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r")
        >>> sim = arm.at({"link2.payload": None}).simulation([0.0, 0.0])
        >>> sim.step(steps=100)
        >>> sim.change({"link2.payload": [0.5, 1.0, 0.0, 0.0]})
        >>> sim.step(steps=100)
        """
        bound = read_parameters(self.robot.model, "change", parameters)
        names, counts = self._request.bound.names, self._request.bound.counts
        rows = self._splitter.request.parameters
        ends = dict(zip(names, (np.cumsum(counts) + rows.shape[1] - sum(counts)).tolist(), strict=True))
        for name, array in bound.as_dict().items():
            if name not in ends:
                raise UnknownNameError.of("parameter", name, names, "change: this simulation")
            try:
                wide = np.broadcast_to(array, (*self.batch, array.shape[-1]))
            except ValueError:
                raise ShapeError(
                    f"change: {name!r} has the shape {array.shape}, and the batch is {self.batch}"
                ) from None
            rows[:, ends[name] - array.shape[-1] : ends[name]] = wide.reshape(len(rows), -1)

    def push(self, wrenches: Mapping[str, ArrayLike]) -> None:
        """Give constant wrenches other values from now on: a push, or its end. Nothing is compiled.

        They are (..., 6) each, on links that the simulation was made with wrenches for, and in the same axes.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r")
        >>> sim = arm.simulation([0.0, 0.0], external={"link2": [0.0] * 6})
        >>> sim.push({"link2": [0.0, 0.0, 0.0, 0.0, 5.0, 0.0]})
        >>> sim.step(steps=100)
        """
        if not isinstance(wrenches, Mapping):
            raise ShapeError(f"push takes a dictionary of links and wrenches, got {short_repr(wrenches)}")
        places = self._slices_of_wrenches()
        known = [name for name, place in places.items() if place is not None]
        read: dict[str, Array] = {}
        for name, wrench in wrenches.items():
            if places.get(name) is None:
                raise UnknownNameError.of("link with a constant wrench", name, known, "push: this simulation")
            array = rows_of(wrench, 6, f"push: {name!r}", "moment, force")
            refuse_nonfinite(array, f"push: {name!r}")
            read[name] = _spread(array.reshape(-1, 6), array.shape[:-1], self.batch, f"push: {name!r}")
        for name, rows in read.items():
            self._splitter.request.parameters[:, places[name]] = rows

    def _slices_of_wrenches(self) -> dict[str, slice | None]:
        """Where each wrench is among the parameters; None where they come from a function."""
        from chainrule.simulation.sources import Source

        plant = self._request.plant
        at = plant.own_parameters + plant.torque.parameters.shape[-1]
        places: dict[str, slice | None] = {}
        for name, source in plant.wrenches.items():
            count = source.parameters.shape[-1]
            is_constant = type(source) is Source and count and not source.is_reaction
            places[name] = slice(at, at + count) if is_constant else None
            at += count
        return places

    def control(self, controller: Controller) -> None:
        """Put other gains or another target: a controller of the same law as the one it was made with.

        Its internal states, such as the integral of a PID, stay as they are. Nothing is compiled.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r")
        >>> sim = arm.simulation([0.0, 0.0], torque=cr.PD(arm, [0.0, 0.0]))
        >>> sim.control(cr.PD(arm, [0.5, -0.5]))
        >>> sim.step(steps=1000)
        """
        from chainrule.simulation.request import SourceReader
        from chainrule.simulation.sources import ControllerSource

        plant = self._request.plant
        new = SourceReader(self.robot, self.batch).torque(controller, self._request.torque_limits)
        if not isinstance(plant.torque, ControllerSource) or new.fingerprint != plant.torque.fingerprint or new.width:
            raise ShapeError(
                f"control takes a controller of the same law as the simulation was made with, of a constant target; "
                f"make another simulation for {short_repr(controller)}"
            )
        at, p = plant.own_parameters, new.parameters
        rows = _spread(p.reshape(-1, p.shape[-1]), p.shape[:-1], self.batch, "control: the controller")
        self._splitter.request.parameters[:, at : at + p.shape[-1]] = rows

    def record(self) -> dict[str, Array]:
        """The arrays of a trajectory at this moment: q, qd, qdd, tau, friction, work and states, (..., k) each.

        >>> import chainrule as cr
        >>> arm = cr.load("planar_2r")
        >>> arm.simulation([0.0, 0.0], torque=cr.GravityCompensation(arm)).record()["tau"].round(3).tolist()
        [29.43, 9.81]
        """
        from chainrule.simulation.time_loop import columns_of

        self._splitter.record(self._state, self.t, self.dt, self._record)
        columns = columns_of(self._request.plant, self._record[:, 0])
        return {name: array.reshape((*self.batch, -1)).copy() for name, array in columns.items()}

    # --- starts ---

    def reset(
        self, q0: ArrayLike | None = None, qd0: ArrayLike | None = None, *, where: ArrayLike | None = None
    ) -> None:
        """Return to the start, or to another one; to rest where q0 is given without qd0.

        Parameters
        ----------
        q0, qd0
            Configurations (..., nq) and velocities (..., n); those of the start unless given.
        where
            Rows of the batch to reset, true or false for each, (...,). The others, and the time, stay as they are.
        """
        from chainrule.simulation.request import read_start

        start = self._start
        if q0 is not None or qd0 is not None:
            nq, nv = self.robot.nq, self.robot.nv
            q = self._start[:, :nq].reshape((*self.batch, nq)) if q0 is None else q0
            given = read_start(self.robot, q, qd0, within_limits=self._within_limits)
            start = np.zeros_like(self._start)
            start[:, :nq] = _spread(given.q, given.batch, self.batch, "reset: a start")
            start[:, nq : nq + nv] = _spread(given.v, given.batch, self.batch, "reset: a start")
        if where is None:
            self._state[:], self._taken = start, 0
            return
        rows = self._read_mask(where)
        self._state[rows] = start[rows]

    def _read_mask(self, where: ArrayLike) -> NDArray[np.bool_]:
        mask = np.asarray(where)
        if mask.dtype != bool or mask.shape != self.batch:
            raise ShapeError(
                f"reset: where must be true or false for each motion, of shape {self.batch}, got {mask.dtype} of shape "
                f"{mask.shape}"
            )
        return mask.reshape(-1)


def _spread(rows: Array, given: tuple[int, ...], batch: tuple[int, ...], what: str) -> Array:
    """Rows of a batch, repeated where the other batch is larger."""
    try:
        return np.broadcast_to(rows.reshape((*given, -1)), (*batch, rows.shape[-1])).reshape(-1, rows.shape[-1])
    except ValueError:
        raise ShapeError(f"{what} of shape {given} does not fit into the batch {batch}") from None


def replace_parameters(request: SimulationRequest, parameters: Array) -> SimulationRequest:
    """The same request with its own array of parameters, (rows, count), to be changed in place."""
    own = replace(request)
    vars(own)["parameters"] = parameters
    return own
