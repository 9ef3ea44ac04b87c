"""What a reviewer found: laws that changed, jumps between samples, events close together, loops that rub and bounce."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.errors import ChainruleError, FormatError, ShapeError
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Symmetric, Transform, Vector

ARM = cr.load("planar_2r")


def test_a_traceable_law_follows_the_values_it_takes_from_elsewhere():
    gain = {"k": 5.0}
    law = cr.traceable(lambda t, q, qd: [-gain["k"] * q[0], -gain["k"] * q[1]])
    assert ARM.simulate([0.1, 0.0], None, 0.01, law).tau[0, 0] == -0.5
    gain["k"] = 50.0
    assert ARM.simulate([0.1, 0.0], None, 0.01, law).tau[0, 0] == -5.0


def test_a_controller_class_that_is_defined_anew_is_compiled_anew():
    def defined(stiffness):
        class Spring(cr.Controller):
            def torque(self, q, qd, z, s, p):
                return [-stiffness * x for x in q], []

        return Spring(ARM, {})

    assert [ARM.simulate([0.1, 0.0], None, 0.01, defined(k)).tau[0, 0] for k in (5.0, 50.0)] == [-0.5, -5.0]


@pytest.mark.parametrize("method", ["rk4", "implicit_midpoint"])
@pytest.mark.parametrize("as_wrench", [False, True])
def test_samples_that_are_held_give_exactly_their_impulse(method, as_wrench):
    wheel = cr.load("pendulum").with_gravity([0, 0, 0]).without_friction()
    t, u = np.arange(20) * 0.01, np.random.default_rng(0).normal(size=(20, 1))
    if as_wrench:
        moments = cr.Samples(t, -u * [[0, 0, 1, 0, 0, 0]], "previous")
        motion = wheel.simulate([0.0], None, 0.2, None, method, 0.01, tip_wrench=moments)
    else:
        motion = wheel.simulate([0.0], None, 0.2, cr.Samples(t, u, "previous"), method, 0.01, torque_limits=False)
    inertia = wheel.mass_matrix([0.0])[0, 0]
    assert motion.qd[-1, 0] * inertia == pytest.approx(u.sum() * 0.01, abs=1e-13)


def test_of_two_events_in_one_step_the_earlier_ends_the_motion():
    late = cr.Event(lambda t, q, qd: t - 0.0205 + 0 * q[..., 0], name="late")
    early = cr.Event(lambda t, q, qd: t - 0.0202 + 0 * q[..., 0], name="early")
    motion = ARM.simulate([0.0, 0.0], None, 1.0, events=[late, early])
    assert [event.name for event in motion.events] == ["early"]


def test_an_event_in_a_batch_is_found_with_a_function_that_has_numbers_for_each_row():
    gains = np.array([[1.0, 2.0], [3.0, 4.0]])
    level = cr.Event(lambda t, q, qd: q[..., 0] + 0.3)
    motion = ARM.simulate(np.zeros((2, 2)), None, 1.0, lambda t, q, qd: -gains * q, events=level)
    assert motion.status == "stopped"
    assert [event.row for event in motion.row(1).events] == [()]
    assert motion.row(1).events[0].t == motion.events[[e.row for e in motion.events].index((1,))].t


def test_a_row_that_an_event_has_stopped_may_diverge_afterwards():
    law = cr.traceable(lambda t, q, qd: [3000.0 * q[0] ** 3 + 1.0, 0.0 * t])
    stop = cr.Event(lambda t, q, qd: q[..., 0] - 1.5)
    options = {"torque_limits": False, "limits": False, "events": stop}
    assert ARM.simulate([[1.0, 0.0], [0.0, 0.0]], None, 1.5, law, **options).status == "stopped"


def test_a_motion_that_diverges_and_is_kept_says_so():
    stiff = cr.PD(ARM, [0.0, 1.0], 1e7, 1e6)
    assert ARM.simulate([0.0, 0.0], None, 5.0, stiff, torque_limits=False, diverged="keep").status == "diverged"


def thrown(**options):
    ball = cr.load("cartesian_3p").without_friction().lock({"joint2": 0.0, "joint3": 0.0})
    return ball.simulate([0.4], [2.0], 0.5, limits=False, **options)


@pytest.mark.parametrize("method", ["dop853", "radau", "lsoda"])
def test_adaptive_steps_do_not_leap_over_an_event_there_and_back(method):
    passing = cr.Event(lambda t, q, qd: q[..., 0] - 0.5, terminal=False)
    assert len(thrown(method=method, events=passing).events) == 2


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_adaptive_impacts_of_a_floating_robot_keep_its_momentum_and_its_limits(method):
    robot = cr.load("quadruped").with_gravity([0, 0, 0]).without_friction()
    robot = robot.with_joint_properties(
        lower=dict.fromkeys(robot.joint_names[1:], -0.5), upper=dict.fromkeys(robot.joint_names[1:], 0.5)
    )
    v = np.zeros(robot.nv)
    v[[6, -2, -1]] = [2.0, 1.0, -2.0]
    motion = robot.simulate(robot.neutral(), v, 1.5, method=method, dt=1e-2, stops=cr.Impacts(1.0))
    assert np.abs(motion.q[:, 7:]).max() < 0.5 + 1e-9
    momentum = np.asarray(robot.momentum(motion.q, motion.qd))
    assert np.abs(momentum - momentum[0]).max() < 1e-8
    assert np.abs(motion.energy_error).max() < 1e-8


def test_samples_with_rows_of_their_own_reach_the_right_rows_of_a_larger_batch():
    samples = cr.Samples([0.0, 1.0], np.arange(12.0).reshape(3, 2, 2))
    taus = [ARM.simulate(np.zeros((2, 3, 2)), None, 0.01, samples, method=m).tau for m in ("rk4", "dop853")]
    assert np.allclose(*taus)


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_samples_of_another_batch_than_the_starts_are_refused(method):
    for start in ([0.0, 0.0], np.zeros((2, 2))):
        with pytest.raises(ShapeError, match="give q0 the larger one"):
            ARM.simulate(start, None, 0.1, cr.Samples([0.0, 1.0], np.zeros((3, 2, 2))), method=method)


def crank(coulomb, dt):
    bar = cr.load("four_bar").without_friction().with_joint_properties(coulomb=coulomb)
    return bar.simulate(bar.close([0.5, 0.0, 0.0], hold=["crank"]), None, 5.0, dt=dt)


def test_dry_friction_does_not_stop_a_loop_at_the_dead_point_of_its_rocker():
    motion = crank([0.0, 0.0, 0.05], 1e-3)
    assert np.abs(motion.energy_error).max() < 1e-6
    assert np.abs(motion.qd[-1]).max() > 1.0


@pytest.mark.parametrize("coulomb", [[0.05, 0.0, 0.0], [0.0, 0.05, 0.0]])
def test_a_loop_with_one_joint_that_rubs_comes_to_rest_where_friction_can_hold_it(coulomb):
    coarse, fine = crank(coulomb, 1e-3), crank(coulomb, 2e-4)
    assert np.allclose(coarse.q[-1], fine.q[-1], atol=1e-4)
    assert np.abs(fine.energy_error).max() < 1e-6
    assert np.abs(fine.friction).max() <= 0.05 + 1e-12
    assert np.abs(fine.qd[-1]).max() < 1e-12
    i = coulomb.index(0.05)
    assert (fine.q[-100:, i] == fine.q[-1, i]).all()


def test_impacts_in_a_loop_do_not_tear_it_open():
    bar = cr.load("four_bar").with_joint_properties(lower={"crank": -1.0}, upper={"crank": 1.5})
    motion = bar.simulate(bar.close([0.5, 0.0, 0.0], hold=["crank"]), None, 2.0, stops=cr.Impacts(1.0))
    assert np.abs(motion.constraint_residual).max() < 1e-10
    assert np.abs(motion.energy_error).max() < 1e-6


def test_adaptive_friction_never_holds_a_joint_beyond_its_limit():
    links = [
        Link("base"),
        *(Link(f"l{i}", 0.5, Vector(0.1, 0, 0), Symmetric(1e-3, 2e-3, 2e-3, 0, 0, 0)) for i in range(8)),
    ]
    joints = [
        Joint(f"j{i}", "base" if i == 0 else f"l{i - 1}", f"l{i}", Screw.revolute(Vector(0, 0, 1)),
              origin=Transform.from_xyz_rpy([0.2 * (i > 0), 0, 0]))
        for i in range(8)
    ]  # fmt: skip
    chain = cr.Robot(Model.build("chain", links, joints, gravity=Vector(0, -9.81, 0))).with_joint_properties(
        coulomb=0.5
    )
    motion = chain.simulate(np.zeros(8), None, 0.5, method="dop853", dt=1e-2)
    assert np.abs(motion.friction).max() <= 0.5 + 1e-9


def test_what_cannot_be_done_is_said_in_words(tmp_path):
    motion = ARM.simulate([0.0, 0.0], None, 0.01)
    wrong = [
        lambda: ARM.simulate([0.0, 0.0], None, 1.0, dt=1e-320),
        lambda: ARM.simulate([0.0, 0.0], None, 1e13, method="dop853"),
        lambda: ARM.simulate([0.0, 0.0], None, 1.0, ([0, 1], [[1, 2], [3]])),
        lambda: ARM.simulate([0.0, 0.0], None, 1.0, events=lambda t, q, qd: "a"),
        lambda: motion.between("a", 1.0),
        lambda: motion["a":],
        lambda: motion[::0],
        lambda: motion.resample(1e-13),
        lambda: motion.column(3),
    ]
    for call in wrong:
        with pytest.raises(ChainruleError):
            call()
    for end in ("npz", "csv", "parquet"):
        with pytest.raises(FormatError, match="cannot be written"):
            motion.save(tmp_path / "none" / f"a.{end}")
        motion[:0].save(tmp_path / f"a.{end}")
