"""Inverse kinematics on graphics processors: targets, search and errors of a whole batch stay on the device.

Targets are read, and errors of the configurations found are measured, in double precision whatever the precision of the
search is. So success means the same as on the CPU.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.algorithms.kinematics import pose
from chainrule.arguments import Array
from chainrule.compile.cuda import device_arrays
from chainrule.compile.cuda.context import DeviceContext
from chainrule.compile.cuda.while_loop import CudaFunction, CudaWhileLoop, DeviceCandidates, features_of
from chainrule.compile.program import trace_function
from chainrule.compile.runtime import memory_cache
from chainrule.errors import ModelError, ShapeError
from chainrule.inverse_kinematics import descent
from chainrule.inverse_kinematics.bounds import Bounds
from chainrule.inverse_kinematics.goals import Goal, goal_errors, goal_numbers
from chainrule.inverse_kinematics.methods import SearchProblem
from chainrule.inverse_kinematics.periods import periods, shift_by
from chainrule.inverse_kinematics.request import SearchRequest, read_starts, target_numbers
from chainrule.inverse_kinematics.result import REASON_CODES, InverseKinematics, Truths
from chainrule.inverse_kinematics.rigid import rigid_pose
from chainrule.inverse_kinematics.seeds import CANDIDATES_PER_START, Seeds, seeds_of
from chainrule.kinematics.configurations import neutral
from chainrule.lazy import cached_property
from chainrule.spatial import Rotation, Scalar, Transform, Vector
from chainrule.spatial.scalar import where

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]

MAX_ROWS_AT_ONCE = 1 << 22
"""Targets that are searched for together: their numbers need some GB of the device's memory."""
FIRST_STARTS, MAX_STARTS_AT_ONCE = 2, 24
"""Candidates of each target in the first round, and at most in the rounds that follow, each of twice as many."""
MAX_SETS_KEPT = 128
"""Sets of candidates that stay on the device: those of a hundred restarts."""
FINAL_ITERATIONS_FACTOR = 5
"""How many times as many iterations the best of all starts gets in the end."""
RESTARTS_WITHOUT_LIMITS = 4
"""Restarts without limits, to find out whether the limits keep a target from being reached."""
MIN_TOLERANCE = {32: 1e-6, 64: 0.0}
"""The smallest tolerance, in m and rad, by the bits of a number: rounding of float32 is a few times smaller."""


def solve_on_device(
    robot: Mechanism, request: SearchRequest, target: Any, q0: Any, device: int, caller: str
) -> InverseKinematics:
    """The result for targets and starts as users give them: arrays of NumPy, or of a library on the device."""
    _refuse(request, robot, caller)
    if isinstance(target, Mapping):
        targets = {f"{caller}: target[{link!r}]": value for link, value in target.items()}
    else:
        targets = {f"{caller}: target": target}
    values = [*targets.values(), *([] if q0 is None else [q0])]
    are_there = [device_arrays.is_on_device(value) for value in values]
    if any(are_there) and not all(are_there):
        raise ShapeError(f"{caller}: targets and q0 must be arrays of NumPy, or all of them on the device")
    solve = _solve_device_arrays if any(are_there) else _solve_host_arrays
    try:
        return solve(robot, request, targets, q0, device, caller)
    except Exception as error:
        if "OutOfMemory" not in type(error).__name__:
            raise
        raise MemoryError(f"{caller}: CUDA device {device} has no room left ({error}); search in parts") from error


def _solve_device_arrays(
    robot: Mechanism, request: SearchRequest, targets: dict[str, Any], q0: Any, device: int, caller: str
) -> InverseKinematics:
    """The result for arrays on the device."""
    given = targets if q0 is None else {**targets, f"{caller}: q0": q0}
    arrays = [device_arrays.read(value, what) for what, value in given.items()]
    bits, place = device_arrays.common(arrays, list(given), caller)
    if place != device:
        raise ShapeError(f"{caller}: the targets are on CUDA device {place}, and device {device} is asked for")
    _refuse_tolerance(request, bits, caller)
    work = DeviceContext(device, arrays[0].library)
    with work.active():
        search = DeviceSearch.of(robot, request, bits, work)
        each = zip(request.problem.goals, targets.items(), strict=True)
        numbers = [search.read(goal, work.borrow(value), what) for goal, (what, value) in each]
        starts = None if q0 is None else _read_starts(robot, work, q0, caller)
        return _map(_solve(search, numbers, starts, caller), work.lend)


