"""What goes into a simulation and what comes out: torques of every kind, trajectories, files, errors."""

from __future__ import annotations

import os
import signal
import threading

import numpy as np
import pytest

import chainrule as cr


@pytest.fixture(scope="module")
def arm():
    return cr.load("double_pendulum")


START = [1.0, 0.5]


# --- torques ---


def test_the_same_torque_gives_the_same_motion_however_it_is_told(arm):
    tau = np.array([2.0, -1.0])
    told = [
        tau,
        cr.Samples([0.0, 1.0], [tau, tau]),
        ([0.0, 1.0], [tau, tau]),
        cr.Samples([0.0, 0.5, 1.0], [tau] * 3, "previous"),
        cr.Samples([0.0, 0.5, 1.0], [tau] * 3, "cubic"),
        lambda t, q, qd: tau,
        cr.traceable(lambda t, q, qd: tau + 0 * q),
    ]
    motions = [arm.simulate(START, None, 0.5, torque) for torque in told]
    for motion in motions[1:]:
        assert np.abs(motion.q - motions[0].q).max() < 1e-12
        assert np.allclose(motion.tau, tau)


def test_samples_are_interpolated_as_they_say(arm):
    t, values = np.array([0.0, 0.1, 0.2]), np.array([[0.0, 1.0], [2.0, 1.0], [0.0, -1.0]])
    linear = arm.simulate(START, None, 0.3, cr.Samples(t, values), dt=0.05)
    assert np.allclose(linear.tau[:, 0], [0, 1, 2, 1, 0, 0, 0])
    steps = arm.simulate(START, None, 0.3, cr.Samples(t, values, "previous"), dt=0.05)
    assert np.allclose(steps.tau[:, 0], [0, 0, 2, 2, 0, 0, 0])
    smooth = arm.simulate(START, None, 0.2, cr.Samples(t, values, "cubic"), dt=0.05)
    assert np.allclose(smooth.tau[:, 0], [0, 1.5, 2, 1.5, 0])


def test_samples_may_differ_from_row_to_row(arm):
    values = np.random.default_rng(0).normal(size=(3, 5, 2))
    samples = cr.Samples(np.linspace(0, 0.4, 5), values)
    many = arm.simulate(np.tile(START, (3, 1)), None, 0.4, samples)
    for method in ("rk4", "dop853"):
        for row in range(3):
            alone = arm.simulate(START, None, 0.4, cr.Samples(samples.t, values[row]), method=method, rtol=1e-11)
            assert np.abs(many.row(row).q - alone.q).max() < 1e-7


def test_a_function_sees_the_batch_as_it_was_given(arm):
    shapes = set()

    def torque(t, q, qd):
        shapes.add((np.shape(t), q.shape, qd.shape))
        return -qd

    arm.simulate(START, None, 0.01, torque)
    arm.simulate(np.tile(START, (3, 4, 1)), None, 0.01, torque)
    assert shapes == {((), (2,), (2,)), ((), (3, 4, 2), (3, 4, 2))}


def test_a_function_is_never_asked_beyond_the_end(arm):
    times = []
    arm.simulate(START, None, 0.1, lambda t, q, qd: times.append(t) or 0 * q, dt=0.03)
    assert min(times) == 0
    assert max(times) <= 0.1 + 1e-12


def test_a_traced_function_runs_compiled_and_equals_itself_called(arm):
    K = np.array([[30.0, 2.0], [2.0, 10.0]])

    @cr.traceable
    def law(t, q, qd):
        return -K @ q - 3.0 * qd + np.array([1.0, 0.0]) * np.sin(2 * t)

    compiled = arm.simulate(START, None, 1.0, law)
    called = arm.simulate(START, None, 1.0, law.function)
    assert np.abs(compiled.q - called.q).max() < 1e-12


