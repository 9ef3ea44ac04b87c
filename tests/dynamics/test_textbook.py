"""The forms of dynamics that textbooks print: their rows are the quantities they are called, and their sums the torques."""

from operator import attrgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from trees import KINDS, state, tree

import chainrule as cr
from chainrule.core.derived import merged_model

SEEDS = st.integers(0, 10_000)
few = settings(max_examples=5)
REST = [0.0, 0.0]


def loads_of(robot, seed):
    rng = np.random.default_rng(seed)
    return {
        "tip_wrench": rng.normal(size=6),
        "external": {"link3": rng.normal(size=6), "tool": rng.normal(size=6)},
        "frame": "body",
    }


# --- twists and wrenches ---


@given(SEEDS)
@few
def test_rows_of_the_recursion_are_twists_accelerations_and_joint_wrenches(seed):
    robot = tree(seed, [k for k in KINDS if k != "fixed"]).reference
    q, qd, qdd = state(robot, seed)
    loads = loads_of(robot, seed)
    table = robot.textbook.rnea_table(q, qd, qdd, **loads)
    joints = [joint.name for joint in robot.model.joints]
    assert_allclose(table.V, robot.velocities(q, qd, frame="body")[1:], atol=1e-9)
    turning = np.cross(table.V[:, :3], table.V[:, 3:])  # the acceleration of the origin is dv/dt + omega x v
    own = robot.accelerations(q, qd, qdd, frame="body", gravity=True)[1:]
    assert_allclose(table.V_dot[:, :3], own[:, :3], rtol=1e-9, atol=1e-9)
    assert_allclose(table.V_dot[:, 3:] + turning, own[:, 3:], rtol=1e-9, atol=1e-9)
    assert_allclose(table.F, robot.joint_wrenches(q, qd, qdd, joints=joints, **loads), rtol=1e-9, atol=1e-9)
    assert_allclose(table.V_dot_0, [0, 0, 0, *-robot.gravity])
    assert_allclose(table.tau, robot.inverse_dynamics(q, qd, qdd, **loads), rtol=1e-9, atol=1e-9)


@given(SEEDS)
@few
def test_the_torque_is_the_wrench_along_the_screw_and_what_the_drives_take(seed):
    robot = tree(seed).reference
    q, qd, qdd = state(robot, seed)
    table = robot.textbook.rnea_table(q, qd, qdd, **loads_of(robot, seed))
    along = table.drives.copy()
    for body in merged_model(robot).bodies:
        for k in range(body.joint.kind.nv):
            own = table.A[body.first_v + k]
            if body.joint.mimic is not None:
                own = np.array(list(body.at(q.tolist()).S[k][1]))
            along[body.first_v + k] += own @ table.F[body.index - 1]
    assert_allclose(along, table.tau, rtol=1e-9, atol=1e-8)


def test_the_recursion_of_a_chain_is_that_of_the_page():
    """V_i = Ad_T V_p + A_i qd_i and so on, with matrices, on an arm with a sliding joint and a wrench at its tip."""
    arm = cr.load("scara").reference
    rng = np.random.default_rng(4)
    q, qd, qdd, tip = (rng.normal(size=k) for k in (4, 4, 4, 6))
    table = arm.textbook.rnea_table(q, qd, qdd, tip_wrench=tip, frame="body")
    form = arm.textbook.matrix_form(q, qd)
    V, V_dot = np.zeros(6), table.V_dot_0
    for i in range(arm.nv):
        Ad, A = adjoint(table.T[i]), table.A[i]
        V_parent, V = V, Ad @ V + A * qd[i]
        V_dot = Ad @ V_dot + ad(V) @ A * qd[i] + A * qdd[i]
        assert_allclose(table.V[i], V, atol=1e-12)
        assert_allclose(table.V_dot[i], V_dot, atol=1e-12)
        assert_allclose(Ad @ V_parent, V - A * qd[i], atol=1e-12)
    tip_in_last = np.linalg.inv(arm.pose(q)) @ arm.pose(q, table.links[-1])
    F = adjoint(tip_in_last).T @ tip
    for i in reversed(range(arm.nv)):
        G = form.inertia[6 * i : 6 * i + 6, 6 * i : 6 * i + 6]
        if i + 1 < arm.nv:
            F = adjoint(table.T[i + 1]).T @ F
        F = F + G @ table.V_dot[i] - ad(table.V[i]).T @ G @ table.V[i]
        assert_allclose(table.F[i], F, atol=1e-10)
        assert_allclose(F @ table.A[i] + table.drives[i], table.tau[i], atol=1e-10)