def _solve_host_arrays(
    robot: Mechanism, request: SearchRequest, targets: dict[str, Any], q0: Any, device: int, caller: str
) -> InverseKinematics:
    """The result for arrays of NumPy, copied to the device and back."""
    bits = 32 if all(getattr(value, "dtype", None) == np.float32 for value in targets.values()) else 64
    _refuse_tolerance(request, bits, caller)
    each = zip(request.problem.goals, targets.items(), strict=True)
    numbers = [target_numbers(goal, value, what) for goal, (what, value) in each]
    starts = None if q0 is None else read_starts(robot, q0, caller)
    work = DeviceContext(device)
    with work.active():
        search = DeviceSearch.of(robot, request, bits, work)
        there = [work.send(array, "float64") for array in numbers]
        q = None if starts is None else work.send(starts, "float64")
        return _map(_solve(search, there, q, caller), work.fetch).with_words()


def _refuse(request: SearchRequest, robot: Mechanism, caller: str) -> None:
    """Refuse what the device cannot do."""
    if robot.model.constraints:
        raise ModelError(f"{caller}: closed loops are closed on the CPU; leave out device=...")
    if request.problem.method != "lm":
        raise ShapeError(f"{caller}: the device searches by method='lm', got {request.problem.method!r}")
    if request.posture is not None:
        raise ShapeError(f"{caller}: postures are approached on the CPU; leave out posture=... or device=...")


def _refuse_tolerance(request: SearchRequest, bits: int, caller: str) -> None:
    if min(request.tolerances) < MIN_TOLERANCE[bits]:
        raise ShapeError(
            f"{caller}: a tolerance of {min(request.tolerances):g} is below the rounding of float{bits}; give "
            f"{MIN_TOLERANCE[bits]:g} or more, or targets of float64"
        )


def _read_starts(robot: Mechanism, work: DeviceContext, q0: Any, caller: str) -> Any:
    """Candidates (..., nq) on the device."""
    q = work.borrow(q0)
    if q.shape[-1:] != (robot.model.nq,):
        raise ShapeError(f"{caller}: q0 must have {robot.model.nq} numbers in its last dimension, got shape {q.shape}")
    return q


def _map(result: InverseKinematics, convert: Any) -> InverseKinematics:
    """The result with other arrays."""
    arrays = {name: convert(getattr(result, name)) for name in ("q", "success", "error", "iterations", "reason")}
    return replace(result, **arrays, errors={link: convert(e) for link, e in result.errors.items()})


def _solve(search: DeviceSearch, numbers: Sequence[Any], starts: Any, caller: str) -> InverseKinematics:
    """The result for the numbers of each goal's targets (..., numbers) and starts (..., nq), on the device."""
    xp = search.xp
    shapes = [a.shape[:-1] for a in numbers] + ([] if starts is None else [starts.shape[:-1]])
    try:
        batch = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(
            f"{caller}: the leading (batch) dimensions of targets and q0 do not fit together: "
            f"{', '.join(map(str, shapes))}"
        ) from None
    count, nq, goals = int(np.prod(batch)), len(search.home), len(numbers)
    rows = [xp.broadcast_to(a, (*batch, a.shape[-1])).reshape(count, a.shape[-1]) for a in numbers]
    if starts is not None:
        starts = xp.broadcast_to(starts, (*batch, nq)).reshape(count, nq)
    q, errors = xp.empty((count, nq), search.real), xp.empty((count, goals, 2), search.real)
    success, reason = xp.empty(count, bool), xp.empty(count, xp.int8)
    iterations = xp.empty(count, xp.int64)
    for first in range(0, count, MAX_ROWS_AT_ONCE):
        some = slice(first, first + MAX_ROWS_AT_ONCE)
        part = xp.ascontiguousarray(xp.concatenate([a[some] for a in rows], axis=1))
        near = None if starts is None else starts[some]
        q[some], errors[some], success[some], iterations[some], reason[some] = search.run(part, near)
    each = {goal.link: errors[:, k].reshape(*batch, 2) for k, goal in enumerate(search.problem.goals)}
    return InverseKinematics(
        q.reshape(*batch, nq), success.reshape(batch), errors.max(axis=1).reshape(*batch, 2),
        iterations.reshape(batch), reason.reshape(batch), each, search.names, *search.rank,
    )  # fmt: skip


