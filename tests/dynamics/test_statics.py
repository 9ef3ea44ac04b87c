"""Statics: J^T F in numbers and symbols, forces at singularities, ellipsoids of lists of postures."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import chainrule as cr
from chainrule.errors import ModelError, ShapeError, UnknownNameError

ARM = cr.load("planar_2r").reference


@pytest.mark.parametrize("frame", ["body", "world", "space"])
def test_static_torque_is_the_jacobian_of_the_same_frame_transposed(frame):
    arm = cr.load("stanford").reference
    q, F = np.random.default_rng(0).normal(size=(2, 6))
    expected = arm.jacobian(q, frame=frame).T @ F
    assert np.allclose(arm.static_torque(q, F, frame=frame), expected)
    with pytest.raises(UnknownNameError, match="no frame named 'tool'"):
        arm.static_torque(q, F, frame="tool")


@pytest.mark.parametrize("frame", ["body", "world", "space"])
def test_equations_have_the_torques_of_a_wrench_at_the_tip(frame):
    equations = ARM.equations(tip_wrench=frame)
    J = ARM.kinematic_equations(frame=frame).J
    F = sp.Matrix(equations.wrench)
    assert [s.name for s in F] == ["m_x", "m_y", "m_z", "f_x", "f_y", "f_z"]
    assert sp.simplify(sp.expand_trig(sp.Matrix(equations.external) - J.T * F)) == sp.zeros(2, 1)
    q, qd, qdd, wrench = np.array([0.3, -0.5]), np.array([0.1, 0.7]), np.array([1.0, 2.0]), np.arange(6.0)
    bare = ARM.inverse_dynamics(q, qd, qdd)
    assert np.allclose(equations.lambdify()(q, qd, qdd, wrench), bare + ARM.static_torque(q, wrench, frame=frame))
    assert np.allclose(
        equations.lambdify("external")([q, q], wrench=wrench)[1], ARM.static_torque(q, wrench, frame=frame)
    )


def test_the_wrench_is_in_tables_code_and_base_parameters_and_absent_by_default():
    equations = ARM.equations(tip_wrench="world")
    assert equations.symbols.entry("f_x").unit == "N"
    assert "The wrench at the tip" in str(equations)
    assert equations.tau.subs("f_x", 0).free_symbols.isdisjoint({equations.wrench[3]})
    assert "wrench" in equations.source_code("numpy", ["tau"])
    assert equations.in_base_parameters().external == equations.external
    plain = ARM.equations()
    assert plain.external == sp.zeros(2, 1)
    assert plain.wrench == []
    assert "wrench" not in plain.source_code("numpy", ["tau"])
    with pytest.raises(UnknownNameError, match="no frame of a wrench named 'hand'"):
        ARM.equations(tip_wrench="hand")


def test_a_force_alone_grows_like_one_over_the_bend_at_a_singularity():
    b = np.array([0.1, 0.01, 0.001])
    q = np.stack([0 * b, b], axis=-1)
    found = ARM.balanced_wrench(q, [1.0, 0.0], task="position", gravity=False)
    assert np.allclose(found[:, :3], 0.0)
    assert np.allclose(found[:, 3], 1 / np.tan(b))
    left = np.array([1.0, 0.0]) - ARM.static_torque(q, found)
    assert np.allclose(left, 0.0, atol=1e-9)
    mixed = ARM.balanced_wrench(q, [1.0, 0.0], gravity=False)
    assert np.abs(mixed[:, 3]).max() < 1.0  # a moment takes the place of the force
    moment = ARM.balanced_wrench([0.3, 0.4], [1.0, 1.0], task="orientation", gravity=False)
    assert np.allclose(moment, [0, 0, 1, 0, 0, 0])
    body = ARM.balanced_wrench([0.3, 0.4], [1.0, 0.5], "tip", frame="body", task="position", gravity=False)
    world = ARM.balanced_wrench([0.3, 0.4], [1.0, 0.5], task="position", gravity=False)
    R = ARM.pose([0.3, 0.4])[:3, :3]
    assert np.allclose(R @ body[3:], world[3:])


def test_a_balanced_wrench_is_the_inverse_of_static_torque_in_every_frame():
    for name in ("stanford", "panda"):
        arm = cr.load(name).reference
        q, F = arm.random_state(np.random.default_rng(2)), np.random.default_rng(3).normal(size=6)
        assert np.allclose(arm.static_torque(q, F), arm.jacobian(q).T @ F)
        assert np.allclose(arm.balanced_wrench(q, arm.gravity_torque(q) + arm.static_torque(q, F)), F)
        for frame in ("world", "body", "space"):
            tau = arm.gravity_torque(q) + arm.static_torque(q, F, frame=frame)
            assert np.allclose(arm.balanced_wrench(q, tau, frame=frame), F, atol=1e-7)
            still = np.zeros(arm.nv)
            pushed = arm.inverse_dynamics(q, still, still, tip_wrench=F, frame=frame)
            assert np.allclose(pushed - arm.bias(q), arm.static_torque(q, F, frame=frame), atol=1e-9)
            tip = {arm.end_effector: -F}
            assert np.allclose(arm.inverse_dynamics(q, external=tip, frame=frame), pushed, atol=1e-9)


def test_parts_of_a_balanced_wrench_are_checked():
    with pytest.raises(UnknownNameError, match="position"):
        ARM.balanced_wrench([0.1, 0.2], [0.0, 0.0], task="linear")
    with pytest.raises(ShapeError, match="take frame='world' or 'body'"):
        ARM.balanced_wrench([0.1, 0.2], [0.0, 0.0], frame="space", task="position")


@pytest.mark.parametrize("kind", ["velocity", "force"])
def test_ellipsoids_of_a_list_of_postures_are_those_of_each(kind):
    q = np.random.default_rng(1).normal(size=(4, 6))
    arm = cr.load("stanford").reference
    whole = arm.analysis.ellipsoid(q, task="position", kind=kind)
    assert len(whole) == 4
    for k, one in enumerate(whole):
        alone = arm.analysis.ellipsoid(q[k], task="position", kind=kind)
        assert np.allclose(one.lengths, alone.lengths)
        assert np.allclose(whole.points(7, 5)[k], one.points(7, 5))
        assert np.allclose(np.abs(one.points(7, 5)), np.abs(alone.points(7, 5)), atol=1e-9)
    assert whole[1:3].lengths.shape == (2, 3)
    with pytest.raises(TypeError, match="one posture"):
        len(whole[0])
    with pytest.raises(TypeError, match="pass a list of postures"):
        whole[0][0]


# --- units ---


def test_all_terms_of_robots_have_their_units():
    for name in ("planar_rp", "stanford", "quadruped"):
        report = cr.load(name).textbook.check_units()
        assert report.ok, report
        assert bool(report)
    moved = {row.of: row.unit for row in cr.load("planar_rp").textbook.check_units().rows if row.term == "gravity"}
    assert moved == {"joint1": "N m", "joint2": "N"}
    assert "<td" in report._repr_html_()
    with pytest.raises(ModelError, match="no masses"):
        cr.Robot.from_dh([(1, 0, 0, 0)], convention="standard", check=False).textbook.check_units()


def test_units_of_equations_are_told_for_each_entry():
    robot = cr.load("planar_rp").edit(
        joints={"*": {"viscous": 0.1, "coulomb": 1.0, "static": 2.0, "stribeck": 0.1, "ripple": 0.1, "ripple_waves": 2}}
    )
    report = robot.equations(tip_wrench="world").check_units()
    assert report.ok, report
    units = {(row.term, row.of): row.unit for row in report.rows}
    assert units["friction", "joint1"] == units["external", "joint1"] == "N m"
    assert units["friction", "joint2"] == units["external", "joint2"] == "N"
    assert units["M", "joint1, joint1"] == "kg m^2"
    assert units["kinetic energy", "robot"] == "J"
    with pytest.raises(ModelError, match=r"plain numbers for quantities with a unit.*robot.textbook.check_units\(\)"):
        robot.equations("numeric").check_units()


def test_a_wrong_unit_is_told_with_its_term(monkeypatch):
    from chainrule.algorithms import energy
    from chainrule.symbolic.closed_form.matrices import Matrices

    with monkeypatch.context() as patch:
        patch.setattr(energy, "potential_energy", lambda model, q: model.links[1].mass * 2.0)
        report = cr.load("pendulum").textbook.check_units()
    assert not report.ok
    assert "potential energy    robot         2 kg, expected J  no" in repr(report)
    equations = cr.load("pendulum").equations()
    m, g, _ = equations.symbols["m_1"], equations.symbols["g"], equations.tau
    monkeypatch.setattr(Matrices, "g", property(lambda self: sp.Matrix([m * g])))
    monkeypatch.setattr(Matrices, "c", property(lambda self: sp.Matrix([m + g])))
    told = {row.term: row for row in equations.check_units().rows}
    assert told["g"].unit == "N, expected N m"
    assert "differ in units: kg and m/s^2" in told["c"].unit or "differ in units: m/s^2 and kg" in told["c"].unit
    assert not told["c"].ok


def test_functions_of_ones_own_are_told_as_not_known():
    robot = cr.load("pendulum").edit(joints={"*": {"friction_function": lambda q, qd: 0.1 * qd**3}})
    for report in (robot.textbook.check_units(), robot.equations().check_units()):
        assert report.ok
        assert report.rows[-1] == ("friction function", "hinge", "", None)