def adjoint(T):
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [skew(p) @ R, R]])


def ad(V):
    return np.block([[skew(V[:3]), np.zeros((3, 3))], [skew(V[3:]), skew(V[:3])]])


def skew(p):
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


@pytest.mark.parametrize(("name", "floating"), [("ur_description/urdf/ur5_robot.urdf", False), (None, True)])
def test_the_recursion_is_pinocchios(name, floating):
    pin = pytest.importorskip("pinocchio")
    from peers import Pinocchio, robots_folder, stripped

    path = robots_folder() / (name or "solo_description/robots/solo12.urdf")
    text = stripped(path)
    robot = cr.Robot.from_urdf(text, floating_base=floating, check=False).reference
    peer = Pinocchio(robot, text, floating=floating)
    rng = np.random.default_rng(0)
    q, qd, qdd = robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    peer.inverse_dynamics(q, qd, qdd)
    table = robot.textbook.rnea_table(q, qd, qdd)
    order = [3, 4, 5, 0, 1, 2]  # linear first there
    joints = [body.joint.name for body in merged_model(robot).bodies]
    for joint, V, V_dot, F in zip(joints, table.V, table.V_dot, table.F, strict=True):
        i = peer.model.getJointId(joint)
        assert_allclose(V, peer.data.v[i].vector[order], atol=1e-10)
        assert_allclose(V_dot, peer.data.a_gf[i].vector[order], atol=1e-10)
        assert_allclose(F, peer.data.f[i].vector[order], atol=1e-9)
    assert pin is not None


def test_closed_loops_are_in_the_wrenches_of_the_recursion():
    robot = cr.load("four_bar").reference
    q = robot.home()
    qd = robot.loops.consistent_velocity(q, np.ones(robot.nv))
    qdd = robot.loops.consistent_acceleration(q, qd, np.zeros(robot.nv))
    table = robot.textbook.rnea_table(q, qd, qdd)
    assert_allclose(table.tau, robot.inverse_dynamics(q, qd, qdd), atol=1e-10)
    projected = (table.A * table.F).sum(axis=-1) + table.drives
    assert_allclose(projected, table.tau, atol=1e-9)


def test_batches_of_states_and_of_wrenches_broadcast():
    arm = cr.load("planar_rp").reference
    q = np.array([[0.1, 0.5], [0.2, 0.6], [0.3, 0.7]])
    tip = np.zeros((4, 1, 6))
    tip[:, 0, 4] = range(4)
    table = arm.textbook.rnea_table(q, REST, REST, tip_wrench=tip, frame="body")
    assert table.F.shape == (4, 3, 2, 6)
    assert table.T.shape == (4, 3, 2, 4, 4)
    assert table.A.shape == (4, 3, 2, 6)
    one = arm.textbook.rnea_table(q[2], REST, REST, tip_wrench=tip[3, 0], frame="body")
    assert_allclose(table.F[3, 2], one.F)
    assert_allclose(table.T[3, 2], one.T)
    assert str(table) == "Twist-wrench recursion of 2 links for a batch of shape (4, 3)"
    assert "(4, 3)" in table._repr_html_()


# --- as text ---