class Kernels:
    """The code of a problem for one precision."""

    def __init__(self, problem: SearchProblem, bits: int) -> None:
        self.problem, self.label = problem, problem.model.name
        lengths = descent.lengths(problem)
        tape = trace_function(lambda *lists: descent.descent(problem, bits, *lists), lengths)
        self.until = CudaWhileLoop(
            tape, problem.model.nq, problem.goal_size, CANDIDATES_PER_START, bits,
            {"robot": self.label, "function": "inverse_kinematics"},
        )  # fmt: skip
        nq = problem.model.nq
        self.measure = CudaFunction(
            "measure", trace_function(self._measure, (2 * nq, problem.goal_size, nq)), 64, self.label
        )
        self._readers: dict[Hashable, CudaFunction] = {}

    def reader(self, goal: Goal, shape: tuple[int, ...]) -> CudaFunction:
        """The function that reads targets of this shape: their numbers, and 1 where they are as they should be."""
        key = goal, shape
        if key not in self._readers:
            tape = trace_function(lambda entries: _target_text(goal, shape, entries), (int(np.prod(shape)),))
            self._readers[key] = CudaFunction("targets", tape, 64, self.label)
        return self._readers[key]

    def _measure(self, bounds: Scalars, target: Scalars, q: Scalars) -> list[Scalar]:
        """Errors of each goal, and 1 where q is within the bounds."""
        nq, at = self.problem.model.nq, 0
        inside: Scalar = 1.0
        for x, least, most in zip(q, bounds[:nq], bounds[nq:], strict=True):
            inside = where(x >= least, where(x <= most, inside, 0.0), 0.0)
        errors: list[Scalar] = []
        for goal in self.problem.goals:
            errors += goal_errors(goal, pose(self.problem.model, q, goal.link), target[at : at + goal.size])
            at += goal.size
        return [*errors, inside]


def _target_text(goal: Goal, shape: tuple[int, ...], entries: Scalars) -> list[Scalar]:
    """The numbers of a goal's target, and 1 where the entries are a pose, a rotation or a direction, else 0."""
    if shape == (3,) and goal.has_position:
        return [*entries, 1.0]
    if shape == (3,):
        v = Vector(*entries)
        length = v.norm()
        return [*(v / length), where(length > 0, 1.0, 0.0)]
    if shape == (6,):
        T = Transform(Rotation.from_rpy(*entries[3:]), Vector(*entries[:3]))
        return [*goal_numbers(goal, T), 1.0]
    if shape == (3, 3):
        entries = [x for i in range(3) for x in (*entries[3 * i : 3 * i + 3], 0.0)] + [0.0, 0.0, 0.0, 1.0]
    rotation, p, is_proper = rigid_pose(entries)
    T = Transform(Rotation(*(Vector(*rotation[3 * i : 3 * i + 3]) for i in range(3))), Vector(*p))
    return [*goal_numbers(goal, T), is_proper]


