"""The parent-child equations as an implicit system F(x, dx/dt, t) = 0, for integrators of DAEs.

x = (q, qd, V, W, lambda): coordinates, velocities, the twist of each moving link, the wrench through each joint, the
multipliers of loops (`algorithms/parent_child.py`). CasADi holds the equations, so that Jacobians are exact and sparse.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from chainrule.algorithms import parent_child
from chainrule.algorithms.configuration import coordinate_rates
from chainrule.algorithms.kinematics import poses_of
from chainrule.algorithms.loads import WRENCH_FRAMES, on_links
from chainrule.arguments import Array, number, one_of, real_array, refuse_nonfinite, rows_of, whole_number
from chainrule.core.closure import closure_of
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import evaluate, require
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import Loads, read_argument, read_state, read_wrenches
from chainrule.display.text import Shown, Table, text_of
from chainrule.dynamics import dae
from chainrule.dynamics.dae import Block
from chainrule.errors import ModelError, ShapeError, SimulationError, import_optional, short_repr
from chainrule.lazy import cached_property, module
from chainrule.loops.constraints import close
from chainrule.loops.motion import consistent_velocity
from chainrule.simulation.traceable import TracedSource, traceable
from chainrule.spatial import Scalar

if TYPE_CHECKING:
    from types import FrameType

    from numpy.typing import ArrayLike
    from scipy.sparse import csc_matrix

Scalars = Sequence[Scalar]

casadi = module("casadi")

PARTS = "q, qd, V, W, lambda"
"""The parts of x."""

INDICES = {
    1: "joints and loops in rates: V drifts away from the joints by the integrator's error",
    2: "joints and loops in velocities, as the lecture writes them",
    3: "joints in velocities, loops in positions",
}
"""What the equations of joints and loops say at each differentiation index."""


class DAEState(NamedTuple):
    """The parts of x: q (..., nq), qd (..., n), V (..., links, 6), W (..., joints, 6), multipliers (..., rows)."""

    q: Array
    qd: Array
    V: Array
    W: Array
    multipliers: Array


class DAEDrift(NamedTuple):
    """The largest error in x of what holds along every motion."""

    twists: float
    """Of V = Ad V_p + S qd, in rad/s and m/s."""
    loop_positions: float
    loop_velocities: float
    quaternions: float
    """Of the lengths of quaternions."""


@dataclass(frozen=True, eq=False)
class DAEStart:
    """A consistent start: x and dx/dt that fulfil the equations and all that follow from them.

    Rates of algebraic unknowns, which no equation has in it, are zero.
    """

    x: Array
    x_dot: Array
    index: int
    errors: Mapping[str, float]
    """The largest errors of F, and of joints and loops in rates, in velocities and in positions, which F implies."""
    moved: float
    """By how much q and qd were moved so that loops are closed and stay so."""
    differential: Array
    """True for each unknown whose rate is in the equations: (size,)."""

    def __str__(self) -> str:
        count = int(self.differential.sum())
        lines = [f"consistent start of a DAE of index {self.index}: {count} of {len(self.x)} unknowns have rates"]
        lines += [f"  {name:<31} {error:.1e}" for name, error in self.errors.items()]
        return "\n".join([*lines, f"  {'q and qd moved by':<31} {self.moved:.1e}"])

    __repr__ = __str__


class DAEResidual(Shown):
    """F(x, dx/dt, t), its Jacobians, a consistent start, and the index."""

    def __init__(self, robot: Mechanism, torque: Any, loads: Loads, frame: str, index: int) -> None:
        self.robot, self.index = robot, index
        self._torque, self._loads, self._frame = torque, loads, frame
        self.rows_in_use = closure_of(robot).independent_rows if robot.model.constraints else ()
        model = merged_model(robot)
        self.sizes = parent_child.sizes(model, self.rows_in_use)
        self.size = model.nq + self.sizes.total
        self.unknowns, self.equations = _blocks(robot, self.rows_in_use)

    # --- numbers ---

    def __call__(self, x: ArrayLike, x_dot: ArrayLike, t: float = 0.0) -> Array:
        """The residual F(x, dx/dt, t): (size,)."""
        return np.asarray(self._functions[0](*self._read(x, x_dot, t)).full()).ravel()

    def jacobians(self, x: ArrayLike, x_dot: ArrayLike, t: float = 0.0) -> tuple[csc_matrix, csc_matrix]:
        """Sparse matrices dF/dx and dF/d(dx/dt)."""
        by_x, by_rate = self._functions[1](*self._read(x, x_dot, t))
        return by_x.sparse(), by_rate.sparse()

    def jacobian(self, x: ArrayLike, x_dot: ArrayLike, t: float = 0.0, c: float = 1.0) -> csc_matrix:
        """The sparse matrix dF/dx + c dF/d(dx/dt) of Newton's steps; c is 1/h for the backward Euler method."""
        by_x, by_rate = self.jacobians(x, x_dot, t)
        return by_x + number(c, "jacobian: c") * by_rate

    def split(self, x: ArrayLike) -> DAEState:
        """The parts of x, or of a batch of them."""
        array = rows_of(x, self.size, "split: x", PARTS)
        model, (links, n, _) = merged_model(self.robot), self.sizes
        cuts = np.cumsum([model.nq, n, links, links])
        q, qd, V, W, multipliers = np.split(array, cuts, axis=-1)
        shape = (*array.shape[:-1], -1, 6)
        return DAEState(q, qd, V.reshape(shape), W.reshape(shape), multipliers)

    @cached_property
    def differential(self) -> Array:
        """True for each unknown whose rate is in the equations: (size,)."""
        present = np.zeros(self.size, dtype=bool)
        _, columns = self._functions[1].sparsity_out(1).get_triplet()
        present[list(columns)] = True
        return present

    def start(self, q: ArrayLike, qd: ArrayLike | None = None, t: float = 0.0) -> DAEStart:
        """A consistent start from a state: twists, wrenches, multipliers and rates follow from q and qd.

        Where loops are open, or would come open, q and qd are moved to the nearest state where they are not.
        """
        robot, model = self.robot, merged_model(self.robot)
        wanted = read_state(robot, "start", q=q, qd=np.zeros(robot.nv) if qd is None else qd)
        if wanted[0].ndim != 1:
            raise ShapeError(f"start takes one state, got a batch of shape {wanted[0].shape[:-1]}")
        for name, array in zip(("q", "qd"), wanted, strict=True):
            refuse_nonfinite(array, f"start: {name}")
        q1 = close(robot, evaluate(robot, "integrate", q=wanted[0], v=np.zeros(robot.nv)))
        qd1 = consistent_velocity(robot, q1, wanted[1])
        moved = max(np.abs(np.subtract(a, b)).max(initial=0.0) for a, b in zip((q1, qd1), wanted, strict=True))
        state, rates = q1.tolist(), qd1.tolist()
        tau = self._torque_at(number(t, "start: t"), q1, qd1)
        system = dae.assemble(model, state, rates, tau, self._wrenches(state), self.rows_in_use)
        solution = system.solve()
        V = parent_child.start_poses(model, state, rates)[1]
        x = np.concatenate([state, rates, V, solution.joint_wrenches.ravel(), solution.multipliers])
        slow = np.zeros(len(x) - model.nq - model.nv - len(V))
        q_dot = evaluate(robot, "states.coordinate_rates", q=q1, v=qd1)
        x_dot = np.concatenate([q_dot, solution.qdd, solution.accelerations.ravel(), slow])
        return DAEStart(x, x_dot, self.index, self._errors(x, x_dot, tau), float(moved), self.differential)

    def _errors(self, x: Array, x_dot: Array, tau: list[float]) -> dict[str, float]:
        """The largest errors of the equations at every index."""
        model, size = merged_model(self.robot), self.sizes.links
        levels = {1: "joints and loops in rates", 2: "joints and loops in velocities", 3: "loops in positions"}
        F = {}
        for index in levels:
            wrenches = self._wrenches(x[: model.nq].tolist())
            values = parent_child.residual(model, x.tolist(), x_dot.tolist(), tau, wrenches, self.rows_in_use, index)
            F[index] = np.abs(np.array(values, dtype=float))
        loops = slice(self.size - self.sizes.loops, None)
        joints = slice(model.nq + size, model.nq + 2 * size)
        errors = {"F": float(F[self.index].max(initial=0.0))}
        for index, name in levels.items():
            parts = [F[index][loops]] if index == 3 else [F[index][joints], F[index][loops]]
            errors[name] = float(np.concatenate(parts).max(initial=0.0))
        return errors

    def drift(self, x: ArrayLike) -> DAEDrift:
        """Largest errors of x, or of a batch of them, in what holds along every motion."""
        flat = rows_of(x, self.size, "drift: x", PARTS).reshape(-1, self.size)
        errors = np.abs(np.array(self._functions[2].map(len(flat))(flat.T), dtype=float))
        joints, positions, velocities = np.split(errors, np.cumsum([self.sizes.links, self.sizes.loops]))
        lengths = [np.linalg.norm(flat[:, i : i + 4], axis=1) - 1 for _, i in merged_model(self.robot).quaternions]
        largest = [float(np.abs(e).max(initial=0.0)) for e in (joints, positions, velocities, lengths)]
        return DAEDrift(*largest)

    # --- integration ---

    def casadi(self) -> dict[str, Any]:
        """The problem that `casadi.integrator` takes, of index 1: x, z, t, ode and alg.

        x = (q, qd, V) has rates, z = (dqd/dt, dV/dt, W, lambda) has none.
        """
        if self.index != 1:
            raise ShapeError(f"casadi: its integrators take equations of index 1, these have {self.index}")
        nq, (links, n, _) = self.robot.nq, self.sizes
        x, x_dot, t = self._symbols
        states, algebraic = x[: nq + n + links], casadi.vertcat(x_dot[nq : nq + n + links], x[nq + n + links :])
        parts = casadi.vertsplit(states)
        q_dot = coordinate_rates(merged_model(self.robot), parts[:nq], parts[nq : nq + n])
        rates = casadi.vertcat(*q_dot, x_dot[nq : nq + n + links])
        return {"x": states, "z": algebraic, "t": t, "ode": rates, "alg": self._F[nq:]}

    def integrate(
        self, q0: ArrayLike, qd0: ArrayLike | None, t: ArrayLike, *, rtol: float = 1e-8, atol: float = 1e-10
    ) -> Array:
        """Solutions x (T, size) at the times t (T,), from a state at the first of them, by IDAS of SUNDIALS in CasADi.

        Equations of index 1 alone. rtol and atol are the tolerances of the integrator.
        """
        times = real_array(t, "integrate: t", "s")
        if times.ndim != 1 or len(times) < 2 or not (np.diff(times) > 0).all():
            raise ShapeError(f"integrate: t must be two or more increasing times in s, got {short_repr(t)}")
        start = self.start(q0, qd0, float(times[0]))
        cut, split = self.robot.nq + self.sizes.velocities + self.sizes.links, self.robot.nq
        guess = np.concatenate([start.x_dot[split:cut], start.x[cut:]])
        options = {"reltol": number(rtol, "integrate: rtol"), "abstol": number(atol, "integrate: atol")}
        solver = casadi.integrator("idas", "idas", self.casadi(), float(times[0]), times[1:].tolist(), options)
        try:
            with _interrupts_kept():
                solution = solver(x0=start.x[:cut], z0=guess)
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[-1]
            raise SimulationError(f"integrate: IDAS ended with an error: {reason:.200}") from None
        states, algebraic = (np.array(solution[key]).T for key in ("xf", "zf"))
        later = np.concatenate([states, algebraic[:, cut - split :]], axis=1)
        return np.concatenate([start.x[None], later])

    # --- the equations as CasADi holds them ---

    @cached_property
    def _symbols(self) -> tuple[Any, Any, Any]:
        return casadi.SX.sym("x", self.size), casadi.SX.sym("x_dot", self.size), casadi.SX.sym("t")

    @cached_property
    def _F(self) -> Any:
        x, x_dot, t = (casadi.vertsplit(s) for s in self._symbols)
        model = merged_model(self.robot)
        q, qd, *_ = parent_child.split(model, x, self.rows_in_use)
        tau = self._torque_text(q, qd, t[0])
        F = parent_child.residual(model, x, x_dot, tau, self._wrenches(q), self.rows_in_use, self.index)
        return casadi.cse(casadi.vertcat(*F))

    @cached_property
    def _functions(self) -> tuple[Any, Any, Any]:
        """F, its two Jacobians, and the errors of joints and loops as functions of x."""
        x, x_dot, t = self._symbols
        jacobians = [casadi.jacobian(self._F, x), casadi.jacobian(self._F, x_dot)]
        model, parts = merged_model(self.robot), casadi.vertsplit(x)
        q, qd, V, *_ = parent_child.split(model, parts, self.rows_in_use)
        bodies, twists = model.at(q), parent_child.by_link(V)
        loops = parent_child.loop_rows(model, poses_of(bodies), twists, self.rows_in_use)
        errors = [e for body in bodies for e in parent_child.joint_velocity_error(body, twists, qd)]
        errors += [loop.error for loop in loops] + [loop.rate for loop in loops]
        return (
            casadi.Function("F", [x, x_dot, t], [self._F]),
            casadi.Function("jacobians", [x, x_dot, t], jacobians),
            casadi.Function("errors", [x], [casadi.vertcat(*errors)]),
        )

    def _torque_text(self, q: Scalars, qd: Scalars, t: Scalar) -> Scalars:
        if isinstance(self._torque, TracedSource):
            return self._torque.compute(q, qd, [], [t], [])[0]
        return [float(x) for x in self._torque]

    def _torque_at(self, t: float, q: Array, qd: Array) -> list[float]:
        """The torques at one time and state."""
        if isinstance(self._torque, TracedSource):
            values = np.asarray(self._torque.function(t, q, qd), dtype=float)
            return np.broadcast_to(values, (self.robot.nv,)).tolist()
        return [float(x) for x in self._torque]

    def _wrenches(self, q: Scalars) -> Any:
        numbers = [wrench.tolist() for wrench in self._loads.wrenches]
        return on_links(merged_model(self.robot), self._loads.links, numbers, q, self._frame)

    def _read(self, x: ArrayLike, x_dot: ArrayLike, t: float) -> tuple[Array, Array, float]:
        arrays = [rows_of(value, self.size, name, PARTS) for value, name in ((x, "x"), (x_dot, "x_dot"))]
        if any(array.ndim != 1 for array in arrays):
            raise ShapeError(f"F takes one x and one x_dot of {self.size} numbers, got a batch")
        return arrays[0], arrays[1], number(t, "t", "s")

    # --- text ---

    def table(self) -> list[tuple[str, str, str]]:
        """Each block of unknowns, whether its rate is in the equations, and the block of equations beside it."""
        rows = []
        for unknown, equation in zip(self.unknowns, self.equations, strict=True):
            kind = "differential" if self.differential[unknown.places].any() else "algebraic"
            rows.append((f"{unknown.name} ({unknown.size})", kind, f"{equation.name} ({equation.size})"))
        return rows

    def __repr__(self) -> str:
        return f"<DAEResidual of {self.robot.name!r}: {self.size} equations, index {self.index}>"

    def _view(self) -> Iterator[Table]:
        caption = f"F(x, dx/dt, t) = 0, {self.size} equations of index {self.index}: {INDICES[self.index]}"
        yield Table(("unknowns in x", "", "equations in F"), self.table(), caption)

    def __str__(self) -> str:
        return text_of(self)