def test_the_table_is_text_html_and_pandas():
    arm = cr.load("planar_2r").edit(joints={"*": {"viscous": 0.5}}).reference
    table = arm.textbook.rnea_table([0.0, 0.0], [1.0, 0.0], REST)
    lines = str(table).splitlines()
    assert repr(table) == str(table)
    assert lines[3].startswith("base, with gravity")
    assert lines[3].split()[-9:] == ["V_dot_0", "0", "0", "0.00", "0", "9.81", "0", "rad/s^2,", "m/s^2"]
    assert lines[5].startswith("link1  ")
    assert lines[-2:] == [
        "rotors, springs and friction, N m or N: 0.500000 0.000000",
        "tau, N m or N, in the order of the joints: 29.930000 9.810000",
    ]
    page = table._repr_html_()
    assert page.count("<tr>") == 1 + 1 + 6  # header, base, three vectors of two links
    assert "Twist-wrench recursion" in page
    assert "29.93" in page
    pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert frame.loc["link1", "F.mz"] == pytest.approx(29.43)
    assert frame.attrs["units"]["V_dot.vx"] == "m/s^2"
    assert "vz" in str(list(frame.columns))


def test_the_vector_table_is_html_too():
    arm = cr.load("planar_2r").reference
    table = arm.textbook.newton_euler_table(REST, REST, REST, tip_wrench=[0, 0, 0, 0, 1, 0], frame="body")
    assert table.f[:, 1].tolist() == pytest.approx([20.62, 10.81])
    page = table._repr_html_()
    assert table.v_dot_0.tolist() == [0.0, 9.81, 0.0]
    assert page.count("<tr>") == 2 + 2 * len(table.units)
    assert "31.430000 10.810000" in page


def test_names_from_files_are_escaped():
    arm = cr.load("planar_2r").rename({"link1": "<i>$x$"}).reference
    assert "<i>" not in arm.textbook.rnea_table(REST, REST, REST)._repr_html_()


# --- terms of a torque under wrenches ---


@given(SEEDS)
@few
def test_terms_with_wrenches_sum_to_inverse_dynamics(seed):
    robot = tree(seed).reference
    x = state(robot, seed)
    loads = loads_of(robot, seed)
    terms = robot.torque_terms(*x, **loads)
    total = terms.pop("total")
    assert_allclose(sum(terms.values()), total, rtol=1e-9, atol=1e-9)
    assert_allclose(total, robot.inverse_dynamics(*x, **loads), rtol=1e-9, atol=1e-8)
    assert list(terms)[-1] == "external"
    plain = robot.torque_terms(*x)
    assert "external" not in plain
    assert_allclose(terms["external"], total - plain["total"], rtol=1e-9, atol=1e-8)


def test_terms_of_a_closed_loop_with_wrenches():
    robot = cr.load("four_bar").reference
    q = robot.home()
    zero = np.zeros(robot.nv)
    terms = robot.torque_terms(q, zero, zero, tip_wrench=[0, 0, 0, 1, 2, 0], frame="body")
    assert list(terms)[-3:] == ["external", "loop", "total"]
    assert_allclose(
        terms["total"], robot.inverse_dynamics(q, zero, zero, tip_wrench=[0, 0, 0, 1, 2, 0], frame="body"), atol=1e-9
    )


def test_compiled_terms_and_rows_with_wrenches_are_the_reference():
    arm = cr.load("planar_2r")
    x = [0.3, -0.4], [1.0, 0.5], [0.2, 0.1]
    loads = {"tip_wrench": [0, 0, 1, 2, 3, 0], "external": {"link1": [0, 0, 1, 0, 1, 0]}}
    for name, expected in arm.reference.torque_terms(*x, **loads).items():
        assert_allclose(arm.torque_terms(*x, **loads)[name], expected, atol=1e-12)
    assert_allclose(
        arm.textbook.rnea_table(*x, **loads).F, arm.reference.textbook.rnea_table(*x, **loads).F, atol=1e-12
    )


@pytest.mark.parametrize("name", ["torque_terms", "textbook.newton_euler_table", "textbook.rnea_table"])
def test_wrong_wrenches_are_refused(name):
    arm = cr.load("planar_2r").reference
    function = attrgetter(name)(arm)
    with pytest.raises(cr.ShapeError, match="tip_wrench must have 6 numbers"):
        function(REST, REST, REST, tip_wrench=[1, 2, 3])
    with pytest.raises(cr.ShapeError, match="external must be a dictionary"):
        function(REST, REST, REST, external=[1, 2, 3])
    with pytest.raises(cr.UnknownNameError, match="nowhere"):
        function(REST, REST, REST, external={"nowhere": np.zeros(6)})
    with pytest.raises(cr.UnknownNameError, match="no frame named 'base'"):
        function(REST, REST, REST, tip_wrench=np.zeros(6), frame="base")


