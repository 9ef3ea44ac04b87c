"""Derivatives of Jacobians, energies, momenta, mass matrix and gravity: against differences, peers and identities."""

from operator import attrgetter

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import state, tree

import chainrule as cr

SEEDS = range(3)


def along(robot, f, q, step=2e-2):
    """Derivatives of f along each velocity, last: central differences, extrapolated twice by Richardson's rule."""
    h = step / np.array([1, 2, 4])[:, None, None]
    ahead, behind = (f(robot.integrate(q, sign * h * np.eye(robot.nv))) for sign in (1, -1))
    coarse, fine, finer = np.moveaxis(ahead - behind, 1, -1) / (2 * h.reshape(3, *([1] * (ahead.ndim - 1))))
    once, again = fine + (fine - coarse) / 3, finer + (finer - fine) / 3
    return again + (again - once) / 15


def close(found, expected, tolerance=2e-8):
    assert found.shape == expected.shape
    assert_allclose(found, expected, atol=tolerance * (1 + np.abs(expected).max()), rtol=0)


@pytest.fixture(scope="module", params=SEEDS)
def moving_tree(request):
    robot = tree(request.param).reference
    return robot, *state(robot, request.param)


@pytest.mark.parametrize("frame", ["world", "body", "space"])
def test_the_kinematic_hessian_is_the_derivative_of_the_jacobian(moving_tree, frame):
    robot, q, qd, _ = moving_tree
    for link in ("tool", robot.link_names[len(robot.link_names) // 2]):
        H = robot.jacobian_dq(q, link, frame=frame)
        close(H, along(robot, lambda x, link=link: robot.jacobian(x, link, frame=frame), q))
        assert_allclose(H @ qd, robot.jacobian_dot(q, qd, link, frame=frame), atol=1e-10)


def test_the_derivative_of_the_mass_matrix(moving_tree):
    robot, q, qd, _ = moving_tree
    D = robot.derivatives.mass_matrix_dq(q)
    close(D, along(robot, robot.mass_matrix, q))
    C = robot.coriolis_matrix(q, qd)
    assert_allclose(D @ qd, C + C.T, atol=1e-10 * np.abs(C).max())
    assert_allclose(D, D.swapaxes(0, 1), atol=1e-12 * np.abs(D).max())


def test_the_derivative_of_gravity_torques(moving_tree):
    robot, q, _, _ = moving_tree
    close(robot.derivatives.gravity_torque_dq(q), along(robot, robot.gravity_torque, q))


def test_derivatives_of_energies(moving_tree):
    robot, q, qd, _ = moving_tree
    found = robot.derivatives.kinetic_energy_derivatives(q, qd)
    close(found.dq, along(robot, lambda x: robot.kinetic_energy(x, qd), q))
    assert_allclose(found.dqd, robot.mass_matrix(q) @ qd, atol=1e-10)
    assert_allclose(found.dq, qd @ robot.derivatives.mass_matrix_dq(q).transpose(2, 0, 1) @ qd / 2, atol=1e-9)
    close(robot.derivatives.potential_energy_dq(q), along(robot, robot.potential_energy, q))


def test_the_potential_energy_of_springs_between_links_and_in_ball_joints_has_its_gradient():
    robot = tree(1, ("spherical", "revolute", "universal"), drives=False)
    ball = next(joint.name for joint in robot.model.joints if joint.type == "spherical")
    robot = robot.edit(joints={ball: {"stiffness": 2.0, "rest": 0.2}})
    robot = robot.with_spring("base", "tool", (1.0, 0.5, 0.2), stiffness=30.0, rest_length=0.6, force=4.0).reference
    q = state(robot, 1)[0]
    close(robot.derivatives.potential_energy_dq(q), along(robot, robot.potential_energy, q))
    assert_allclose(robot.derivatives.potential_energy_dq(q), robot.gravity_torque(q) + robot.spring_torque(q))


def test_derivatives_of_momenta(moving_tree):
    robot, q, qd, _ = moving_tree
    functions = robot.derivatives
    for f, derivatives in (
        (robot.momentum, functions.momentum_derivatives),
        (robot.centroidal.momentum, functions.centroidal_momentum_derivatives),
    ):
        found = derivatives(q, qd)
        close(found.dq, along(robot, lambda x, f=f: f(x, qd), q))
        assert_allclose(found.dqd @ qd, f(q, qd), atol=1e-10)
    assert_allclose(found.dqd, robot.centroidal.matrix(q), atol=1e-10)


def test_the_rate_of_momentum_is_the_force_of_gravity_and_of_the_floor():
    """A falling robot: linear momentum grows by m g, and its angular momentum about the center of mass not at all."""
    robot = cr.load("quadruped").without_friction().reference
    q, qd, _ = state(robot, 2)
    qdd = robot.forward_dynamics(q, qd, np.zeros(robot.nv))
    h = robot.derivatives.centroidal_momentum_derivatives(q, qd)
    rate = h.dq @ qd + h.dqd @ qdd
    assert_allclose(rate[3:], robot.mass * robot.gravity, atol=1e-9)
    assert_allclose(rate[:3], 0, atol=1e-9)


def test_compiled_code_gives_the_same_on_batches():
    robot = tree(4, ("revolute", "universal"))
    q, qd, _ = state(robot, 4, (2, 3))
    for name in (
        "jacobian_dq",
        "derivatives.mass_matrix_dq",
        "derivatives.gravity_torque_dq",
        "derivatives.potential_energy_dq",
    ):
        assert_allclose(attrgetter(name)(robot)(q), attrgetter(name)(robot.reference)(q), atol=1e-11)
    for name in ("kinetic_energy", "momentum", "centroidal_momentum"):
        ours, theirs = (attrgetter(f"derivatives.{name}_derivatives")(r)(q, qd) for r in (robot, robot.reference))
        assert_allclose(ours.dq, theirs.dq, atol=1e-11)
        assert_allclose(ours.dqd, theirs.dqd, atol=1e-11)
        assert_allclose(
            attrgetter(f"derivatives.{name}_derivatives")(robot)(q[0, 0], qd[0, 0]).dq, ours.dq[0, 0], atol=1e-12
        )


def test_pinocchio_agrees():
    pin = pytest.importorskip("pinocchio")
    from peers import Pinocchio, robots_folder, stripped

    swap = [3, 4, 5, 0, 1, 2]
    frames = {"world": pin.LOCAL_WORLD_ALIGNED, "body": pin.LOCAL, "space": pin.WORLD}
    for name, floating in (("ur_description/urdf/ur5_robot.urdf", False), ("solo_description/robots/solo.urdf", True)):
        urdf = stripped(robots_folder() / name, floating=floating)
        robot = cr.Robot.from_urdf(urdf, check=False).without_friction().reference
        peer = Pinocchio(robot, urdf)
        q, qd, qdd = state(robot, 0)
        args = (peer.model, peer.data, peer.q(q))
        dh, *_ = pin.computeCentroidalDynamicsDerivatives(*args, peer.G @ qd, peer.G @ qdd)
        assert_allclose(robot.derivatives.centroidal_momentum_derivatives(q, qd).dq, (dh @ peer.G)[swap], atol=1e-10)
        assert_allclose(robot.centroidal.com_jacobian(q), pin.jacobianCenterOfMass(*args) @ peer.G, atol=1e-11)
        dg = pin.computeGeneralizedGravityDerivatives(*args)
        assert_allclose(robot.derivatives.gravity_torque_dq(q), peer.G.T @ dg @ peer.G, atol=1e-10)
        pin.computeJointKinematicHessians(*args)
        last = robot.model.moving[-1]
        joint = peer.model.getJointId(last.name)
        for frame, reference in frames.items():
            H = np.asarray(pin.getJointKinematicHessian(peer.model, peer.data, joint, reference))
            H = H.ravel().reshape(
                6, peer.nv, peer.nv, order="F"
            )  # the tensor comes with its numbers in Fortran's order
            H = np.einsum("rij,ia,jb->rab", H[swap], peer.G, peer.G)
            assert_allclose(robot.jacobian_dq(q, last.child, frame=frame), H, atol=1e-10)