@dataclass(frozen=True)
class DeviceSearch:
    """The search for the configurations of a request, on one device."""

    problem: SearchProblem
    kernels: Kernels
    request: SearchRequest
    bounds: Bounds
    """The range of each coordinate, in numbers of the search's precision."""
    seeds: Seeds
    home: Any
    """The configuration (nq,), on the host, of joints that move no link with a target."""
    bits: int
    work: DeviceContext
    names: tuple[str, ...]
    _starts: dict[tuple[int, int], DeviceCandidates] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(robot: Mechanism, request: SearchRequest, bits: int, work: DeviceContext) -> DeviceSearch:
        """The search of a request."""
        problem = request.problem
        key = problem.key(robot), "inverse kinematics on a device", bits
        kernels = memory_cache.get_or_build(key, lambda: Kernels(problem, bits))
        bounds = descent.inner_bounds(request.bounds, bits)
        kept = request.kept.setdefault(("starts on devices", bits, work.device), {})
        seeds, home = seeds_of(robot, problem, request.seed), bounds.clip(neutral(robot))
        return DeviceSearch(problem, kernels, request, bounds, seeds, home, bits, work, robot.coordinate_names, kept)

    @cached_property
    def is_moved(self) -> Truths:
        """Whether each coordinate (nq,) moves a link with a target."""
        return np.isin(np.arange(len(self.home)), self.problem.coordinates)

    @property
    def xp(self) -> Any:
        """The module of arrays on the device, like NumPy."""
        return self.work.module

    @property
    def real(self) -> str:
        """The type of numbers."""
        return f"float{self.bits}"

    @property
    def rank(self) -> tuple[int, int]:
        """The rank of the task, and its equations."""
        return self.request.rank.rank, self.request.rank.equations

    def array(self, values: Any, kind: str | None = None) -> Any:
        """Numbers of the host on the device."""
        return self.work.send(values, kind or self.real)

    def read(self, goal: Goal, array: Any, what: str) -> Any:
        """The numbers (..., size) of a goal's targets, in double precision."""
        xp = self.xp
        shape = _entries_of(goal, array.shape, what)
        batch = array.shape[: array.ndim - len(shape)]
        rows = xp.ascontiguousarray(array.reshape(int(np.prod(batch)), int(np.prod(shape))).astype(xp.float64))
        read = xp.empty((len(rows), goal.size + 1))
        if len(rows):
            self.kernels.reader(goal, shape)(self.work, read, rows)
            unclear = xp.flatnonzero(~(read[:, -1] > 0))
            if len(unclear):
                some = self.work.fetch(rows[unclear]).reshape(-1, *shape)
                read[unclear, :-1] = xp.asarray(_numbers_of_some(goal, some, self.work.fetch(unclear), batch, what))
        return read[:, :-1].reshape(*batch, goal.size)

    def run(self, numbers: Any, near: Any) -> tuple[Any, Any, Any, Any, Any]:
        """Configurations, errors, successes, iterations and reasons for rows of numbers, from starts or without."""
        xp, nq, bounds = self.xp, len(self.home), self.bounds
        is_finite = xp.isfinite(numbers).all(axis=1)
        if near is not None:
            is_finite &= xp.isfinite(near).all(axis=1)
            near = xp.where(xp.isfinite(near), near, self.array(self.home, "float64"))
            near = xp.clip(near, *(self.array(b, "float64") for b in bounds))
        own = xp.where(is_finite[:, None], numbers, xp.nan).astype(self.real)
        result = self._search(own, near, bounds, self.request.restarts)
        q = result[:, :nq].astype(xp.float64)
        q = self._shift(q, self.array(self.home, "float64") if near is None else near).astype(self.real)
        measured = xp.empty((len(q), 2 * len(self.problem.goals) + 1))
        limits = self.array(np.concatenate(self.request.bounds), "float64")
        self.kernels.measure(self.work, measured, limits, xp.ascontiguousarray(numbers), q.astype(xp.float64))
        most = self.array(self.request.tolerances * len(self.problem.goals), "float64")
        success = (measured[:, :-1] <= most).all(axis=1) & (measured[:, -1] > 0) & is_finite
        reason = self._reasons(own, q, success, is_finite)
        errors = measured[:, :-1].reshape(len(q), -1, 2).astype(self.real)
        return q, errors, success, result[:, nq + 1].astype(xp.int64), reason

    def _shift(self, q: Any, near: Any) -> Any:
        """The same poses with q as close to `near` as periods and bounds allow; joints that move no link are there."""
        xp, bounds, period = self.xp, self.bounds, periods(self.problem.model)
        if (bounds.upper - bounds.lower >= period).any():
            limits = Bounds(*(self.array(b, "float64") for b in bounds))
            q = shift_by(self.array(period, "float64"), q, near, limits)
        return q if self.is_moved.all() else xp.where(xp.asarray(self.is_moved), q, near)

    def _reasons(self, own: Any, q: Any, success: Any, is_finite: Any) -> Any:
        """The code of the reason of each row."""
        xp, code = self.xp, {word: k for k, word in enumerate(REASON_CODES)}
        reason = xp.where(is_finite, code["not reached"], code["not finite"]).astype(xp.int8)
        reason[success] = code[""]
        failed = xp.flatnonzero(~success & is_finite)
        if len(failed) and self.bounds.are_finite:
            unlimited = Bounds.infinite(len(self.home))
            found = self._search(own[failed], q[failed], unlimited, RESTARTS_WITHOUT_LIMITS)
            reason[failed[found[:, -1] == 1]] = code["limits"]
        return reason

    def _search(self, own: Any, near: Any, bounds: Bounds, restarts: int) -> Any:
        """Rows of configuration, cost, iterations and end, for rows of the targets' numbers."""
        search = _Rounds(self, own, bounds)
        tried = 0
        patient = not restarts
        if near is not None:
            search.from_configurations(near, patient)
            tried = 1
        count = FIRST_STARTS
        while tried <= restarts and search.left:
            count = min(count, restarts + 1 - tried)
            search.from_candidates(self.starts(tried, count), patient)
            tried, count = tried + count, min(2 * count, MAX_STARTS_AT_ONCE)
        if restarts and search.left:
            search.from_configurations(search.result[:, : len(self.home)], True, FINAL_ITERATIONS_FACTOR)
        return search.result

    def starts(self, first: int, count: int) -> DeviceCandidates:
        """Candidates of the sets from the first one on, on the device."""
        if (first, count) not in self._starts:
            q, numbers = self.seeds.sets(first, count)
            q = np.where(self.is_moved, q, self.home).reshape(-1, len(self.home))
            starts = DeviceCandidates(self.array(q), self.array(features_of(numbers, self.seeds.scales)))
            if first + count > MAX_SETS_KEPT:
                return starts
            self._starts[first, count] = starts
        return self._starts[first, count]