def _blocks(robot: Mechanism, rows: Sequence[int]) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """The blocks of x, and those of F."""
    model, (links, n, m) = merged_model(robot), parent_child.sizes(merged_model(robot), rows)
    unknowns, equations = [Block("q", 0, model.nq)], [Block("dq/dt = rates of qd", 0, model.nq)]
    at = model.nq
    unknowns.append(Block("qd", at, n))
    for k, body in enumerate(model.bodies):
        unknowns.append(Block(f"V {body.link.name}", at + n + 6 * k, 6))
    for k, body in enumerate(model.bodies):
        unknowns.append(Block(f"W {body.joint.name}", at + n + links + 6 * k, 6))
        equations.append(Block(f"Newton-Euler {body.link.name}", at + 6 * k, 6))
    for k, body in enumerate(model.bodies):
        equations.append(Block(f"joint {body.joint.name}", at + links + 6 * k, 6))
    equations.append(Block("torques", at + 2 * links, n))
    if m:
        unknowns.append(Block("lambda", at + n + 2 * links, m))
        equations.append(Block("loops", at + n + 2 * links, m))
    return tuple(unknowns), tuple(equations)


def dae_residual(
    robot: Mechanism,
    torque: Any = None,
    *,
    tip_wrench: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "world",
    index: int = 1,
) -> DAEResidual:
    """The equations of motion with nothing eliminated as F(x, dx/dt, t) = 0, for an integrator of DAEs.

    x = (q, qd, V, W, lambda) has the twist of every moving link, the wrench through every joint and the multipliers of
    loops. Rotors, springs and viscous friction are in the equations; dry friction, which jumps, is refused.

    Parameters
    ----------
    torque
        None, numbers (n,), or a function of (t, q, qd) in plain arithmetic, as of cr.traceable.
    tip_wrench, external, frame
        Constant wrenches, as of forward_dynamics.
    index
        1, joints and loops in rates, which integrators such as IDAS take; 2, in velocities, as the lecture writes
        them; 3, loops in positions.

    Returns
    -------
    DAEResidual
        Call it for F; `jacobian`, `start(q, qd)`, `integrate(q, qd, t)`, `casadi()`, `split(x)`, `drift(x)`.

    >>> import chainrule as cr
    >>> F = cr.load("planar_2r").textbook.dae_residual()
    >>> start = F.start([0.3, 0.4], [1.0, 0.0])
    >>> F.size, F.index, bool(abs(F(start.x, start.x_dot)).max() < 1e-12)
    (28, 1, True)
    """
    import_optional("casadi", "dae_residual")
    require(robot, "forward_dynamics")
    if not robot.nv:
        raise ModelError(f"dae_residual: robot {robot.name!r} has no degrees of freedom")
    index = whole_number(index, "dae_residual: index", 1, 3)
    if index == 3 and not robot.model.constraints:
        raise ShapeError("dae_residual: without loops, joints are in velocities at most: index 1 or 2")
    refuse_dry_friction(robot, "dae_residual")
    loads = read_wrenches(robot, "dae_residual", tip_wrench, external)
    if any(wrench.ndim != 1 for wrench in loads.wrenches):
        raise ShapeError("dae_residual: a wrench is constant, six numbers; got a batch")
    axes = one_of(WRENCH_FRAMES, frame, "frame")
    return DAEResidual(robot, _read_torque(robot, torque), loads, axes, index)