@pytest.mark.parametrize(
    "law",
    [
        lambda t, q, qd: -q if q[0] > 0 else q,
        lambda t, q, qd: np.array([float(q[0]), 0.0]),
        lambda t, q, qd: np.random.normal(size=2),
        lambda t, q, qd: [q[0]] * 3,
        lambda t, q, qd: "torque",
    ],
)
def test_what_cannot_be_traced_is_refused(arm, law):
    with pytest.raises(cr.ShapeError, match="torque"):
        arm.simulate(START, None, 0.1, cr.traceable(law))


def test_a_traced_function_indexes_the_joints_of_one_motion_on_every_path(arm):
    law = cr.traceable(lambda t, q, qd: [-50 * q[0] + np.tanh(q[1]), np.exp(-(qd[0] ** 2)) - np.arctan(q[1])])
    starts = [[0.7, 0.8], [0.1, 0.2], [-0.3, 0.4]]
    motions = [robot.simulate(starts, None, 0.1, law) for robot in (arm, arm.reference)]
    motions.append(arm.simulate(starts, None, 0.1, law, method="dop853", rtol=1e-12))
    for motion in motions[1:]:
        assert np.abs(motion.q - motions[0].q).max() < 1e-9


def test_wrenches_of_every_kind_act_as_those_of_forward_dynamics(arm):
    push = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5])
    for told in (push, lambda t, q, qd: push, ([0.0, 1.0], [push, push]), cr.traceable(lambda t, q, qd: push + 0 * t)):
        motion = arm.simulate(START, None, 0.1, [0.5, 0.1], tip_wrench=told)
        expected = arm.forward_dynamics(motion.q, motion.qd, motion.tau, tip_wrench=push)
        assert np.abs(motion.qdd - expected).max() < 1e-9
        link = arm.link_names[1]
        motion = arm.simulate(START, None, 0.1, [0.5, 0.1], wrenches={link: told})
        expected = arm.forward_dynamics(motion.q, motion.qd, motion.tau, wrenches={link: push})
        assert np.abs(motion.qdd - expected).max() < 1e-9


def test_controllers_are_compiled_in_and_their_gains_may_vary_over_the_batch():
    robot = cr.load("panda").without_friction()
    q0 = np.array([0.0, -0.3, 0.0, -2.0, 0.0, 1.8, 0.5])
    gains = np.array([[50.0], [100.0], [200.0]]) * np.ones(7)
    motion = robot.simulate(np.tile(q0, (3, 1)), None, 0.3, cr.ComputedTorque(robot, q0 + 0.2, gains))
    for row, kp in enumerate((50.0, 100.0, 200.0)):
        w = np.sqrt(kp)
        exact = q0 + 0.2 - 0.2 * (1 + w * motion.t[:, None]) * np.exp(-w * motion.t[:, None])
        assert np.abs(motion.q[row] - exact).max() < 1e-8


def test_the_integral_of_a_pid_is_one_of_the_states(arm):
    controller = cr.PID(arm, [0.3, 0.2], 200.0, 50.0, 30.0)
    motion = arm.simulate([0.0, 0.0], None, 0.5, controller, torque_limits=False)
    assert motion.states.shape == (501, 2)
    error = np.array([0.3, 0.2]) - motion.q
    integral = np.concatenate([[[0, 0]], np.cumsum((error[1:] + error[:-1]) / 2 * 1e-3, axis=0)])
    assert np.allclose(motion.states, integral, atol=1e-6)


# --- trajectories ---


def test_a_trajectory_is_cut_resampled_and_read_by_name(arm):
    motion = arm.simulate(START, None, 1.0, [0.3, 0.1])
    assert len(motion) == 1001
    assert np.allclose(motion[100:200:10].t, np.arange(0.1, 0.2, 0.01))
    assert np.allclose(motion.between(0.25, 0.5).t[[0, -1]], [0.25, 0.5])
    coarse = arm.simulate(START, None, 1.0, [0.3, 0.1], record_every=10)
    fine = coarse.resample(1e-3)
    assert np.abs(fine.q - motion.q).max() < 1e-6
    assert np.abs(fine.qd - motion.qd).max() < 1e-4
    assert np.array_equal(coarse.resample(coarse.t).q, coarse.q)
    assert np.array_equal(motion.column("q.upper_hinge"), motion.q[:, 0])
    assert motion.energy.shape == (1001,)
    assert motion.constraint_residual.shape == (1001, 0)


