"""Sampled-data control: a law that is evaluated once in a period, and whose torque is held in between.

The held torque is a state of the source, which changes at the sample instants alone: before the step that starts there.
Steps are split so that one starts at every instant, and between instants the torque is constant for every integrator.
Functions that only Python can call are called there, and the steps between the calls run compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chainrule.algorithms.configuration import integrate
from chainrule.arguments import Array, number, positive, real_array, refuse_nonfinite, whole_number
from chainrule.calls import explains_construction
from chainrule.compile.backend import columns
from chainrule.control.laws.direct_call import moment
from chainrule.control.tick import Running, Tick
from chainrule.core.derived import merged_model
from chainrule.core.reading import read_state
from chainrule.errors import ShapeError
from chainrule.functions.reference import scalars_of
from chainrule.lazy import cached_property
from chainrule.model import Model
from chainrule.simulation.digital_law import DigitalLaw, tick_of_law
from chainrule.simulation.sources import CalledSource, Source, is_controller
from chainrule.spatial import Scalar
from chainrule.spatial.scalar import where

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.control.laws.controller import Controller
    from chainrule.core.mechanism import Mechanism
    from chainrule.simulation.plant import Plant
    from chainrule.simulation.sources import Samples

    Torque: TypeAlias = "ArrayLike | Samples | Sampled | Controller | Callable[[Any, Any, Any], Any] | None"

Scalars = Sequence[Scalar]

ROUNDING = 1.5 * 2.0**52
"""Added to a number and taken away again, it rounds the number to a whole one."""

MAX_PENDING = 1000
"""Torques on their way: a delay may be at most this many periods."""

SAMPLE_ROUNDING = 1e-6
"""How much before the start of a period a call counts as in it, as a share of the period."""

NOISE_BLOCK = 256
"""Samples whose noise is drawn at once."""


@explains_construction
class Sampled:
    """A law as a digital controller runs it: evaluated at the times 0, period, 2 period, .., its torque held between.

    It is passed to `simulate` as the torque. A controller, or a function marked `cr.traceable`, is compiled. Any other
    function of (t, q, qd) is called from Python, once a period and in the order of time, so that it may have a memory:
    counters, filters, integrals, random numbers. States of a controller, such as the integral of a PID, advance by one
    step of Euler a period. If the law has a method `reset`, it is called at the start of a motion.

    In a loop of one's own, `sampled(t, q, qd)` is the torque that acts at t.

    Parameters
    ----------
    law
        A controller, a function marked `cr.traceable`, or a function of (t, q, qd).
    period
        The time between two samples, in s.
    delay
        The time from a sample until its torque acts, in s; there is no torque before. May be longer than the period.
    quantization
        The resolution of the measured q and qd: one number for both, or a pair, each a number or one for each
        degree of freedom; 0 for exact. Quaternions are exact.
    noise
        Standard deviations of the measured q and qd, as for quantization: normal, independent from sample to sample.
    seed
        Seed of the noise: the same seed gives the same noise, and every row of a batch its own.
    rate_limit
        The largest rate of the torques from one sample to the next, in N m/s or N/s: one number, or one for each
        degree of freedom. The first sample starts from zero torque.

    Examples
    --------

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> law = cr.Sampled(cr.PD(arm, [0.5, 0.5], kp=100.0, kd=20.0), period=0.01)
    >>> motion = arm.simulate([0.0, 0.0], None, 0.5, law)
    >>> bool((motion.tau[10:20] == motion.tau[10]).all())
    True
    """

    def __init__(
        self,
        law: Controller | Callable[[Any, Any, Any], Any],
        period: float,
        *,
        delay: float = 0.0,
        quantization: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
        noise: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
        seed: int = 0,
        rate_limit: ArrayLike | None = None,
    ) -> None:
        if isinstance(law, (type, Sampled, Source)) or not (callable(law) or hasattr(law, "torque")):
            hint = "; hold samples with cr.Samples(t, values, 'previous')" if isinstance(law, Source) else ""
            raise ShapeError(f"Sampled: law must be a controller or a function of (t, q, qd), got {law!r:.60}{hint}")
        self.law: Any = law
        self.period = positive(period, "Sampled: period", unit="s")
        self.delay = number(delay, "Sampled: delay", "s")
        if not 0 <= self.delay <= MAX_PENDING * self.period:
            raise ShapeError(
                f"Sampled: delay must be from 0 to {MAX_PENDING} periods of {self.period:g} s, got {self.delay:g} s"
            )
        self.quantization, self.noise = _pair(quantization, "quantization"), _pair(noise, "noise")
        self.seed = whole_number(seed, "Sampled: seed", least=0)
        self.rate_limit = None if rate_limit is None else _rate_limit(rate_limit)
        self._call: SampledCall | None = None

    def __call__(self, t: float, q: ArrayLike, qd: ArrayLike) -> Array:
        """The torque (nv,) that acts at the time t, in s, where q and qd are measured.

        The first call in a period evaluates the law, at the start of that period; the others return the torque that is
        held. Torques are cut off at the robot's effort limits, as in a simulation. Compiled as `cr.export` writes it.
        """
        call = self._call
        if call is None:
            call = self._call = SampledCall(self)
        return call(t, q, qd)

    def reset(self) -> None:
        """Begin again: the next call may be at any time, and the law is compiled as it is then."""
        self._call = None
        reset = getattr(self.law, "reset", None)
        if callable(reset):
            reset()

    def tick(self, rate: float | None = None, *, robot: Mechanism | None = None, torque_limits: bool = True) -> Tick:
        """One sample of the law, as it runs on another computer: without noise, resolution and delay."""
        if rate is not None and abs(positive(rate, "Sampled: rate", unit="Hz") * self.period - 1) > 1e-9:
            raise ShapeError(f"Sampled: its period of {self.period:g} s is a rate of {1 / self.period:g}, not {rate:g}")
        return tick_of_law(self.law, self.period, robot, torque_limits, self.rate_limit)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_call": None}

    def __repr__(self) -> str:
        return f"<Sampled {self.law!r:.60}, every {self.period:g} s>"


def _rate_limit(value: ArrayLike) -> Array:
    """The largest rates of torques: one number, or one for each degree of freedom."""
    array = real_array(value, "Sampled: rate_limit").astype(float)
    refuse_nonfinite(array, "Sampled: rate_limit")
    if array.ndim > 1 or not (array > 0).all():
        raise ShapeError(
            "Sampled: rate_limit is a positive number, in N m/s or N/s, or one for each degree of freedom, got "
            f"{value!r:.60}"
        )
    return array


def _pair(value: Any, what: str) -> tuple[Array, Array] | None:
    """Numbers for q and for qd, not negative; None where there are none."""
    if value is None:
        return None
    parts = value if isinstance(value, tuple) and len(value) == 2 else (value, value)
    arrays = tuple(real_array(part, f"Sampled: {what}").astype(float) for part in parts)
    for array in arrays:
        refuse_nonfinite(array, f"Sampled: {what}")
        if array.ndim > 1 or (array < 0).any():
            raise ShapeError(
                f"Sampled: {what} is a number, or one for each degree of freedom, not negative; or a pair of those for "
                f"q and qd; got {value!r:.60}"
            )
    return (arrays[0], arrays[1]) if any(array.any() for array in arrays) else None


class SampledSource(Source):
    """A sampled law as a source. Its states: those of the law, the torque that acts, and those on their way.

    Signals: whether this is a sample instant, whether it is an instant at which a torque begins to act; noise of q and
    qd; then the signals of the law, or the time where the law is called from Python.
    """

    samples = True

    def __init__(
        self,
        sampled: Sampled,
        law: Source,
        model: Model,
        batch: tuple[int, ...],
        limits: Sequence[float] | None = None,
    ) -> None:
        super().__init__(law.size)
        if sampled.rate_limit is not None and sampled.rate_limit.shape not in ((), (law.size,)):
            raise ShapeError(f"Sampled: rate_limit must be one number or {law.size}, got {len(sampled.rate_limit)}")
        self.digital = DigitalLaw(law, sampled.period, limits, sampled.rate_limit)
        law = self.digital.law
        self.sampled, self.law, self.model = sampled, law, model
        self.calls_law = law.called
        """Whether the law is called from Python."""
        whole, rest = divmod(sampled.delay, sampled.period)
        if sampled.period - rest < 1e-9 * sampled.period:
            whole, rest = whole + 1, 0.0
        self.latency = 0.0 if rest < 1e-9 * sampled.period else float(rest)
        """The time from an instant of sampling to the next at which a torque begins to act."""
        self.pending = int(whole) + 1 if sampled.delay else 0
        """The number of torques on their way."""
        self.states = law.states + (1 + self.pending) * law.size
        noise = 2 * model.nv if sampled.noise is not None else 0
        self.width = 2 + noise + (1 if self.calls_law else law.width)
        self.batch = batch if noise else law.batch if not self.calls_law else ()
        self.rows = int(np.prod(batch, dtype=int))
        self._shape = batch
        self.parameters = self._parameters()

    @cached_property
    def fingerprint(self) -> tuple[Hashable, ...]:
        """Everything that shapes its arithmetic."""
        options = (self.pending, self.sampled.noise is None, self.sampled.quantization is None, self.calls_law)
        return (*super().fingerprint, *options, self.digital.fingerprint)

    def _parameters(self) -> Array:
        """Twice the number that rounds and the resolutions, where there are such, then those of the law."""
        theirs = self.digital.parameters
        if self.sampled.quantization is None:
            return theirs
        steps = (spread(x, self.model.nv, "quantization") for x in self.sampled.quantization)
        own = [ROUNDING, ROUNDING, *(float(x) for part in steps for x in part)]
        return np.concatenate([np.broadcast_to(own, (*theirs.shape[:-1], len(own))), theirs], axis=-1)

    # --- times ---

    def restart_times(self, start: float, end: float) -> Array:
        """The instants of sampling, and those at which a torque begins to act."""
        instants = [_multiples(self.sampled.period, offset, start, end) for offset in {0.0, self.latency}]
        return np.unique(np.concatenate(instants))

    def split_times(self, start: float, end: float) -> Array:
        """The same for fixed steps."""
        return self.restart_times(start, end)

    def is_instant(self, t: Array) -> NDArray[np.bool_]:
        """Whether each of the times t is one of its instants."""
        return self._is_at(t, 0.0) | self._is_at(t, self.latency)

    def _is_at(self, t: Array, offset: float) -> NDArray[np.bool_]:
        k = np.rint((t - offset) / self.sampled.period)
        return np.asarray((k >= 0) & (k * self.sampled.period + offset == t))

    # --- signals ---

    def signals(self, t: Array, q: Array, qd: Array) -> Array:
        """Marks of the instants, noise, and the signals of the law."""
        marks = np.stack([self._is_at(t, 0.0), self._is_at(t, self.latency)], axis=-1).astype(float)
        theirs = t[:, None] if self.calls_law else self.law.signals(t, q, qd)
        parts = [marks, theirs] if self.sampled.noise is None else [marks, self._noise(t, marks[:, 0]), theirs]
        batch = np.broadcast_shapes(*(part.shape[:-2] for part in parts))
        return np.concatenate([np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in parts], axis=-1)

    def _noise(self, t: Array, is_sample: Array) -> Array:
        """Noise of q and qd at the instants of sampling, zero at other times: (..., T, 2 nv)."""
        assert self.sampled.noise is not None
        scale = np.concatenate([spread(x, self.model.nv, "noise") for x in self.sampled.noise])
        out = np.zeros((self.rows, len(t), 2 * self.model.nv))
        for at in np.flatnonzero(is_sample):
            out[:, at] = scale * self._draw(round(t[at] / self.sampled.period))
        return out.reshape((*self._shape, *out.shape[1:]))

    def _draw(self, sample: int) -> Array:
        """Standard normal numbers (rows, 2 nv) of one sample, whatever was drawn before."""
        block, place = divmod(sample, NOISE_BLOCK)
        if self._block[0] != block:
            rng = np.random.default_rng([self.sampled.seed, block])
            self._block = (block, rng.normal(size=(NOISE_BLOCK, self.rows, 2 * self.model.nv)))
        return self._block[1][place]

    _block: tuple[int, Array] = (-1, np.zeros(0))

    def without_marks(self, signals: Array) -> Array:
        """The same signals between instants."""
        signals = signals.copy()
        signals[..., :2] = 0.0
        return signals

    # --- the law ---

    def compute(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars]:
        """The torque that acts, and no rates: its states change at instants only."""
        at = self.law.states
        return z[at : at + self.size], [0] * self.states

    def sample(self, q: Scalars, qd: Scalars, z: Scalars, s: Scalars, p: Scalars) -> Scalars:
        """The states after an instant, if this is one."""
        n, own = self.size, self.law.states
        is_sample, is_action = s[0] > 0.5, s[1] > 0.5
        acting, waiting = z[own : own + n], z[own + n :]
        last = waiting[:n] if self.pending else acting
        q, qd, s, p = self.measure(q, qd, s, p)
        if self.calls_law:
            tau, stepped = self.digital.cut_off(self._call_law(q, qd, s), last, p), z[:0]
        else:
            tau, stepped = self.digital(q, qd, z[:own], last, s[2:], p)
        states = [where(is_sample, new, old) for new, old in zip(stepped, z[:own], strict=True)]
        if not self.pending:
            return [*states, *(where(is_sample, new, old) for new, old in zip(tau, acting, strict=True))]
        queue = [*tau, *waiting[: len(waiting) - n]]
        waiting = [where(is_sample, new, old) for new, old in zip(queue, waiting, strict=True)]
        acting = [where(is_action, new, old) for new, old in zip(waiting[-n:], acting, strict=True)]
        return [*states, *acting, *waiting]

    def measure(self, q: Scalars, qd: Scalars, s: Scalars, p: Scalars) -> tuple[Scalars, Scalars, Scalars, Scalars]:
        """The state as it is measured, and the signals and parameters without those of the sensors."""
        model = self.model
        if self.sampled.noise is not None:
            noise = s[2 : 2 + 2 * model.nv]
            q = integrate(model, q, noise[: model.nv])
            qd = [v + e for v, e in zip(qd, noise[model.nv :], strict=True)]
            s = [*s[:2], *s[2 + 2 * model.nv :]]
        if self.sampled.quantization is not None:
            used = 2 + 2 * model.nv
            steps = p[2:used]
            q = list(q)
            for coordinate in model.layout.coordinates:
                if coordinate.velocity is not None:
                    k = coordinate.index
                    q[k] = _round(q[k], steps[coordinate.velocity], p[0], p[1])
            qd = [_round(v, step, p[0], p[1]) for v, step in zip(qd, steps[model.nv :], strict=True)]
            p = p[used:]
        return q, qd, s, p

    def _call_law(self, q: Scalars, qd: Scalars, s: Scalars) -> Scalars:
        """The torque that Python returns at an instant, else zeros."""
        assert isinstance(self.law, CalledSource)
        t, marks = np.ravel(s[2]), np.ravel(s[0])
        if not marks[0]:
            return [0 * v for v in qd[:1]] * self.size
        rows = len(qd[0])
        return scalars_of(self.law.call(t[:1], columns(q, (rows,)), columns(qd, (rows,)))[:, 0])


class SampledCall:
    """A sampled law in a loop of one's own."""

    def __init__(self, sampled: Sampled) -> None:
        self.sampled, law = sampled, sampled.law
        self.period, self.delay = sampled.period, sampled.delay
        self.running: Running | None = None
        self.sensors: SampledSource | None = None
        if is_controller(law):
            self.running = Running(sampled.tick())
            if sampled.noise is not None or sampled.quantization is not None:
                model = merged_model(law.robot)
                self.sensors = SampledSource(sampled, Source(model.nv), model, ())
        elif sampled.noise is not None or sampled.quantization is not None or sampled.rate_limit is not None:
            raise ShapeError(
                "Sampled: noise, quantization and rate_limit of a function are those of a robot, which it does not "
                "know; simulate, or sample a controller"
            )
        self.sample = -math.inf
        self.tau: Array | None = None
        self.waiting: list[tuple[float, Array]] = []
        """Torques on their way, and when they act."""

    def __call__(self, t: float, q: Any, qd: Any) -> Array:
        period = self.period
        try:
            sample = math.floor((t if t.__class__ is float else moment(t)) / period + SAMPLE_ROUNDING)
        except (ValueError, OverflowError):
            raise ShapeError(f"Sampled: t must be a finite time in s, got {t!r:.60}") from None
        if sample > self.sample:
            self.sample = sample
            tau = self._evaluate(sample, q, qd)
            if not self.delay:
                self.tau = tau
                return tau
            self.waiting.append((sample * period + self.delay, tau))
        elif sample < self.sample:
            raise ShapeError(
                f"Sampled: t is {t:g} s after a call at {self.sample * period:g} s; call reset() to begin again"
            )
        while self.waiting and self.waiting[0][0] <= t + SAMPLE_ROUNDING * period:
            self.tau = self.waiting.pop(0)[1]
        if self.tau is None:
            self.tau = np.zeros_like(self.waiting[0][1])
        return self.tau

    def _evaluate(self, sample: int, q: Any, qd: Any) -> Array:
        """The torque of a sample."""
        if self.running is None:
            return real_array(self.sampled.law(sample * self.period, q, qd), "Sampled: what the law returns").astype(
                float
            )
        if self.sensors is not None:
            q, qd = read_state(self.sampled.law.robot, "Sampled", q=q, qd=qd)
            s = self.sensors.signals(np.array([sample * self.sampled.period]), q, qd)[..., 0, :]
            q, qd, *_ = self.sensors.measure(q.tolist(), qd.tolist(), s.tolist(), self.sensors.parameters.tolist())
            q, qd = np.array(q, dtype=float), np.array(qd, dtype=float)
        self.running.count = sample
        return self.running.advance(q, qd)


