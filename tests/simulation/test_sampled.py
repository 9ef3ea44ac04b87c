"""Laws that are sampled: exact holds, delays, noise and resolution, and functions with a memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import chainrule as cr

ARM = cr.load("planar_2r")
LAW = cr.PD(ARM, [0.5, 0.4], kp=20.0, kd=6.0)
PERIOD = 0.02
METHODS = ["euler", "semi_implicit_euler", "rk4", "implicit_midpoint", "dop853", "radau", "lsoda"]


def called_law(t, q, qd):
    return LAW(t, q, qd)


def by_hand(law, periods, delay_periods=0, **options):
    """The motion at the sample instants, each period integrated by itself with a constant torque."""
    q, v, waiting, path = np.zeros(2), np.zeros(2), [np.zeros(2)] * delay_periods, [np.zeros(2)]
    for k in range(periods):
        waiting.append(np.asarray(law(k * PERIOD, q, v)))
        motion = ARM.simulate(q, v, PERIOD, waiting.pop(0), **options)
        q, v = motion.q[-1], motion.qd[-1]
        path.append(q)
    return np.array(path)


@pytest.mark.parametrize("method", METHODS)
def test_a_sampled_law_is_a_chain_of_motions_under_constant_torques(method):
    motion = ARM.simulate([0, 0], None, 0.2, cr.Sampled(LAW, PERIOD), integrator=method)
    adaptive = method in ("dop853", "radau", "lsoda")
    assert_allclose(motion.q[::20], by_hand(LAW, 10, integrator=method), atol=1e-7 if adaptive else 1e-13)
    held = motion.tau[:-1].reshape(10, 20, 2)
    assert_array_equal(held, np.broadcast_to(held[:, :1], held.shape))


@pytest.mark.parametrize("method", ["rk4", "dop853"])
@pytest.mark.parametrize("delay", [0.0, 0.013, PERIOD, 2.5 * PERIOD])
def test_compiled_traced_and_called_laws_are_the_same(method, delay):
    @cr.traceable
    def traced(t, q, qd):
        return [20 * (0.5 - q[0]) - 6 * qd[0] + t, 20 * (0.4 - q[1]) - 6 * qd[1]]

    compiled, called = (
        ARM.simulate([0, 0], None, 0.2, cr.Sampled(law, PERIOD, delay=delay), integrator=method)
        for law in (LAW, called_law)
    )
    assert_allclose(called.q, compiled.q, atol=1e-11)
    assert_allclose(called.tau, compiled.tau, atol=1e-9)
    traced_motion, plain = (
        ARM.simulate([0, 0], None, 0.2, cr.Sampled(law, PERIOD, delay=delay), integrator=method)
        for law in (traced, traced.function)
    )
    assert_allclose(traced_motion.q, plain.q, atol=1e-11)
    reference = ARM.reference.simulate([0, 0], None, 0.1, cr.Sampled(LAW, PERIOD, delay=delay), integrator=method)
    assert_allclose(reference.q, compiled.q[:101], atol=1e-10)


def test_a_delay_of_whole_periods_applies_older_torques():
    motion = ARM.simulate([0, 0], None, 0.2, cr.Sampled(LAW, PERIOD, delay=2 * PERIOD), integrator="rk4")
    assert_allclose(motion.q[::20], by_hand(LAW, 10, 2), atol=1e-13)
    assert not motion.tau[: 2 * 20].any()
    assert motion.tau[2 * 20].any()


def test_a_delay_within_the_period_starts_late_by_exactly_that():
    motion = ARM.simulate([0, 0], None, 0.1, cr.Sampled(LAW, PERIOD, delay=0.005), integrator="rk4")
    changes = np.flatnonzero(np.abs(np.diff(motion.tau[:, 0])) > 0) + 1
    assert_allclose(motion.t[changes], 0.005 + PERIOD * np.arange(5), atol=1e-12)


@pytest.mark.parametrize("law", [LAW, called_law], ids=["compiled", "called"])
@pytest.mark.parametrize("dt", [0.003, 0.007, 0.05, 0.0125])
def test_the_hold_is_exact_where_the_period_is_no_multiple_of_the_step(law, dt):
    exact = ARM.simulate(
        [0, 0], None, 0.3, cr.Sampled(LAW, PERIOD), integrator=cr.DOP853(dt=0.1, rtol=1e-11, atol=1e-13)
    )
    motion = ARM.simulate([0, 0], None, 0.3, cr.Sampled(law, PERIOD), integrator="rk4", dt=dt)
    assert_allclose(motion.q[-1], exact.q[-1], atol=3e-6)
    finer = ARM.simulate([0, 0], None, 0.3, cr.Sampled(law, PERIOD), integrator="rk4", dt=dt / 4)
    assert np.abs(finer.q[-1] - exact.q[-1]).max() < 1e-8 + 0.02 * np.abs(motion.q[-1] - exact.q[-1]).max()
    assert_allclose(np.diff(motion.t[:-1]), dt, rtol=1e-9)  # parts of steps are not recorded


def test_a_law_with_a_memory_is_called_once_a_period_in_the_order_of_time():
    times = []

    class Counter:
        def reset(self):
            times.clear()

        def __call__(self, t, q, qd):
            times.append(t)
            return LAW(t, q, qd)

    for method in ("rk4", "dop853"):
        ARM.simulate([0, 0], None, 0.1, cr.Sampled(Counter(), PERIOD), integrator=method)
        assert_allclose(times, PERIOD * np.arange(6), atol=1e-15)


def test_states_of_a_law_advance_by_a_step_of_euler_each_period():
    pid = cr.PID(ARM, [0.5, 0.4], 20.0, 10.0, 6.0)
    motion = ARM.simulate([0, 0], None, 0.1, cr.Sampled(pid, PERIOD))
    errors = np.array([0.5, 0.4]) - motion.q[::20]
    assert_allclose(motion.states[::20, :2], PERIOD * np.cumsum(errors, axis=0), atol=1e-13)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_noise_is_that_of_its_seed_and_differs_between_rows(method):
    def run(law, seed, rows=()):
        start = np.zeros((*rows, 2))
        return ARM.simulate(start, None, 0.1, cr.Sampled(law, PERIOD, noise=(1e-3, 1e-2), seed=seed), integrator=method)

    first, again, other = run(LAW, 1), run(LAW, 1), run(LAW, 2)
    assert_array_equal(first.q, again.q)
    assert np.abs(first.q - other.q).max() > 1e-8
    called = run(called_law, 1)
    assert_allclose(called.q, first.q, atol=1e-11)
    if method == "rk4":
        batch = run(LAW, 1, (3,))
        assert np.abs(batch.q[0] - batch.q[1]).max() > 1e-8


def test_noise_has_the_standard_deviation_that_it_is_given():
    seen = []
    law = cr.Sampled(lambda t, q, qd: seen.append([q, qd]) or np.zeros(2), 1e-3, noise=([0.1, 0.2], 0.3), seed=5)
    still = ARM.edit(gravity=[0, 0, 0])
    still.simulate([1.0, 2.0], None, 1.0, law)
    q, qd = np.array(seen).transpose(1, 0, 2)
    assert_allclose(q.std(axis=0), [0.1, 0.2], rtol=0.15)
    assert_allclose(qd.std(axis=0), 0.3, rtol=0.15)
    assert_allclose(q.mean(axis=0), [1.0, 2.0], atol=0.04)


def test_measurements_are_rounded_to_the_resolution():
    seen = []
    law = cr.Sampled(lambda t, q, qd: seen.append([q, qd]) or LAW(t, q, qd), PERIOD, quantization=(0.01, 0.0))
    called = ARM.simulate([0.123, 0.2], None, 0.2, law)
    q, qd = np.array(seen).transpose(1, 0, 2)
    assert_allclose(q, np.rint(q / 0.01) * 0.01, atol=1e-12)
    assert np.abs(q - called.q[::20]).max() <= 0.005 + 1e-12
    assert_allclose(qd, called.qd[::20], atol=1e-12)
    compiled = ARM.simulate([0.123, 0.2], None, 0.2, cr.Sampled(LAW, PERIOD, quantization=(0.01, 0.0)))
    assert_allclose(compiled.q, called.q, atol=1e-11)


def test_a_floating_robot_is_measured_with_noise_on_its_manifold():
    dog = cr.load("quadruped")
    seen = []
    law = cr.Sampled(lambda t, q, qd: seen.append(q.copy()) or np.zeros(dog.nv), 0.01, noise=0.1, quantization=0.01)
    dog.simulate(dog.neutral(), None, 0.05, law)
    assert_allclose(np.linalg.norm(np.array(seen)[:, 3:7], axis=1), 1.0, atol=1e-12)


def test_sampled_wrenches_and_batches():
    push = cr.Sampled(lambda t, q, qd: [0, 0, 0, 0, 5.0 if t < 0.05 else 0.0, 0], 0.01)
    plain = cr.Samples([0.0, 0.05, 1.0], [[0, 0, 0, 0, 5.0, 0], [0] * 6, [0] * 6], "previous")
    starts = np.linspace(0, 1, 6).reshape(3, 2)
    for value, other in (
        ({"external": {"tip": push}}, {"external": {"tip": plain}}),
        ({"tip_wrench": push}, {"tip_wrench": plain}),
    ):
        sampled, known = (ARM.simulate(starts, None, 0.1, **options) for options in (value, other))
        assert_allclose(sampled.q, known.q, atol=1e-13)


def test_events_are_found_between_samples():
    event = cr.Event(lambda t, q, qd: q[..., 0] - 0.1, name="there")
    exact = ARM.simulate(
        [0, 0], None, 1.0, cr.Sampled(LAW, PERIOD), integrator=cr.DOP853(rtol=1e-11, atol=1e-13), events=event
    )
    for dt in (1e-3, 3e-3):
        motion = ARM.simulate([0, 0], None, 1.0, cr.Sampled(LAW, PERIOD), integrator="rk4", dt=dt, events=event)
        assert motion.status == "stopped"
        assert_allclose(motion.events[0].t, exact.events[0].t, atol=1e-7)
        assert_allclose(motion.q[-1, 0], 0.1, atol=1e-12)
        assert_allclose(np.diff(motion.t[:-1]), dt, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"law": 3.0, "period": 0.1}, "law must be a controller or a function"),
        ({"law": cr.PD, "period": 0.1}, "law must be a controller or a function"),
        ({"law": cr.Samples([0, 1], [[0], [1]]), "period": 0.1}, "previous"),
        ({"law": LAW, "period": 0.0}, "period must be positive"),
        ({"law": LAW, "period": 0.1, "delay": -1.0}, "delay must be from 0"),
        ({"law": LAW, "period": 0.1, "noise": -1.0}, "noise is a number"),
        ({"law": LAW, "period": 0.1, "quantization": np.nan}, "quantization"),
        ({"law": LAW, "period": 0.1, "seed": 1.5}, "seed"),
    ],
)
def test_what_cannot_be_sampled_is_refused(arguments, words):
    with pytest.raises(cr.ShapeError, match=words):
        cr.Sampled(**arguments)


def test_noise_of_another_length_is_refused_with_the_length():
    with pytest.raises(cr.ShapeError, match="one number or 2"):
        ARM.simulate([0, 0], None, 0.1, cr.Sampled(LAW, PERIOD, noise=[1.0, 2.0, 3.0]))


# --- functions with a memory that are not sampled ---


def test_functions_that_change_their_mind_are_warned_about():
    rng = np.random.default_rng(0)
    held = {"until": 0.0, "tau": np.zeros(2)}

    def sample_and_hold(t, q, qd):
        if t >= held["until"]:
            held["tau"], held["until"] = np.asarray(LAW(t, q, qd)), held["until"] + PERIOD
        return held["tau"]

    for function in (lambda t, q, qd: rng.normal(size=2), sample_and_hold):
        with pytest.warns(cr.SimulationWarning, match=r"cr\.Sampled\(function, period\)") as caught:
            ARM.simulate([0, 0], None, 0.05, function, dt=0.01)
        assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error::chainrule.errors.SimulationWarning")
def test_pure_functions_are_not_warned_about():
    ARM.simulate([0, 0], None, 0.05, called_law)
    wrenches = {"tip": lambda t, q, qd: [t] * 6}
    ARM.simulate(
        np.zeros((3, 2)), None, 0.05, lambda t, q, qd: -qd, integrator="dop853", external=wrenches, frame="body"
    )


PANDA = cr.load("panda")
HOME = PANDA.home()
MOTION = cr.plan(PANDA, [HOME, HOME + 0.003, HOME - 0.002], times=[0, 0.03, 0.07])


@pytest.mark.parametrize(
    "law",
    [
        cr.GravityCompensation(PANDA),
        cr.ComputedTorque(PANDA, MOTION, kp=4000.0),
        cr.PID(PANDA, MOTION, limit=3.0),
        cr.Impedance(PANDA, PANDA.pose(HOME)),
        cr.OperationalSpace(PANDA, cr.plan_pose([PANDA.pose(HOME), PANDA.pose(HOME + 0.001)], times=[0, 0.05])),
    ],
    ids=lambda law: type(law).__name__,
)
@pytest.mark.parametrize("rate_limit", [None, 500.0])
def test_a_call_in_a_loop_of_ones_own_is_the_simulation_to_the_last_bit(law, rate_limit):
    period = 0.00138145 if rate_limit else 0.001
    assert rate_limit is None or 1 / (1 / period) != period
    sampled = cr.Sampled(law, period, rate_limit=rate_limit)
    motion = PANDA.simulate(HOME + 0.05, None, 80 * period, sampled, integrator=cr.RK4(period))
    torques = [sampled(k * period, motion.q[k], motion.qd[k]) for k in range(80)]
    assert_array_equal(torques, motion.tau[:80])
    if rate_limit:
        most = rate_limit * period
        assert np.abs(np.diff(torques, axis=0, prepend=0)).max() <= most * (1 + 1e-12)
        unlimited = cr.Sampled(law, period)
        assert np.abs(torques[0] - unlimited(0.0, motion.q[0], motion.qd[0])).max() > most


@pytest.mark.parametrize("options", [{"delay": 0.025}, {"noise": 0.01, "quantization": 1e-3, "seed": 4}])
def test_a_call_has_the_delay_and_the_sensors_of_the_simulation(options):
    sampled = cr.Sampled(LAW, PERIOD, **options)
    motion = ARM.simulate([0, 0], None, 0.2, sampled, integrator=cr.RK4(0.005))
    called = [sampled(t, q, qd) for t, q, qd in zip(motion.t, motion.q, motion.qd, strict=True)]
    assert_allclose(called[:-1], motion.tau[:-1], atol=1e-12)


def test_a_call_holds_the_torque_and_calls_functions_once_a_period():
    times = []

    def law(t, q, qd):
        times.append(t)
        return [t, 0.0]

    sampled = cr.Sampled(law, 0.01)
    torques = [sampled(t, [0, 0], [0, 0])[0] for t in (0.0, 0.004, 0.0099, 0.01, 0.013, 0.05)]
    assert_allclose(torques, [0.0, 0.0, 0.0, 0.01, 0.01, 0.05])
    assert_allclose(times, [0.0, 0.01, 0.05])
    with pytest.raises(cr.ShapeError, match=r"after a call at 0.05 s; call reset\(\)"):
        sampled(0.0, [0, 0], [0, 0])
    sampled.reset()
    assert sampled(0.0, [0, 0], [0, 0])[0] == 0.0


@pytest.mark.parametrize("rate_limit", [0.0, -1.0, [1.0, np.nan], [[1.0]], "fast"])
def test_a_rate_limit_is_positive(rate_limit):
    with pytest.raises(cr.ChainruleError, match="rate_limit"):
        cr.Sampled(LAW, PERIOD, rate_limit=rate_limit)
    with pytest.raises(cr.ShapeError, match="rate_limit must be one number or 2"):
        ARM.simulate([0, 0], None, 0.1, cr.Sampled(LAW, PERIOD, rate_limit=[1.0, 2.0, 3.0]))