def refuse_dry_friction(robot: Mechanism, caller: str) -> None:
    """An error where a joint has dry friction, whose jump at rest no smooth equation has."""
    for joint in robot.model.joints:
        if any(dof.has_dry_friction for dof in joint.dofs):
            raise ModelError(
                f"{caller}: joint {joint.name!r} has dry friction, which jumps at rest; robot.simulate holds such "
                "joints, or take it out with robot.without_friction()"
            )


def _read_torque(robot: Mechanism, torque: Any) -> Any:
    """Numbers, or a traced function."""
    if torque is None:
        return np.zeros(robot.nv)
    if callable(torque):
        function = torque if isinstance(torque, traceable) else traceable(torque)
        try:
            return TracedSource(function, robot.nv, robot.nq, robot.nv, "torque")
        except ShapeError as error:
            raise ShapeError(
                "dae_residual: torque must be numbers, or a function of (t, q, qd) in plain arithmetic that can be "
                f"differentiated ({str(error).removeprefix('simulate: '):.160})"
            ) from None
    numbers = read_argument(robot, "dae_residual", "tau", torque)
    if numbers.ndim != 1:
        raise ShapeError(f"dae_residual: torque must be {robot.nv} numbers, or a function, got shape {numbers.shape}")
    refuse_nonfinite(numbers, "dae_residual: torque")
    return numbers


@contextlib.contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Ctrl-C inside of CasADi, which takes it for an error of the equations, as the KeyboardInterrupt that it is."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupts: list[KeyboardInterrupt] = []

    def handle(number: int, frame: FrameType | None) -> None:
        try:
            handler(number, frame)
        except KeyboardInterrupt as interrupt:
            interrupts.append(interrupt)
            signal.signal(signal.SIGINT, handler)  # at once: the next Ctrl-C may come before this context is left
            raise

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    except RuntimeError:
        if interrupts:
            raise interrupts[0] from None
        raise
    finally:
        signal.signal(signal.SIGINT, handler)