def test_quaternions_are_resampled_on_their_sphere():
    robot = cr.load("quadruped").with_gravity([0, 0, 0])
    motion = robot.simulate(robot.neutral(), np.full(robot.nv, 0.5), 0.2, record_every=20, limits=False)
    assert np.abs(np.linalg.norm(motion.resample(1e-3).q[:, 3:7], axis=1) - 1).max() < 1e-14


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".parquet"])
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)])
def test_a_saved_trajectory_comes_back_as_it_was(arm, tmp_path, suffix, batch):
    event = cr.Event(lambda t, q, qd: q[..., 0], name="low", terminal=False)
    motion = arm.simulate(np.tile(START, (*batch, 1)), None, 0.6, cr.PID(arm, [0.1, 0.1], 9.0, 1.0, 1.0), events=event)
    path = tmp_path / f"run{suffix}"
    motion.save(path)
    back = cr.Trajectory.load(path, arm if suffix == ".csv" else None)
    for name in ("t", "q", "qd", "qdd", "tau", "friction", "work", "states"):
        a, b = getattr(motion, name), getattr(back, name)
        assert np.array_equal(a.reshape(b.shape), b), name
    assert back.robot == arm
    if suffix != ".csv":
        assert back.q.shape == motion.q.shape
        assert [e.t for e in back.events] == [e.t for e in motion.events]
        assert (back.method, back.status) == (motion.method, motion.status)


def test_files_that_are_no_trajectories_are_refused(arm, tmp_path):
    for name, content in (("a.npz", b"nonsense"), ("a.parquet", b"nonsense"), ("a.csv", b"t,q\n0,x\n"), ("b.csv", b"")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(cr.ChainruleError):
            cr.Trajectory.load(path, arm)
    np.savez(tmp_path / "other.npz", t=np.zeros(3))
    for wrong in ("other.npz", "missing.npz", "a.txt"):
        with pytest.raises(cr.ChainruleError):
            cr.Trajectory.load(tmp_path / wrong)
    motion = arm.simulate(START, None, 0.1)
    with pytest.raises(cr.ShapeError, match="npz"):
        motion.save(tmp_path / "run.xlsx")
    motion.save(tmp_path / "run.csv")
    with pytest.raises(cr.ShapeError, match="robot"):
        cr.Trajectory.load(tmp_path / "run.csv")
    with pytest.raises(cr.FormatError, match="panda"):
        cr.Trajectory.load(tmp_path / "run.csv", cr.load("panda"))


def test_a_plot_is_written_and_refuses_what_it_cannot_write(arm, tmp_path):
    motion = arm.simulate(START, None, 0.1)
    motion.plot(tmp_path / "run.png", joints=["upper_hinge"])
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(cr.ShapeError, match="png"):
        motion.plot(tmp_path / "run.xyz")
    with pytest.raises(cr.UnknownNameError):
        motion.plot(joints=["elbow"])


# --- what goes wrong ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0.0}, "dt must be positive"),
        ({"dt": -1e-3}, "dt must be positive"),
        ({"dt": np.nan}, "dt"),
        ({"dt": 2.0}, "longer than the duration"),
        ({"dt": "fast"}, "dt"),
        ({"duration": -1.0}, "duration must be positive"),
        ({"duration": np.inf}, "duration"),
        ({"record_every": 0}, "record_every"),
        ({"record_every": 1.5}, "record_every"),
        ({"method": "rk5"}, "rk4"),
        ({"q0": [1.0]}, "q0"),
        ({"q0": [np.nan, 0.0]}, "q0 must be finite"),
        ({"q0": np.zeros((0, 2))}, "no start"),
        ({"qd0": [1.0]}, "qd0"),
        ({"qd0": np.zeros((3, 2)), "q0": np.zeros((4, 2))}, "do not fit"),
        ({"torque": [1.0]}, "torque"),
        ({"torque": [1.0, np.inf]}, "lower_hinge"),
        ({"torque": np.zeros((3, 2))}, "batch"),
        ({"torque": "full"}, "torque"),
        ({"torque": cr.Samples([0, 1], [[1.0], [2.0]])}, "samples of 1"),
        ({"torque": lambda t, q, qd: [1.0]}, "torque"),
        ({"torque": lambda t, q, qd: None}, "torque"),
        ({"tip_wrench": [1.0]}, "tip_wrench"),
        ({"wrenches": [1.0]}, "dictionary"),
        ({"wrenches": {"elbow": np.zeros(6)}}, "elbow"),
        ({"stops": 1000.0}, "Stops"),
        ({"stops": cr.Stops(-1.0)}, "stiffness"),
        ({"stops": cr.Impacts(1.5)}, "restitution"),
        ({"events": 3}, "Event"),
        ({"events": lambda t, q, qd: q}, "one number"),
        ({"stabilisation": "glue"}, "stabilisation"),
        ({"diverged": "ignore"}, "raise"),
        ({"rtol": 0.0, "method": "dop853"}, "rtol"),
    ],
)
def test_wrong_arguments_are_named(arm, options, message):
    arguments = {"q0": START, "qd0": None, "duration": 0.1, **options}
    with pytest.raises(cr.ChainruleError, match=message):
        arm.simulate(**arguments)


