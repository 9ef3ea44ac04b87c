"""Controllers in a loop of one's own: law, reference and internal states as one call of machine code.

The first call of a controller makes it. It is made anew when an attribute of the controller is set, or one that can be
changed in place has changed.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.arguments import Array, number, together
from chainrule.compile.backend import Traceable, active
from chainrule.control.laws.tracing import call_law, content_of_law, is_own_law, takes_time, traced_law
from chainrule.core.derived import backend_of
from chainrule.core.reading import read_state
from chainrule.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.control.laws.pieces import Pieces
    from chainrule.spatial import Scalar

    Scalars = Sequence[Scalar]


Call = Callable[[Any, Any, Any], Array]


def direct_call(controller: Any, memory: Memory) -> Call:
    """`controller(t, q, qd)` at one moment t: the torques (..., nv). Internal states are kept from call to call.

    A law of a user's is compiled anew once something that it reads has changed, or each time where that is not seen.
    """
    call = _compile_call(controller, memory)
    if is_own_law(controller):
        return call
    seen = content_of_law(controller)

    def call_checking(t: Any, q: Any, qd: Any) -> Array:
        nonlocal call, seen
        now = content_of_law(controller)
        if now is None or now != seen:
            call, seen = _compile_call(controller, memory), now
        return call(t, q, qd)

    return call_checking


def _compile_call(controller: Any, memory: Memory) -> Call:
    law = _CompiledLaw(controller)
    return law.keeping_states(memory) if controller.states else law.stateless()


class Memory:
    """Internal states of a controller, kept from call to call."""

    __slots__ = ("states", "time")

    def __init__(self, count: int) -> None:
        self.states = np.zeros(2 * count)
        """Internal states z and their rates, (..., 2 count), at the last call."""
        self.time: float | None = None
        """The time of the last call, in s."""


class _CompiledLaw:
    """A law as a builtin of q, qd, then z with its rates, times, a row of the reference and p, where there are such."""

    def __init__(self, controller: Any) -> None:
        self.controller = controller
        self.pieces = None if controller.target is None else controller.target.pieces
        self.timed, self.own = takes_time(controller), is_own_law(controller)
        self.takes_times = self.pieces is not None or bool(controller.states) or self.timed
        self.moments = threading.local()
        width = controller.width if self.pieces is None else self.pieces.width
        lengths = 2 * controller.states, 3 * self.takes_times, width, controller.parameters.shape[-1]
        self.takes = [bool(length) for length in lengths]
        self.parameters = [controller.parameters] if lengths[-1] else []
        self.torque = self._compile(lengths)

    def _compile(self, lengths: Sequence[int]) -> Callable[..., Array]:
        controller, pieces, timed, takes = self.controller, self.pieces, self.timed, self.takes
        robot, name, n = controller.robot, type(controller).__name__, controller.states
        law = None if self.own else traced_law(controller)

        def function(q: Scalars, qd: Scalars, *given: Scalars) -> list[Scalar]:
            rest = iter(given)
            kept, times, row, p = (next(rest) if taken else [] for taken in takes)
            z = [a + times[1] * rate for a, rate in zip(kept[:n], kept[n:], strict=True)]
            s = row if pieces is None else pieces.signals(row, times[0])
            arguments = [q, qd, z, s, p, times[2:]] if timed else [q, qd, z, s, p]
            if law is not None:
                found = law(*arguments)
                return [*found[: robot.nv], *z, *found[robot.nv :]]
            tau, rates = call_law(controller.torque, arguments, timed)
            return [*tau, *z, *rates]

        def read(q: ArrayLike, qd: ArrayLike, *rest: Array) -> list[Array]:
            return together(dict(zip(labels, [*read_state(robot, name, q=q, qd=qd), *rest], strict=True)), name)

        given = ("internal states", "times", "reference", "parameters")
        labels = ["q", "qd", *(label for label, taken in zip(given, takes, strict=True) if taken)]
        key = ("direct call", controller.key, pieces and pieces.key, tuple(lengths))
        sizes = [robot.nq, robot.nv, *(length for length in lengths if length)]
        quaternions = tuple((0, at) for _, at in robot.model.quaternions)
        source = Traceable(function, key, robot.name, name)
        return active(backend_of(robot)).vector_function(source, sizes, read, quaternions)

    def stateless(self) -> Call:
        """The call of a law without internal states; those of constant targets and of motions of joints are short."""
        torque, reference, rest = self.torque, self.reference, self.parameters
        if rest and not self.takes_times and not self.takes[2]:
            return partial(_call_constant, torque, rest[0])
        if rest and self.pieces is not None and not self.timed:
            return _call_along(torque, self.pieces, self.moments, rest[0])

        def call(t: Any, q: Any, qd: Any) -> Array:
            return torque(q, qd, *reference(moment(t), 0.0), *rest)

        return call

    def keeping_states(self, memory: Memory) -> Call:
        """The call of a law whose internal states go on from call to call."""
        torque, reference, rest, name = self.torque, self.reference, self.parameters, type(self.controller).__name__
        nv = self.controller.robot.nv

        def call(t: Any, q: Any, qd: Any) -> Array:
            t, last = moment(t), memory.time
            if last is not None and t < last:
                raise ArgumentError(
                    f"{name}: t is {t:g} s after a call at {last:g} s: its internal states go on with the time; call "
                    "reset() to begin again"
                )
            found = torque(q, qd, memory.states, *reference(t, 0.0 if last is None else t - last), *rest)
            memory.time, memory.states = t, found[..., nv:]
            return found[..., :nv]

        return call

    def reference(self, t: float, elapsed: float) -> list[Array]:
        """The times, and the row of the reference at a moment, where the law takes them."""
        if not self.takes_times:
            return [self.controller.signals(np.array([t]))[0]] if self.takes[2] else []
        try:
            times: Array = self.moments.times
        except AttributeError:
            times = self.moments.times = np.zeros(3)
        times[1], times[2] = elapsed, t
        if self.pieces is not None:
            row, times[0] = self.pieces.at(t)
            return [times, row]
        return [times, self.controller.signals(np.array([t]))[0]] if self.takes[2] else [times]


def _call_constant(torque: Callable[..., Array], p: Array, t: Any, q: Any, qd: Any) -> Array:
    if t.__class__ is not float:
        moment(t)
    return torque(q, qd, p)


def _call_along(torque: Callable[..., Array], pieces: Pieces, moments: Any, p: Array) -> Call:
    breaks, rows, last = pieces.breaks, pieces.rows, len(pieces.breaks)

    def call(t: Any, q: Any, qd: Any) -> Array:
        try:
            times = moments.times
        except AttributeError:
            times = moments.times = np.zeros(3)
        k = bisect_right(breaks, t)
        if 0 < k < last:
            times[0] = t - breaks[k - 1]
            return torque(q, qd, times, rows[k], p)
        row, times[0] = pieces.at(t)
        return torque(q, qd, times, row, p)

    return call


def moment(t: Any) -> float:
    """A time, in s."""
    return t if t.__class__ is float else number(t, "t", "s")