# --- the closed matrix form ---


@given(SEEDS)
@few
def test_stacked_vectors_solve_the_equations_of_all_links(seed):
    robot = tree(seed).reference
    q, qd, qdd = state(robot, seed)
    loads = loads_of(robot, seed)
    form = robot.textbook.matrix_form(q, qd, qdd, **loads)
    table = robot.textbook.rnea_table(q, qd, qdd, **loads)
    assert_allclose(form.V, table.V.ravel(), atol=1e-9)
    assert_allclose(form.V, form.A @ form.V + form.S @ qd, atol=1e-9)
    assert_allclose(form.V_dot, table.V_dot.ravel(), rtol=1e-9, atol=1e-8)
    driven = form.A_dot @ form.V + form.S_dot @ qd + form.S @ qdd + form.V_dot_0
    assert_allclose(form.V_dot, form.A @ form.V_dot + driven, rtol=1e-9, atol=1e-8)
    assert_allclose(form.W, table.F.ravel(), rtol=1e-9, atol=1e-8)
    drives = robot.friction_torque(qd, q) + robot.spring_torque(q)
    assert_allclose(form.tau + drives, robot.inverse_dynamics(q, qd, qdd, **loads), rtol=1e-9, atol=1e-8)


@given(SEEDS)
@few
def test_both_coriolis_matrices_give_the_same_torques_and_one_is_christoffels(seed):
    robot = tree(seed).reference
    q, qd, _ = state(robot, seed)
    form = robot.textbook.matrix_form(q, qd)
    assert_allclose(form.C_christoffel, robot.coriolis_matrix(q, qd), rtol=1e-10, atol=1e-10)
    assert_allclose(form.C @ qd, form.C_christoffel @ qd, rtol=1e-9, atol=1e-8)


def test_only_christoffels_matrix_makes_the_rate_of_m_skew():
    arm = cr.load("planar_2r").reference
    q, qd, h = np.array([0.3, 0.7]), np.array([1.0, 2.0]), 1e-6
    form = arm.textbook.matrix_form(q, qd)
    rate = (arm.mass_matrix(q + qd * h) - arm.mass_matrix(q - qd * h)) / (2 * h)

    def symmetric_part(C):
        return np.abs(rate - 2 * C + (rate - 2 * C).T).max()

    assert symmetric_part(form.C_christoffel) < 1e-8
    assert symmetric_part(form.C) > 0.1
    assert abs(qd @ (rate - 2 * form.C) @ qd) < 1e-8


def test_the_closed_form_without_accelerations_has_no_wrenches():
    arm = cr.load("planar_2r").reference
    form = arm.textbook.matrix_form(np.zeros((3, 2)), REST)
    assert form.V.shape == (3, 12)
    assert form.V_dot is form.W is form.tau is None
    assert repr(form) == "Closed matrix form of 2 links and 2 joints, a batch of shape (3,)"
    printed = str(arm.textbook.matrix_form(REST, REST, REST))
    assert all(part in printed for part in ("A[link2, link1]", "L[link2, link1]", "M, J^T I J", "tau, torques: "))
    wide = arm.textbook.matrix_form(np.zeros((3, 2)), REST, REST, tip_wrench=np.zeros((4, 1, 6)), frame="body")
    assert wide.W.shape == (4, 3, 12)
    with pytest.raises(cr.ShapeError, match="which need qdd; give qdd as well"):
        arm.textbook.matrix_form(REST, REST, tip_wrench=np.zeros(6), frame="body")
    with pytest.raises(cr.UnknownNameError, match="no frame named"):
        arm.textbook.matrix_form(REST, REST, REST, tip_wrench=np.zeros(6), frame="base")