def test_samples_refuse_what_they_cannot_mean():
    for t, values in (
        ([0.0], [[1.0]]),
        ([1.0, 0.0], [[1.0], [2.0]]),
        ([0.0, 1.0], [[1.0]]),
        ([0, 1], [[1.0], [np.nan]]),
    ):
        with pytest.raises(cr.ShapeError):
            cr.Samples(t, values)
    with pytest.raises(cr.ShapeError, match="linear"):
        cr.Samples([0, 1], [[1.0], [2.0]], "quadratic")


def test_a_torque_that_is_no_number_is_named_with_its_time_and_joint(arm):
    def broken(t, q, qd):
        return np.array([0.0, np.nan if t > 0.0501 else 0.0])

    with pytest.raises(cr.ShapeError, match=r"nan for 'lower_hinge' at t = 0\.05"):
        arm.simulate(START, None, 1.0, broken)
    with pytest.raises(cr.ShapeError, match="lower_hinge"):
        arm.simulate(START, None, 1.0, broken, method="dop853")


def test_an_error_in_a_users_function_is_their_own(arm):
    def broken(t, q, qd):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        arm.simulate(START, None, 1.0, broken)


def test_a_start_outside_the_limits_is_refused_by_name():
    robot = cr.load("panda")
    with pytest.raises(cr.ShapeError, match=r"panda_joint4.*limits=False"):
        robot.simulate(np.zeros(7), None, 0.1)
    robot.simulate(np.zeros(7), None, 0.01, limits=False)
    with pytest.raises(cr.ShapeError, match="row"):
        robot.simulate(np.zeros((2, 7)), None, 0.1)


def test_a_controller_for_another_robot_is_refused():
    controller = cr.GravityCompensation(cr.load("ur5"))
    with pytest.raises(cr.ShapeError, match=r"ur5.*panda"):
        cr.load("panda").simulate(np.array([0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0]), None, 0.1, controller)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_torque_where_none_can_act_is_refused(method):
    robot = cr.load("four_bar")
    tau = np.array([0.0, 1.0, 0.0])
    for told in (tau, ([0, 1], [tau, tau]), lambda t, q, qd: tau):
        with pytest.raises(cr.ShapeError, match=r"'coupler'.*effort limit of 0"):
            robot.simulate(robot.neutral(), None, 0.1, told, method=method)


