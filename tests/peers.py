"""Pinocchio and MuJoCo on the same robot, spoken to in this library's conventions."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from lxml import etree

import chainrule as cr
from chainrule.model import Free

pin = pytest.importorskip("pinocchio")  # there is none for Windows


def robots_folder() -> Path:
    """Where the package example-robot-data has put its files."""
    prefix = next(parent for parent in Path(pin.__file__).parents if parent.name == "cmeel.prefix")
    return prefix / "share" / "example-robot-data" / "robots"


def stripped(path: Path, *, floating: bool = False, for_mujoco: bool = False) -> str:
    """A URDF without meshes, which dynamics does not need, and on request with a free joint under it."""
    root = etree.parse(str(path), etree.XMLParser(remove_comments=True)).getroot()
    for tag in ("visual", "collision", "gazebo", "transmission"):
        for element in list(root.iter(tag)):
            element.getparent().remove(element)
    if floating:
        children = {joint.find("child").get("link") for joint in root.iter("joint") if joint.find("child") is not None}
        base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
        ground = "world" if root.find("link[@name='world']") is None else "ground"
        etree.SubElement(root, "link", name=ground)
        joint = etree.SubElement(root, "joint", name="free_root", type="floating")
        etree.SubElement(joint, "parent", link=ground)
        etree.SubElement(joint, "child", link=base)
    if for_mujoco:
        options = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
        options.set("fusestatic", "false")
        options.set("discardvisual", "true")
    return etree.tostring(root, encoding="unicode")


class Mapped:
    """Velocities of a peer are G times ours; with mimic joints, the peer has more of them."""

    def __init__(self, robot: cr.Robot, starts: dict[str, tuple[int, int]], nq: int, nv: int) -> None:
        self.robot, self.starts, self.nq, self.nv = robot, starts, nq, nv

    def each(self):
        for body in self.robot.model.bodies:
            if body.joint.kind.nv:
                yield body, *self.starts[body.joint.name]


class Pinocchio(Mapped):
    def __init__(self, robot: cr.Robot, urdf: str, *, floating: bool = False) -> None:
        self.model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromXML(urdf)
        if floating:
            self.model.names[1] = robot.model.joints[0].name
        self.model.gravity.linear = robot.gravity
        self.data = self.model.createData()
        names = list(self.model.names)
        starts = {n: (self.model.joints[i].idx_q, self.model.joints[i].idx_v) for i, n in enumerate(names) if i}
        super().__init__(robot, starts, self.model.nq, self.model.nv)
        self.G = np.zeros((self.nv, robot.nv))
        for body, _, v in self.each():
            if isinstance(body.joint.kind, Free):
                self.G[v : v + 6, body.first_v : body.first_v + 6] = np.eye(6)[[3, 4, 5, 0, 1, 2]]
            else:
                self.G[v, body.first_v] += body.multiplier

    def q(self, q):
        out = np.zeros(self.nq)
        for body, at, _ in self.each():
            own = np.array(body.coordinates(q.tolist()), dtype=float)
            wide = self.model.joints[self.model.getJointId(body.joint.name)].nq
            out[at : at + wide] = [np.cos(own[0]), np.sin(own[0])] if (wide, len(own)) == (2, 1) else own
        return out

    def inverse_dynamics(self, q, qd, qdd):
        tau = pin.rnea(self.model, self.data, self.q(q), self.G @ qd, self.G @ qdd)
        return self.G.T @ tau

    def mass_matrix(self, q):
        M = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return self.G.T @ (M + np.triu(M, 1).T) @ self.G

    def forward_dynamics(self, q, qd, tau):
        assert self.nv == self.robot.nv
        qdd = pin.aba(self.model, self.data, self.q(q), self.G @ qd, np.linalg.solve(self.G.T, tau))
        return np.linalg.solve(self.G, qdd)

    def frames(self):
        for i, frame in enumerate(self.model.frames):
            if frame.type == pin.FrameType.BODY and frame.name in self.robot.link_names:
                yield i, frame.name

    def poses(self, q):
        pin.framesForwardKinematics(self.model, self.data, self.q(q))
        return {name: np.array(self.data.oMf[i].homogeneous) for i, name in self.frames()}

    def jacobian(self, q, link, frame):
        reference = {"space": pin.WORLD, "body": pin.LOCAL, "world": pin.LOCAL_WORLD_ALIGNED}[frame]
        i = next(i for i, name in self.frames() if name == link)
        J = pin.computeFrameJacobian(self.model, self.data, self.q(q), i, reference)
        return J[[3, 4, 5, 0, 1, 2]] @ self.G


class MuJoCo(Mapped):
    def __init__(self, robot: cr.Robot, urdf: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(urdf)
        off = mujoco.mjtDisableBit
        for flag in (off.mjDSBL_CONSTRAINT, off.mjDSBL_DAMPER, off.mjDSBL_SPRING):
            self.model.opt.disableflags |= flag
        self.model.opt.gravity = robot.gravity
        self.data = mujoco.MjData(self.model)
        starts = {
            self.model.joint(i).name: (self.model.jnt_qposadr[i], self.model.jnt_dofadr[i])
            for i in range(self.model.njnt)
        }
        super().__init__(robot, starts, self.model.nq, self.model.nv)

    def set(self, q, qd):
        """The state, P with peer velocities P qd, and the part of peer accelerations that qd makes."""
        qpos, P, drift = np.zeros(self.nq), np.zeros((self.nv, self.robot.nv)), np.zeros(self.nv)
        for body, at, v in self.each():
            own = np.array(body.coordinates(q.tolist()), dtype=float)
            if isinstance(body.joint.kind, Free):
                qpos[at : at + 7] = own[[0, 1, 2, 6, 3, 4, 5]]
                x, y, z, w = own[3:]
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, [w, x, y, z])
                R = R.reshape(3, 3)
                mine = slice(body.first_v, body.first_v + 6)
                P[v : v + 3, mine][:, 3:] = R
                P[v + 3 : v + 6, mine][:, :3] = np.eye(3)
                omega, linear = qd[mine][:3], qd[mine][3:]
                drift[v : v + 3] = R @ np.cross(omega, linear)
            else:
                qpos[at] = own[0]
                P[v, body.first_v] += body.multiplier
        self.data.qpos[:], self.data.qvel[:] = qpos, P @ qd
        mujoco.mj_forward(self.model, self.data)
        return P, drift

    def full(self):
        M = np.zeros((self.nv, self.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M

    def mass_matrix(self, q):
        P, _ = self.set(q, np.zeros(self.robot.nv))
        return P.T @ self.full() @ P

    def inverse_dynamics(self, q, qd, qdd):
        P, drift = self.set(q, qd)
        return P.T @ (self.full() @ (P @ qdd + drift) + self.data.qfrc_bias)

    def poses(self, q):
        self.set(q, np.zeros(self.robot.nv))
        poses = {}
        for i in range(1, self.model.nbody):
            name = self.model.body(i).name
            if name in self.robot.link_names:
                T = np.eye(4)
                T[:3, :3], T[:3, 3] = self.data.xmat[i].reshape(3, 3), self.data.xpos[i]
                poses[name] = T
        return poses
