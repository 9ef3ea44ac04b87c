"""Compiled kernels against Pinocchio and MuJoCo, on batches and on single states.

The reference path is compared on many more robots in `algorithms/test_peers.py`; `make test-all` compiles those too.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from peers import MuJoCo, Pinocchio, pin, robots_folder, stripped

import chainrule as cr
from chainrule.compile import backend
from chainrule.core.derived import backend_of

FILES = {
    "ur5": ("ur_description/urdf/ur5_robot.urdf", False),
    "panda": ("panda_description/urdf/panda.urdf", False),
    "solo12": ("solo_description/robots/solo12.urdf", True),
    "talos": ("talos_data/robots/talos_full_v2.urdf", True),
}
"""Robots of example-robot-data, and whether they float. The hand of the Panda has a joint that follows another."""

STATES = 5


@pytest.fixture(scope="module", params=FILES)
def case(request):
    """A robot without friction, which the peers leave out, its file for the peers, and some states."""
    path, floating = FILES[request.param]
    path = robots_folder() / path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)
        robot = cr.Robot.from_urdf(stripped(path, floating=floating), check=False).without_friction()
    assert backend.active(backend_of(robot)).compiles
    rng = np.random.default_rng(3)
    q = robot.random_state(rng, (STATES,))
    qd, qdd = rng.normal(size=(2, STATES, robot.nv))
    return robot, path, floating, (q, qd, qdd)


def agree(method, theirs, *arguments, tolerance=1e-9):
    """Compare a method with a peer's function: all states in one call, and each in a call of its own."""
    rows = list(zip(*arguments, strict=True))
    expected = np.array([theirs(*row) for row in rows])
    scale = tolerance * max(1e-6, float(np.abs(expected).max()))
    assert_allclose(method(*arguments), expected, rtol=tolerance, atol=scale)
    assert_allclose([method(*row) for row in rows], expected, rtol=tolerance, atol=scale)


def test_pinocchio_agrees(case):
    robot, path, floating, (q, qd, qdd) = case
    peer = Pinocchio(robot, stripped(path, floating=floating))
    model, data, G = peer.model, peer.data, peer.G
    agree(robot.inverse_dynamics, peer.inverse_dynamics, q, qd, qdd)
    agree(robot.mass_matrix, peer.mass_matrix, q)
    agree(robot.gravity_torque, lambda x: G.T @ pin.computeGeneralizedGravity(model, data, peer.q(x)), q)
    agree(robot.bias, lambda x, v: G.T @ pin.nonLinearEffects(model, data, peer.q(x), G @ v), q, qd)
    agree(robot.kinetic_energy, lambda x, v: pin.computeKineticEnergy(model, data, peer.q(x), G @ v), q, qd)
    agree(robot.center_of_mass, lambda x: pin.centerOfMass(model, data, peer.q(x)).copy(), q)
    home = q[0]
    lift = robot.potential_energy(home) - pin.computePotentialEnergy(model, data, peer.q(home))
    agree(robot.potential_energy, lambda x: lift + pin.computePotentialEnergy(model, data, peer.q(x)), q)
    if robot.nv == peer.nv:
        agree(robot.forward_dynamics, peer.forward_dynamics, q, qd, robot.inverse_dynamics(q, qd, qdd), tolerance=1e-8)
    links = [link for link in robot.link_names if link in peer.poses(home)]
    chosen = [robot.link_names.index(link) for link in links]
    agree(lambda x: robot.poses(x)[..., chosen, :, :], lambda x: [peer.poses(x)[link] for link in links], q)
    for frame in ("space", "body", "world"):
        agree(
            lambda x, frame=frame: robot.jacobian(x, links[-1], frame=frame),
            lambda x, frame=frame: peer.jacobian(x, links[-1], frame),
            q,
        )


def test_mujoco_agrees(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log behind
    robot, path, floating, (q, qd, qdd) = case
    peer = MuJoCo(robot, stripped(path, floating=floating, for_mujoco=True))
    agree(robot.inverse_dynamics, peer.inverse_dynamics, q, qd, qdd)
    agree(robot.mass_matrix, peer.mass_matrix, q)
    link = robot.link_names[-1]
    agree(lambda x: robot.pose(x, link), lambda x: peer.poses(x)[link], q)