def _round(x: Scalar, step: Scalar, up: Scalar, down: Scalar) -> Scalar:
    """x rounded to a multiple of the step, or as it is where the step is zero; up and down are both ROUNDING."""
    exact = step == 0
    unit = where(exact, 1.0, step)
    return where(exact, x, ((x / unit + up) - down) * unit)


def spread(value: Array, n: int, what: str) -> Array:
    """One number for each of n degrees of freedom."""
    if value.shape not in ((), (n,)):
        raise ShapeError(f"Sampled: {what} must be one number or {n}, got {value.shape[0]}")
    return np.broadcast_to(value, (n,))


def _multiples(period: float, offset: float, start: float, end: float) -> Array:
    """The times k period + offset after `start` and before `end`, k from 0 on."""
    first = max(int(np.floor((start - offset) / period)), 0)
    last = int(np.ceil((end - offset) / period))
    times = np.arange(first, max(last, first) + 1) * period + offset
    return np.asarray(times[(times > start) & (times < end)], dtype=float)


# --- the sources of a plant ---


def slices(plant: Plant) -> Iterator[tuple[Source, slice, slice, slice]]:
    """Each source of a plant, with its places in x, in the signals and in the parameters."""
    at_x, at_s, at_p = 0, 0, plant.own_parameters
    for source in plant.sources:
        ends = at_x + source.states, at_s + source.width, at_p + source.parameters.shape[-1]
        yield source, slice(at_x, ends[0]), slice(at_s, ends[1]), slice(at_p, ends[2])
        at_x, at_s, at_p = ends


def calls_at_instants(source: Source) -> bool:
    """Whether a source calls a Python function at its instants."""
    source = getattr(source, "source", source)  # the reaction to a wrench
    return isinstance(source, SampledSource) and source.calls_law


def samples_in_steps(plant: Plant) -> bool:
    """Whether some law is sampled inside the traced step."""
    return any(source.samples and not calls_at_instants(source) for source in plant.sources)


def sample_sources(
    plant: Plant, q: Scalars, v: Scalars, x: Scalars, s: Scalars, p: Scalars, *, called: bool = False
) -> Scalars:
    """The further states x after the laws are sampled: those in the traced step, or those that Python calls."""
    x = list(x)
    for source, in_x, in_s, in_p in slices(plant):
        if source.samples and calls_at_instants(source) == called:
            x[in_x] = source.sample(q, v, x[in_x], s[in_s], p[in_p])
    return x
