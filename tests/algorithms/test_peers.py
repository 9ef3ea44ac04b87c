"""Against Pinocchio and MuJoCo, on the real robots of example-robot-data, and against Modern Robotics."""

import warnings

import modern_robotics as mr
import numpy as np
import pytest
from numpy.testing import assert_allclose
from peers import MuJoCo, Pinocchio, robots_folder, stripped

import chainrule as cr

pytestmark = [pytest.mark.both_paths, pytest.mark.peer]

BROKEN = {
    "falcon": "has no link named 'Z_propeller'",
    "ur3": "has no links",
}
"""Files that are wrong in themselves, and what this library says of them."""

FILES = {f"{path.parent.parent.name}/{path.stem}": path for path in sorted(robots_folder().rglob("*.urdf"))}
SOUND = {name: path for name, path in FILES.items() if path.stem not in BROKEN}
LEGGED = [
    name for name in SOUND
    if any(part in name for part in ("a1_", "anymal", "b1_", "bolt", "g1_", "go1", "go2", "hyq", "icub", "iris", "laikago",
                                     "romeo", "humanoid", "solo", "talos", "tiago_pro", "human_"))
]  # fmt: skip
NO_MUJOCO = "inertia must|must be larger than mjMINVAL|A \\+ B >= C"
"""Why MuJoCo refuses some of these robots: inertias that no body has, and moving links without mass."""

CASES = [(name, False) for name in SOUND] + [(name, True) for name in LEGGED]
cases = pytest.mark.parametrize(
    ("name", "floating"), CASES, ids=[f"{n}-{'floating' if f else 'fixed'}" for n, f in CASES]
)


def loaded(name, floating):
    """The robot without friction, which the peers leave out of these functions, and a state of it."""
    urdf = stripped(SOUND[name], floating=floating)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cr.ModelWarning)
        robot = cr.Robot.from_urdf(urdf, check=False).without_friction()
    rng = np.random.default_rng(len(name))
    return robot, urdf, robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def close(ours, theirs, tolerance=1e-9):
    assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(1e-6, np.abs(theirs).max(initial=0)))


def test_there_are_enough_robots():
    assert len(SOUND) >= 25
    assert len(LEGGED) >= 10


@cases
def test_pinocchio_agrees(name, floating):
    robot, urdf, q, qd, qdd = loaded(name, floating)
    peer = Pinocchio(robot, urdf)
    tau = robot.inverse_dynamics(q, qd, qdd)
    M = robot.mass_matrix(q)
    close(tau, peer.inverse_dynamics(q, qd, qdd))
    close(M, peer.mass_matrix(q))
    poses = robot.poses(q)
    theirs = peer.poses(q)
    assert theirs
    for link, T in theirs.items():
        close(poses[robot.link_names.index(link)], T)
    for link in [robot.link_names[-1], robot.link_names[len(robot.link_names) // 2]]:
        for frame in ("space", "body", "world"):
            if link in theirs and robot.nv:
                close(robot.jacobian(q, link, frame=frame), peer.jacobian(q, link, frame))
    if robot.nv == peer.nv and robot.nv and np.linalg.cond(M) < 1e10:
        close(robot.forward_dynamics(q, qd, tau), peer.forward_dynamics(q, qd, tau))


@cases
def test_mujoco_agrees(name, floating, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo leaves a log behind
    robot, _, q, qd, qdd = loaded(name, floating)
    try:
        peer = MuJoCo(robot, stripped(SOUND[name], floating=floating, for_mujoco=True))
    except ValueError as error:
        with pytest.raises(ValueError, match=NO_MUJOCO):
            raise error
        return
    close(robot.inverse_dynamics(q, qd, qdd), peer.inverse_dynamics(q, qd, qdd))
    close(robot.mass_matrix(q), peer.mass_matrix(q))
    poses = robot.poses(q)
    for link, T in peer.poses(q).items():
        close(poses[robot.link_names.index(link)], T)
    if robot.nv and peer.nv == robot.nv and np.linalg.cond(robot.mass_matrix(q)) < 1e10:
        P, drift = peer.set(q, qd)
        peer.data.qfrc_applied[:] = np.linalg.solve(P.T, robot.inverse_dynamics(q, qd, qdd))
        import mujoco

        mujoco.mj_forward(peer.model, peer.data)
        close(np.linalg.solve(P, peer.data.qacc - drift), qdd, 1e-8)


def test_mujoco_takes_enough_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    taken = 0
    for name in SOUND:
        robot, *_ = loaded(name, False)
        try:
            MuJoCo(robot, stripped(SOUND[name], for_mujoco=True))
        except ValueError:
            continue
        taken += 1
    assert taken >= 25


@pytest.mark.parametrize("name", BROKEN)
def test_files_that_are_wrong_in_themselves_are_refused_by_name(name):
    path = next(path for path in FILES.values() if path.stem == name)
    with pytest.raises(cr.ChainruleError, match=BROKEN[name]):
        cr.load(path)


def screw_chain(rng, n):
    frames = [_rigid(rng) for _ in range(n + 1)]
    home = np.linalg.multi_dot([np.eye(4), *frames])
    screws = rng.normal(size=(6, n))
    inertias = []
    for _ in range(n):
        A = rng.normal(size=(3, 3)) * 0.3
        second = A @ A.T + 0.05 * np.eye(3)
        G = np.zeros((6, 6))
        G[:3, :3] = np.trace(second) * np.eye(3) - second
        G[3:, 3:] = rng.uniform(0.5, 2) * np.eye(3)
        inertias.append(G)
    return home, screws, frames, inertias


def _rigid(rng):
    return mr.MatrixExp6(mr.VecTose3(rng.normal(size=6) * 0.5))


@pytest.mark.parametrize("seed", range(8))
def test_modern_robotics_agrees_on_random_screw_chains(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed % 4
    home, screws, frames, inertias = screw_chain(rng, n)
    screws[:3] /= np.linalg.norm(screws[:3], axis=0)  # its exponential takes screws of unit angular part
    g, F = rng.normal(size=3) * 5, rng.normal(size=6)
    robot = cr.Robot.from_screws(home=home, screws=screws, frames=frames, inertias=inertias, gravity=g)
    q, qd, qdd = rng.normal(size=(3, n))
    M, G = np.array(frames), np.array(inertias)
    close(robot.pose(q), mr.FKinSpace(home, screws, q), 1e-8)
    close(robot.jacobian(q, frame="space"), mr.JacobianSpace(screws, q), 1e-8)
    tau = mr.InverseDynamics(q, qd, qdd, g, F, M, G, screws)
    close(robot.inverse_dynamics(q, qd, qdd, tip_wrench=F, frame="body"), tau, 1e-8)
    close(robot.mass_matrix(q), mr.MassMatrix(q, M, G, screws), 1e-8)
    close(robot.gravity_torque(q), mr.GravityForces(q, g, M, G, screws), 1e-8)
    close(robot.forward_dynamics(q, qd, tau, tip_wrench=F, frame="body"), qdd, 1e-7)
    body = np.linalg.solve(mr.Adjoint(home), screws)
    same = cr.Robot.from_screws(home=home, screws=body, axes="body", frames=frames, inertias=inertias, gravity=g)
    close(same.inverse_dynamics(q, qd, qdd), robot.inverse_dynamics(q, qd, qdd), 1e-8)
