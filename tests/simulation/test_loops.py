"""Mechanisms with loops in motion: two overconstrained ones of the IFToMM benchmark library, and the bundled."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr
from chainrule.model import Constraint, Joint, Link, Model, Screw
from chainrule.spatial import Rotation, Symmetric, Transform, Vector


def rod(name):
    """A thin one of 1 m and 1 kg along x."""
    return Link(name, 1.0, Vector(0.5, 0.0, 0.0), Symmetric(0.0, 1 / 12, 1 / 12, 0.0, 0.0, 0.0))


def placed(x, y=0.0, turn=0.0):
    return Transform(Rotation.about(Vector(1.0, 0.0, 0.0), turn), Vector(x, y, 0.0))


def hinge(name, parent, child, origin):
    return Joint(name, parent, child, Screw.revolute(Vector(0.0, 0.0, 1.0)), origin)


def four_bars(n):
    """n squares of rods in a row, which share their uprights: singular whenever they lie flat."""
    links, joints, ties = [Link("ground")], [], []
    for i in range(n + 1):
        links.append(rod(f"upright{i}"))
        joints.append(hinge(f"foot{i}", "ground", f"upright{i}", placed(float(i))))
    for i in range(n):
        links.append(rod(f"top{i}"))
        joints.append(hinge(f"corner{i}", f"upright{i}", f"top{i}", placed(1.0)))
        ties.append(Constraint(f"pin{i}", "hinge", f"top{i}", f"upright{i + 1}", placed(1.0), placed(1.0)))
    return cr.Robot(Model.build("four_bars", links, joints, gravity=Vector(0.0, -9.81, 0.0), constraints=ties))


@pytest.mark.parametrize("n", [1, 2, 4])
def test_four_bars_in_a_row_keep_their_energy_through_their_singular_positions(n):
    robot = four_bars(n)
    feet = np.array([name.startswith("foot") for name in robot.joint_names])
    start = np.where(feet, np.pi / 2, -np.pi / 2)
    motion = robot.simulate(start, np.where(feet, -1.0, 1.0), 10.0, dt=2e-3)  # tops at 1 m/s
    lifted, moving = 9.81 * ((n + 1) / 2 + n), (n + 1) / 6 + n / 2
    assert motion.energy[0] == pytest.approx(lifted + moving)
    assert np.ptp(motion.q[:, 0]) > 4 * np.pi
    assert np.abs(motion.constraint_residual).max() < 1e-12
    assert np.abs(motion.energy_error).max() < 1e-7


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
    assert robot.mobility(start).dof == 1
    motion = robot.simulate(start, None, 10.0)
    assert (np.ptp(motion.q, axis=0) > 3).all()
    assert np.abs(motion.constraint_residual).max() < 1e-12
    assert np.abs(motion.energy_error).max() < 1e-7 * np.ptp(motion.kinetic_energy)


def test_a_four_bar_stays_closed_for_a_hundred_seconds():
    robot = cr.load("four_bar")
    motion = robot.simulate(
        robot.neutral(), robot.consistent_velocity(robot.neutral(), [8.0, 0.0, 0.0]), 100.0, dt=1e-3
    )
    assert np.ptp(motion.q[:, 0]) > 6
    assert np.abs(motion.constraint_residual).max() < 1e-9
    assert np.abs(motion.energy_error).max() < 1e-3 * np.ptp(motion.kinetic_energy)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
@pytest.mark.parametrize(
    "options", [{"stabilization": "baumgarte"}, {"method": "implicit_midpoint"}, {"method": "dop853"}]
)
def test_loops_move_the_same_however_they_are_kept_closed(name, options):
    robot = cr.load(name)
    start = robot.close(robot.neutral() + 0.1, hold=("crank",))
    exact = robot.simulate(start, None, 0.5, [0.02, 0.0, 0.0], dt=1e-4, record_every=50, limits=False)
    motion = robot.simulate(start, None, 0.5, [0.02, 0.0, 0.0], dt=5e-4, record_every=10, limits=False, **options)
    assert np.abs(motion.q - exact.q).max() < 1e-4
    assert np.abs(motion.constraint_residual).max() < 1e-7


# --- friction and impacts ---


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


def test_OLD():
    robot = cr.load("four_bar").with_joint_properties(coulomb=0.05)
    with pytest.warns(cr.SimulationWarning, match="several joints"):
        robot.simulate(robot.neutral(), None, 0.01)


def test_impacts_in_a_loop_do_not_tear_it_open():
    bar = cr.load("four_bar").with_joint_properties(lower={"crank": -1.0}, upper={"crank": 1.5})
    motion = bar.simulate(bar.close([0.5, 0.0, 0.0], hold=["crank"]), None, 2.0, stops=cr.Impacts(1.0))
    assert np.abs(motion.constraint_residual).max() < 1e-10
    assert np.abs(motion.energy_error).max() < 1e-6


def test_stabilization_has_two_spellings():
    robot = cr.load("four_bar")
    motions = [
        robot.simulate(robot.neutral(), None, 0.05, **{key: "none"}) for key in ("stabilization", "stabilisation")
    ]
    assert np.array_equal(motions[0].q, motions[1].q)
    with pytest.raises(cr.ShapeError, match="two spellings"):
        robot.simulate(robot.neutral(), None, 0.05, stabilization="none", stabilisation="baumgarte")
    for key in ("stabilization", "stabilisation"):
        with pytest.raises(cr.UnknownNameError, match=key):
            robot.simulate(robot.neutral(), None, 0.05, **{key: "glue"})