def test_a_controller_must_be_made_before_it_is_used(arm):
    with pytest.raises(cr.ShapeError, match=r"PD\(\.\.\.\)"):
        arm.simulate(START, None, 0.1, cr.PD)


def test_energy_from_nowhere_is_told(arm):
    stiff = cr.traceable(lambda t, q, qd: -3e4 * q - 60 * qd)
    with pytest.warns(cr.SimulationWarning, match="smaller dt"):
        arm.simulate(START, None, 0.5, stiff, method="semi_implicit_euler", dt=2.5e-3)


@pytest.mark.parametrize("method", ["euler", "rk4", "dop853"])
def test_a_motion_that_diverges_stops_with_its_time_and_joint(arm, method):
    with pytest.raises(cr.SimulationError, match=r"t = .*_hinge") as caught:
        arm.simulate(START, None, 5.0, cr.traceable(lambda t, q, qd: 200.0 * qd * qd * qd), method=method)
    if method != "dop853":
        assert caught.value.trajectory.status == "diverged"
        assert np.isfinite(caught.value.trajectory.q).all()
        assert len(caught.value.trajectory) > 0


def test_rows_that_diverge_may_be_kept_apart(arm):
    push = cr.traceable(lambda t, q, qd: 200.0 * qd * qd * qd)
    motion = arm.simulate([START, [0.0, 0.0]], None, 3.0, push, diverged="keep")
    assert not np.isfinite(motion.q[0, -1]).all()
    assert (motion.q[1] == 0).all()


def test_an_implicit_step_that_cannot_be_solved_is_an_error(arm):
    stiff = cr.traceable(lambda t, q, qd: -1e6 * q - 1e3 * qd)
    with pytest.raises(cr.SimulationError, match="smaller dt"):
        arm.simulate(START, None, 1.0, stiff, method="implicit_midpoint", dt=1e-2)


def test_an_interrupt_before_the_first_sample_leaves_an_empty_trajectory(arm):
    def interrupting(t, q, qd):
        raise KeyboardInterrupt

    motion = arm.simulate([START, START], None, 1.0, interrupting)
    assert (motion.status, len(motion), motion.q.shape) == ("interrupted", 0, (2, 0, 2))


def test_an_interrupted_simulation_keeps_what_it_has(arm):
    def interrupting(t, q, qd):
        if t > 0.3:
            raise KeyboardInterrupt
        return 0 * q

    for method in ("rk4", "dop853"):
        motion = arm.simulate(START, None, 1.0, interrupting, method=method)
        assert motion.status == "interrupted"
        assert 0.2 < motion.t[-1] <= 0.3 + 1e-3
        assert np.isfinite(motion.q).all()


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="signals are sent as POSIX does")
def test_a_compiled_rollout_hears_an_interrupt(arm):
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    arm.simulate(START, None, 0.1)  # compiled before the clock starts
    timer.start()
    motion = arm.simulate(START, None, 20_000.0, record_every=1000)
    timer.cancel()
    assert motion.status == "interrupted"
    assert 0 < motion.t[-1] < 20_000
    assert np.isfinite(motion.q).all()


def test_a_progress_bar_shows_only_where_it_is_wanted(arm, capfd, monkeypatch):
    from chainrule.simulation import progress

    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    arm.simulate(START, None, 0.2)
    assert capfd.readouterr().err == ""
    arm.simulate(START, None, 0.2, progress=True)
    assert "simulating" in capfd.readouterr().err


def test_more_than_memory_holds_is_refused(arm):
    with pytest.raises(cr.ShapeError, match="record_every"):
        arm.simulate(np.tile(START, (100_000, 1)), None, 1000.0)