class _Rounds:
    """Rounds of starts for rows of targets; each goes on with the rows that have failed so far."""

    def __init__(self, search: DeviceSearch, own: Any, bounds: Bounds) -> None:
        self.search, self.own = search, own
        self._bounds = bounds
        xp, rows = search.xp, len(own)
        self.result = xp.empty((rows, search.kernels.until.shape.result), search.real)
        self.result[:] = search.array([*search.home, np.inf, 0.0, 0.0])
        self.left = rows
        self._order: Any = None

    def from_candidates(self, starts: DeviceCandidates, patient: bool) -> None:
        """From the nearest candidate of each set."""
        search = self.search
        sets = starts.features.shape[0]
        chosen = search.xp.empty((self.left, sets), search.xp.int32)
        search.kernels.until.choose(search.work, self._order, self.own, starts, chosen)
        self._repeat(chosen, starts.candidates, patient, 1)

    def from_configurations(self, q: Any, patient: bool, longer: int = 1) -> None:
        """From a configuration of each row (rows, nq)."""
        xp = self.search.xp
        rows = xp.arange(len(self.own)) if self._order is None else self._order
        candidates = xp.ascontiguousarray(q.astype(self.search.real))
        self._repeat(xp.ascontiguousarray(rows[:, None].astype(xp.int32)), candidates, patient, longer)

    def _repeat(self, chosen: Any, candidates: Any, patient: bool, longer: int) -> None:
        search, xp = self.search, self.search.xp
        shared = descent.shared_numbers(self._bounds, search.request.tolerances, patient, search.bits)
        blank = descent.blank_state(search.problem, longer * search.request.max_iterations)
        counters, failed = xp.zeros(2, xp.uint64), xp.empty(self.left, xp.int64)
        search.kernels.until.repeat(
            search.work, self._order, search.array(shared), self.own, chosen, candidates,
            search.array(blank), counters, self.result, failed,
        )  # fmt: skip
        self.left = int(counters[1])
        self._order = failed[: self.left]


def _numbers_of_some(goal: Goal, values: Array, rows: Any, batch: tuple[int, ...], what: str) -> Array:
    """The numbers of targets that the device found unclear, read by the CPU: they are not finite, or refused there.

    `rows` are their places in the batch.
    """
    try:
        return target_numbers(goal, values, what)
    except ShapeError:
        for row, value in zip(rows, values, strict=True):
            place = ", ".join(map(str, np.unravel_index(row, batch)))
            target_numbers(goal, value, f"{what}, row {place}," if batch else what)
        raise


def _entries_of(goal: Goal, shape: tuple[int, ...], what: str) -> tuple[int, ...]:
    """The last dimensions of an array of targets that hold one of them; the CPU's error where it is none."""
    if shape[-1:] == (6,):
        return (6,)
    if shape[-2:] == (4, 4):
        return (4, 4)
    if shape[-2:] == (3, 3) and goal.task == "orientation":
        return (3, 3)
    if shape[-1:] == (3,) and goal.task in ("position", "pointing"):
        return (3,)
    target_numbers(goal, np.broadcast_to(0.0, shape), what)
    raise ShapeError(f"{what} has a shape that the device cannot read: {shape}")
