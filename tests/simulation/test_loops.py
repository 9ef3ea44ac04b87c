"""Mechanisms with loops in motion: two overconstrained ones of the IFToMM benchmark library, and the bundled."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy
from loops.mechanisms import bennett, change_point_bar, coupled_cranks, four_bars, hinge, placed, rod
from scipy.integrate import solve_ivp

import chainrule as cr
from chainrule.model import Constraint, Link, Model
from chainrule.spatial import Transform


@pytest.mark.parametrize("n", [1, 2, 4])
def test_four_bars_in_a_row_keep_their_energy_through_their_singular_positions(n):
    robot = four_bars(n)
    feet = np.array([name.startswith("foot") for name in robot.joint_names])
    start = np.where(feet, np.pi / 2, -np.pi / 2)
    motion = robot.simulate(start, np.where(feet, -1.0, 1.0), 10.0, dt=2e-3)  # tops at 1 m/s
    lifted, moving = 9.81 * ((n + 1) / 2 + n), (n + 1) / 6 + n / 2
    assert motion.energy[0] == pytest.approx(lifted + moving)
    assert np.ptp(motion.q[:, 0]) > 4 * np.pi
    assert np.abs(motion.constraint_residual).max() < 1e-10
    assert np.abs(motion.energy_error).max() < 1e-6 * motion.energy[0]


def test_bricards_mechanism_moves_though_it_is_overconstrained_and_keeps_its_energy():
    turns = [np.pi / 2, -np.pi / 2] * 3
    links, joints = [Link("ground")], []
    for i in range(5):
        links.append(rod(f"rod{i + 1}"))
        origin = placed(1.0, turn=turns[i - 1]) if i else Transform.identity()
        joints.append(hinge(f"hinge{i + 1}", links[i].name, f"rod{i + 1}", origin))
    ends = placed(1.0, turn=turns[5]).inverse(), placed(1.0, turn=turns[4])
    tie = Constraint("closing", "hinge", "ground", "rod5", *ends)
    robot = cr.Robot(Model.build("bricard", links, joints, constraints=[tie]))
    start = np.full(5, np.pi / 2)  # along edges of a cube
    assert robot.loops.mobility(start).dof == 1
    motion = robot.simulate(start, None, 10.0)
    assert (np.ptp(motion.q, axis=0) > 3).all()
    assert np.abs(motion.constraint_residual).max() < 1e-12
    assert np.abs(motion.energy_error).max() < 1e-7 * np.ptp(motion.kinetic_energy)


def test_a_four_bar_stays_closed_for_a_hundred_seconds():
    robot = cr.load("four_bar")
    motion = robot.simulate(
        robot.neutral(), robot.loops.consistent_velocity(robot.neutral(), [8.0, 0.0, 0.0]), 100.0, dt=1e-3
    )
    assert np.ptp(motion.q[:, 0]) > 6
    assert np.abs(motion.constraint_residual).max() < 1e-9
    assert np.abs(motion.energy_error).max() < 1e-3 * np.ptp(motion.kinetic_energy)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
@pytest.mark.parametrize(
    "options", [{"loops": "baumgarte"}, {"integrator": "implicit_midpoint"}, {"integrator": "dop853"}]
)
def test_loops_move_the_same_however_they_are_kept_closed(name, options):
    robot = cr.load(name)
    start = robot.loops.close(robot.neutral() + 0.1, hold=("crank",))
    exact = robot.simulate(start, None, 0.5, [0.02, 0.0, 0.0], dt=1e-4, record=50, limits=False)
    motion = robot.simulate(start, None, 0.5, [0.02, 0.0, 0.0], dt=5e-4, record=10, limits=False, **options)
    assert np.abs(motion.q - exact.q).max() < 1e-4
    assert np.abs(motion.constraint_residual).max() < 1e-7


# --- friction and impacts ---


def crank(coulomb, dt):
    bar = cr.load("four_bar").without_friction().edit(joints={"*": {"coulomb": coulomb}})
    return bar.simulate(bar.loops.close([0.5, 0.0, 0.0], hold=["crank"]), None, 5.0, dt=dt)


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


def test_friction_at_several_joints_of_a_loop_is_shared_within_its_limits_and_lets_the_load_move_it():
    bar = cr.load("four_bar").edit(joints={"*": {"coulomb": [0.03, 0.02, 0.02]}})
    start = bar.loops.close([1.0, 0.0, 0.0], hold=["crank"])
    fixed, adaptive = (bar.simulate(start, None, 1.0, integrator=method, dt=1e-3) for method in ("rk4", "dop853"))
    assert np.ptp(fixed.q[:, 0]) > 1.0
    assert np.abs(fixed.q - adaptive.q).max() < 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_a_loop_with_friction_everywhere_moves_as_the_adaptive_integrator_finds(seed):
    rng = np.random.default_rng(seed)
    limits = rng.uniform(0.0, 0.3, 3)
    bar = cr.load("four_bar").without_friction().edit(joints={"*": {"coulomb": limits.tolist()}})
    start = bar.loops.close([rng.uniform(-3.0, 3.0), 0.0, 0.0], hold=["crank"])
    velocity = bar.loops.consistent_velocity(start, [rng.choice([0.0, 1.0, -3.0]), 0.0, 0.0], hold=["crank"])
    fixed = bar.simulate(start, velocity, 1.0, dt=1e-3)
    adaptive = bar.simulate(start, velocity, 1.0, dt=1e-2, integrator="dop853")
    assert np.abs(fixed.q[::10] - adaptive.q).max() < 1e-4
    for motion in (fixed, adaptive):
        assert (np.abs(motion.friction) <= limits * (1 + 1e-6)).all()
    assert (fixed.constraint_residual < 1e-9).all()


def test_a_loop_that_friction_can_hold_stays_exactly_where_it_is():
    bar = cr.load("four_bar").without_friction().edit(joints={"*": {"coulomb": 1.0}})
    start = bar.loops.close([0.5, 0.0, 0.0], hold=["crank"])
    motion = bar.simulate(start, None, 0.5, dt=1e-3)
    assert (motion.qd == 0).all()
    assert np.abs(motion.friction).max() <= 1.0


def test_impacts_in_a_loop_do_not_tear_it_open():
    bar = cr.load("four_bar").edit(joints={"crank": {"lower": -1.0, "upper": 1.5}})
    motion = bar.simulate(bar.loops.close([0.5, 0.0, 0.0], hold=["crank"]), None, 2.0, stops=cr.Impacts(1.0))
    assert np.abs(motion.constraint_residual).max() < 1e-10
    assert np.abs(motion.energy_error).max() < 1e-6


def test_an_unknown_way_to_close_loops_is_refused():
    robot = cr.load("four_bar")
    with pytest.raises(cr.UnknownNameError, match="way to close loops named 'glue'"):
        robot.simulate(robot.neutral(), None, 0.05, loops="glue")


# --- equations that change from place to place, change points, starts ---


@pytest.mark.parametrize(("method", "dt"), [("rk4", 1e-3), ("dop853", 1e-2)])
def test_bennetts_linkage_stays_closed_where_the_equations_of_its_start_lose_rank(method, dt):
    robot, closed = bennett()
    start = closed(1.0)
    velocity = robot.loops.consistent_velocity(start, [10.0, 0.0, 0.0], hold=["j0"])
    motion = robot.simulate(start, velocity, 2.0, integrator=method, dt=dt)
    assert np.ptp(motion.q[:, 0]) > 2 * np.pi
    assert np.abs(motion.constraint_residual).max() < 1e-9
    assert np.abs(motion.energy_error).max() < 1e-4 * motion.kinetic_energy.max()


@pytest.mark.parametrize("dt", [2e-3, 5e-4, 1e-4])
def test_shorter_steps_through_change_points_make_nothing_worse(dt):
    robot = four_bars(1)
    feet = np.array([name.startswith("foot") for name in robot.joint_names])
    motion = robot.simulate(np.where(feet, np.pi / 2, -np.pi / 2), np.where(feet, -1.0, 1.0), 2.0, dt=dt)
    assert np.abs(motion.constraint_residual).max() < 1e-12
    assert np.abs(motion.energy_error).max() < 1e-6
    assert np.abs(motion.q[:, 0] + motion.q[:, 1]).max() < 1e-9 or np.ptp(motion.q[:, 0]) > 2 * np.pi


STEPS = {
    "rk4, 1 ms": (cr.RK4(dt=1e-3), 1e-8),
    "rk4, 30 us": (cr.RK4(dt=3e-5), 1e-8),
    "rk4, 10 us": (cr.RK4(dt=1e-5), 1e-8),
    "dop853": (cr.DOP853(dt=5e-3), 1e-6),
    "dop853, tight": (cr.DOP853(rtol=1e-11, atol=1e-12, dt=5e-3), 1e-8),
    "radau": (cr.Radau(dt=5e-3), 1e-6),
    "lsoda": (cr.LSODA(dt=5e-3), 1e-5),
    "lsoda, wide": (cr.LSODA(rtol=1e-6, atol=1e-7, dt=5e-3), 1e-3),
}


@pytest.mark.parametrize("cranks", [2, 3])
@pytest.mark.parametrize("steps", STEPS)
def test_coupled_cranks_move_like_a_pendulum_through_their_flat_positions(cranks, steps):
    """For 0.7 s from 12 rad/s: through lying flat at 0 and at pi, where the rows of the loops vanish together."""
    robot, (integrator, tolerance) = coupled_cranks(cranks), STEPS[steps]
    cranked = np.array([name.startswith("foot") for name in robot.joint_names])
    start, velocity = np.where(cranked, 1.0, -1.0), np.where(cranked, 12.0, -12.0)
    motion = robot.simulate(start, velocity, 0.7, integrator=integrator, record=10)
    inertia = cranks * 0.03 + 0.09
    stiffness = 9.81 * (cranks * 0.15 + 0.3) / inertia
    exact = solve_ivp(lambda t, y: [y[1], -stiffness * np.cos(y[0])], (0, 0.7), [1.0, 12.0], rtol=1e-12, atol=1e-12)
    assert np.abs(motion.q[-1] - np.where(cranked, 1.0, -1.0) * exact.y[0, -1]).max() < tolerance


@pytest.mark.parametrize(
    "lengths", [(1.0, 0.3, 0.8, 0.5), (0.9, 0.4, 0.7, 0.6), (1.0, 0.4, 0.4, 1.0), (0.5, 0.5, 0.5, 0.5)], ids=str
)
def test_bars_that_can_lie_flat_move_alike_by_all_methods(lengths):
    robot = change_point_bar(*lengths)
    start = robot.loops.close([1.0, -1.0, 1.0], hold=["A"])
    velocity = robot.loops.consistent_velocity(start, [11.3, 0.0, 0.0], hold=["A"])
    ends = [
        robot.simulate(start, velocity, 1.0, integrator=integrator, record=10).q[-1] for integrator, _ in STEPS.values()
    ]
    for steps, end in zip(STEPS, ends, strict=True):
        assert np.abs(end - ends[4]).max() < (1e-3 if "wide" in steps else 1e-5), steps


def test_a_start_at_a_change_point_goes_on_along_the_branch_of_its_velocity():
    robot = four_bars(1).edit(gravity=[0.0, 0.0, 0.0])
    feet = np.array([name.startswith("foot") for name in robot.joint_names])
    motion = robot.simulate(np.zeros(3), np.where(feet, 1.0, -1.0), 1.0)  # flat; the top stays parallel
    assert np.allclose(motion.q[-1][feet], 1.0, atol=1e-5)
    assert np.allclose(motion.q[-1][~feet], -1.0, atol=1e-5)
    assert np.abs(motion.constraint_residual).max() < 1e-10


@pytest.mark.parametrize("longer", [1e-5, 1e-8])
def test_a_step_past_a_place_that_is_nearly_a_change_point_is_warned_of(longer):
    """The rocker is too long to lie flat by so many m: there the crank goes on, and the rocker turns back sharply."""
    robot = change_point_bar(0.9, 0.4, 0.7, 0.6 + longer)
    start = robot.loops.close([1.0, -1.0, 1.0], hold=["A"])
    velocity = robot.loops.consistent_velocity(start, [7.3, 0.0, 0.0], hold=["A"])
    exact, *others = (
        robot.simulate(start, velocity, 1.0, integrator=integrator)
        for integrator in (cr.DOP853(rtol=1e-11, atol=1e-12, dt=5e-3), cr.DOP853(dt=5e-3), cr.RK4(dt=2e-6))
    )
    for motion in others:
        assert np.abs(motion.q[-1] - exact.q[-1]).max() < 1e-4
    with pytest.warns(cr.SimulationWarning, match="next to a change point"):
        robot.simulate(start, velocity, 1.0, dt=1e-3)


def test_the_midpoint_rule_refuses_a_flat_position_and_names_methods_that_pass_it():
    robot = coupled_cranks(2)
    along = np.array([1.0 if name.startswith("foot") else -1.0 for name in robot.joint_names])
    with pytest.raises(cr.SimulationError, match=r"next to a change point.*'rk4'"):
        robot.simulate(along, 12.0 * along, 0.7, integrator="implicit_midpoint", dt=1e-3)


def test_a_start_that_is_moved_is_warned_of_with_how_far():
    bar = cr.load("four_bar")
    start = bar.loops.close([0.5, 0.0, 0.0], hold=["crank"])
    with pytest.warns(cr.SimulationWarning, match=r"qd0 was moved.*'(crank|coupler|rocker)'"):
        bar.simulate(start, [0.5, 0.0, 0.0], 0.01)
    with pytest.warns(cr.SimulationWarning, match="q0 was moved"):
        bar.simulate([0.5, 0.0, 0.0], None, 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bar.simulate(start, bar.loops.consistent_velocity(start, [0.5, 0.0, 0.0], hold=["crank"]), 0.01)


def test_loops_that_a_run_leaves_open_are_warned_of():
    bar = cr.load("four_bar")
    start = bar.loops.close([0.5, 0.0, 0.0], hold=["crank"])
    velocity = bar.loops.consistent_velocity(start, [20.0, 0.0, 0.0], hold=["crank"])
    with pytest.warns(cr.SimulationWarning, match="come open by"):
        bar.simulate(start, velocity, 2.0, integrator="euler", dt=1e-3, loops="none")


def test_an_interpolation_that_opens_loops_is_not_recorded(monkeypatch):
    """Next to flat positions, rates that DOP853 evaluates for the interpolation alone are wrong; the step does not see it."""
    robot = coupled_cranks(2)
    turns = np.array([-1.0 if name == "top" else 1.0 for name in robot.joint_names])
    right = robot.simulate(turns, 8.0 * turns, 0.3, integrator="dop853")
    whole, steps = scipy.integrate.DOP853.dense_output, []

    def wrong(solver):
        dense, low, high = whole(solver), solver.t_old, solver.t
        steps.append(high - low)
        bump = 1e-3 * (steps[-1] > 0.02) * np.eye(len(solver.y))[0]
        return lambda t: dense(t) + bump * (t - low) * (high - t) / (high - low) ** 2

    monkeypatch.setattr(scipy.integrate.DOP853, "dense_output", wrong)
    motion = robot.simulate(turns, 8.0 * turns, 0.3, integrator="dop853")
    assert max(steps) > 0.02
    np.testing.assert_allclose(motion.q, right.q, atol=1e-6)
    np.testing.assert_allclose(motion.qd, right.qd, atol=1e-5)
