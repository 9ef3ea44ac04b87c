"""Simulations on a graphics processor: the CPU's numbers on an emulated device, checks, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from compile.cuda.emulator import emulated_device, on_device

import chainrule as cr
from chainrule.compile.cuda.scan_codegen import StepWriter
from chainrule.compile.program import Outliner
from chainrule.core.reading import find_link
from chainrule.errors import ChainruleError, ShapeError, SimulationError, SimulationWarning

ARRAYS = ("t", "q", "qd", "qdd", "tau", "friction", "work", "states")


@pytest.fixture
def device():
    """An emulated device."""
    with emulated_device():
        yield


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_2r")


def starts(robot, rows=35, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.8, 0.8, (rows, robot.nq)), rng.uniform(-1, 1, (rows, robot.nv))


def assert_same(a, b, rtol=1e-12):
    for name in ARRAYS:
        x, y = getattr(a, name), getattr(b, name)
        assert x.shape == y.shape, name
        assert np.allclose(x, y, rtol=0, atol=rtol * (1 + np.abs(x).max(initial=0))), name


# --- numbers ---


def test_rk4_under_a_controller_with_a_rest_of_the_duration(device, arm):
    q, qd = starts(arm)
    options = {"duration": 0.0305, "torque": cr.PID(arm, [0.1, 0.2], 20.0, 1.0, 4.0), "dt": 1e-3, "record": 7}
    here, there = arm.simulate(q, qd, **options), arm.simulate(q, qd, **options, device="cuda")
    assert isinstance(there, cr.Trajectory)
    assert_same(here, there)


def test_arrays_on_the_device_give_arrays_there_in_their_own_precision(device, arm):
    q, qd = starts(arm)
    options = {"duration": 0.02, "torque": cr.PD(arm, [0.1, 0.2], 20.0, 4.0), "integrator": "euler", "record": 20}
    here = arm.simulate(q, qd, **options)
    there = arm.simulate(on_device(q, 32), on_device(qd, 32), **options, device="cuda:0")
    assert type(there.q) is type(on_device(q))
    assert there.q.dtype == np.float32
    assert len(there) == 2
    assert repr(there) == "<DeviceTrajectory of (35,) motions of 'planar_2r': 2 samples, euler, finished>"
    assert_same(here, there.to_host(), 1e-5)
    assert_same(here, arm.simulate(q, qd, **options, device="cuda", dtype=np.float32), 1e-5)


@pytest.mark.slow
def test_a_single_start_at_rest_with_samples_and_a_wrench_for_each_motion(device, arm):
    q, _ = starts(arm, 3)
    torque = cr.Samples([0.0, 0.01, 0.02], np.random.default_rng(1).normal(size=(3, 3, 2)), "previous")
    options = {"duration": 0.02, "torque": torque, "external": {find_link(arm): [0, 0, 1.0, 2.0, 0, 0]}, "dt": 1e-3}
    assert_same(arm.simulate(q, None, **options), arm.simulate(q, None, **options, device="cuda"))


@pytest.mark.slow
def test_parameters_of_the_robot_differ_from_row_to_row(device, arm):
    q, qd = starts(arm, 5)
    masses = {"link2.mass": np.linspace(0.5, 2.0, 5)}
    options = {"duration": 0.01, "integrator": "semi_implicit_euler"}
    heavier = arm.at(masses)
    here = heavier.simulate(q, qd, **options)
    there = heavier.simulate(on_device(q), on_device(qd), **options, device="cuda")
    assert_same(here, there.to_host())


@pytest.mark.parametrize(
    ("static", "stops"),
    [
        (0.0, cr.Stops(1e3, 10.0)),
        pytest.param(0.7, cr.Stops(1e3, 10.0), marks=pytest.mark.slow),
        pytest.param(0.0, cr.Impacts(0.3), marks=pytest.mark.slow),
        pytest.param(0.7, cr.Impacts(0.3), marks=pytest.mark.slow),
    ],
)
def test_friction_that_sticks_and_stops(device, arm, static, stops):
    rubbing = arm.edit(joints={"*": {"coulomb": 0.5, "static": static, "viscous": 0.1, "lower": -0.9, "upper": 0.9}})
    q, qd = starts(rubbing)
    q[:20] *= 0.2
    qd[10:30] = 0
    torque = cr.PD(rubbing, [0.0, 0.0], 5.0, 1.0)
    options = {"duration": 0.1, "torque": torque, "integrator": "semi_implicit_euler", "stops": stops, "record": 50}
    here, there = rubbing.simulate(q, qd, **options), rubbing.simulate(q, qd, **options, device="cuda")
    assert (here.qd[:, -1] == 0).any()
    assert_same(here, there)


@pytest.mark.slow
def test_a_closed_loop_and_a_floating_base(device):
    bar = cr.load("four_bar")
    q = bar.loops.close(bar.home())
    options = {"duration": 0.02, "dt": 1e-3}
    assert_same(bar.simulate(q, **options), bar.simulate(q, **options, device="cuda"), 1e-10)
    flying = cr.load("quadruped")
    q, qd = np.tile(flying.home(), (3, 1)), np.random.default_rng(0).normal(size=(3, flying.nv))
    q[:, 3:7] *= 2.0  # quaternions of another length
    here = flying.simulate(q, qd, **options)
    assert_same(here, flying.simulate(on_device(q), on_device(qd), **options, device="cuda").to_host(), 1e-10)


@pytest.mark.slow
def test_long_motions_are_taken_in_several_launches(device, arm, monkeypatch):
    from chainrule.simulation import device as module

    monkeypatch.setattr(module, "MAX_LAUNCH_FLOPS", 1.0)
    q, qd = starts(arm, 2)
    options = {"duration": 0.02, "torque": ([0.0, 1.0], [[0.0, 0.0], [1.0, 2.0]]), "dt": 1e-3, "record": 6}
    assert_same(arm.simulate(q, qd, **options), arm.simulate(q, qd, **options, device="cuda"))


def test_calls_that_are_not_needed_are_left_out():
    def text(call, _, state, __):
        for in_row in (False, True, True):
            state = call("twice", lambda x: [2 * y for y in x], state, when=lambda x=state: x[0], is_iteration=in_row)
        return state

    for conditions in (False, True):
        outliner = Outliner((0, 1, 0), conditions=conditions)
        program = outliner.program(text(outliner.call, *outliner.inputs))
        assert [segment.when for segment in program.segments] == [*([0] * 3 if conditions else [None] * 3), None]
    written = "".join(StepWriter(program, 64).repetition("step", {"next": [0]}))
    assert "if (a0[0] == 0) break;" in written
    assert written.count("turn < 2") == 1
    program = replace(program, segments=(*program.segments[:2], program.segments[0], *program.segments[3:]))
    with pytest.raises(ValueError, match="differ in nothing but the result of the call before"):
        "".join(StepWriter(replace(program, segments=_in_row(program)), 64).repetition("step", {"next": [0]}))


def _in_row(program):
    return tuple(replace(segment, is_iteration=segment.calls is not None) for segment in program.segments)


# --- checks ---


def test_a_motion_that_diverges_is_an_error_that_says_when(device, arm):
    q, qd = starts(arm, 40)
    gains = np.full((40, 2), 1.0)
    gains[37] = 1e6
    options = {"duration": 0.3, "torque": cr.PD(arm, [0.0, 0.0], gains, 0.0), "integrator": "euler", "dt": 5e-3}
    with pytest.raises(SimulationError, match=r"diverges at about t = .* s, row \(37,\).*smaller dt") as error:
        arm.simulate(q, qd, **options, torque_limits=False, device="cuda")
    assert 1 < len(error.value.trajectory) < 61
    assert np.isfinite(error.value.trajectory.qd).all()
    kept = arm.simulate(q, qd, **options, torque_limits=False, device="cuda", diverged="keep")
    assert kept.status == "finished"
    assert np.isfinite(kept.q[:37]).all()


@pytest.mark.slow
def test_energy_from_nowhere_is_a_warning(device, arm):
    with pytest.warns(SimulationWarning, match="energy came from nowhere.*Take a smaller dt"):
        arm.simulate([[2.0, 1.0]] * 2, [[9.0, -9.0]] * 2, 1.0, dt=0.05, integrator="euler", device="cuda", limits=False)


def test_starts_on_the_device_are_checked_there(device, arm):
    q, qd = starts(arm, 40)
    narrow = arm.edit(joints={"*": {"lower": -1.0, "upper": 1.0}})
    q[33, 1] = 1.5
    with pytest.raises(ShapeError, match=r"start of joint .* is 1.5 in row \(33,\), outside its limits -1 to 1"):
        narrow.simulate(on_device(q), on_device(qd), 0.01, device="cuda")
    qd[5] = np.nan
    with pytest.raises(ShapeError, match=r"q0 and qd0 must be finite, and those \(row \(5,\)\) are not"):
        narrow.simulate(on_device(q), on_device(qd), 0.01, device="cuda")


# --- refusals ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"device": "gpu"}, "device must be 'cuda', 'cuda:1' or 'cpu', got 'gpu'"),
        ({"device": 3}, "device must be 'cuda'"),
        ({"device": "cuda", "dtype": "float16"}, "dtype must be 'float32' or 'float64', got 'float16'"),
        ({"dtype": "float32"}, "dtype belongs to device='cuda'"),
        ({"integrator": "dop853"}, "dop853 chooses its steps on the CPU.*integrator='rk4'"),
        ({"integrator": "implicit_midpoint"}, "implicit_midpoint are checked after every step"),
        ({"events": lambda t, q, qd: q[..., 0]}, "events are Python functions.*leave device out"),
        ({"torque": lambda t, q, qd: -qd}, "only Python can compute.*cr.traceable"),
        ({"torque": cr.Sampled(lambda t, q, qd: -qd, 0.01)}, "only Python can compute"),
        ({"torque": cr.Samples([0.0, 0.0007], [[0.0, 0.0], [1.0, 1.0]], "previous")}, "jumps inside a step"),
        ({"stops": cr.Stops(1e3)}, "with stops, rk4 splits steps.*semi_implicit_euler"),
    ],
)
def test_what_a_device_cannot_do_is_refused(device, arm, options, message):
    with pytest.raises(ChainruleError, match=message):
        arm.simulate([0.1, 0.2], None, 0.01, **{"device": None if "dtype" in options else "cuda"} | options)


def test_dry_friction_with_rk4_is_refused(device, arm):
    with pytest.raises(ShapeError, match="with dry friction, rk4 splits steps"):
        arm.edit(joints={"*": {"coulomb": 1.0}}).simulate([0.1, 0.2], None, 0.01, device="cuda")


def test_wrong_arrays_on_the_device_are_refused(device, arm):
    q, qd = map(on_device, starts(arm, 4))
    for given, options, message in [
        ((q[:, :1], qd), {}, "q0 must have 2 numbers in its last dimension"),
        ((q, qd.astype(np.float32)), {}, "must have one type"),
        ((q, qd), {"dtype": "float32"}, "q0 is of type float64 on CUDA device 0, and .*dtype='float32' was asked for"),
        ((q, qd[:3]), {}, "batches of q0, qd0 and parameters do not fit"),
        ((q[:0], qd[:0]), {}, "holds no start"),
        ((np.array(q), qd), {}, "q0 must be an array on a CUDA device"),
    ]:
        with pytest.raises(ShapeError, match=message):
            arm.simulate(*given, 0.01, device="cuda", **options)
    with pytest.raises(ShapeError, match="q0 is of type float64 on CUDA device 0, and device='cuda:1'"):
        arm.simulate(q, qd, 0.01, device="cuda:1")
    with pytest.raises(ShapeError, match="prescribed joints are put in place on the CPU"):
        arm.simulate(q, qd, 0.01, device="cuda", prescribed={"joint1": 1.0})


def test_without_a_device_the_error_says_what_to_install(arm):
    with pytest.raises(ChainruleError, match=r"CuPy|graphics processor"):
        arm.simulate([0.1, 0.2], None, 0.01, device="cuda")


# --- sensitivities ---


def test_the_adjoint_on_the_device_is_that_of_the_cpu(device, arm):
    q, qd = starts(arm, 35)
    torque = cr.PD(arm, [0.1, 0.2], 20.0, 4.0)
    options = {"duration": 0.006, "torque": torque, "integrator": "semi_implicit_euler", "dt": 1e-3}
    here, there = (
        arm.sensitivities(q, qd, **options),
        arm.sensitivities(on_device(q), on_device(qd), **options, device="cuda"),
    )
    dq = np.random.default_rng(1).normal(size=here.q.shape)
    dqd = np.random.default_rng(2).normal(size=here.qd.shape)
    assert type(there.q) is type(on_device(q))
    assert np.allclose(there.q, here.q, rtol=0, atol=1e-13)
    expected, found = here.adjoint(dq, dqd), there.adjoint(on_device(dq), dqd)
    assert expected.keys() == found.keys() == {"q0", "qd0", "controller"}
    for name, value in expected.items():
        assert np.allclose(found[name], value, rtol=1e-11, atol=1e-11), name
    with pytest.raises(ShapeError, match=r"dq must be contiguous and have the shape \(35, 7, 2\)"):
        there.adjoint(on_device(dq[:, 1:]))
    with pytest.raises(ShapeError, match="dqd must be of type float64 on CUDA device 0, got float32"):
        there.adjoint(None, on_device(dqd, 32))
    with pytest.raises(ShapeError, match="forward runs on the CPU"):
        there.forward()


@pytest.mark.slow
def test_the_adjoint_by_samples_of_a_torque_and_parameters_of_each_motion(device, arm):
    q, qd = starts(arm, 3)
    samples = np.random.default_rng(3).normal(size=(3, 5, 2))
    options = {
        "duration": 0.02,
        "torque": (np.linspace(0, 0.02, 5), samples),
        "dt": 1e-3,
    }
    arm = arm.at({"link2.mass": np.linspace(0.5, 2.0, 3)})
    here, there = arm.sensitivities(q, qd, **options), arm.sensitivities(q, qd, **options, device="cuda")
    weights = np.zeros_like(here.q)
    weights[:, -1] = 1.0
    expected, found = here.adjoint(weights), there.adjoint(weights)
    assert expected.keys() == found.keys()
    for name, value in expected.items():
        assert np.allclose(found[name], value, rtol=1e-11, atol=1e-11), name
    assert np.allclose(there.qd, here.qd, rtol=0, atol=1e-13)
    with pytest.raises(ShapeError, match="gradients with a torque given by samples are put together on the CPU"):
        arm.sensitivities(on_device(q), on_device(qd), **options, device="cuda")


@pytest.mark.slow
def test_sensitivities_of_a_motion_that_diverges_are_refused(device, arm):
    with pytest.raises(ShapeError, match="sensitivities: the motion diverges"):
        arm.sensitivities([0.0, 0.0], [1e200, 0.0], 0.2, dt=0.1, integrator="euler", device="cuda").adjoint()
    with pytest.raises(ShapeError, match="sensitivities: device must be 'cuda'"):
        arm.sensitivities([0.0, 0.0], None, 0.1, device="tpu")
