"""Frames on common normals: other frames, the same robot."""

from dataclasses import replace

import numpy as np
import pytest
from tiers import with_slow
from trees import state, transform, tree

import chainrule as cr
from chainrule.compile.kernel import Kernel
from chainrule.compile.trace import _on_normals, trace, trace_as_described
from chainrule.core.derived import massless_joints, merged_model
from chainrule.core.evaluation import options_of
from chainrule.functions import reference
from chainrule.functions.table import FUNCTIONS
from chainrule.model import Screw
from chainrule.model.normal_frames import Turned, frames_on_normals, original_frame
from chainrule.spatial import Transform

FREE_OF_FRAMES = [name for name, entry in FUNCTIONS.items() if entry.on_any_frames]


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(expected).max(initial=0)))


def with_spring(robot):
    links = robot.link_names
    return robot.with_spring(links[1], links[-1], (0.1, 0.2, 0.3), (0.0, -0.2, 0.1), stiffness=30, rest_length=0.1)


ROBOTS = {
    "every kind": lambda: tree(0),
    "screws": lambda: tree(1, ["moved", "screw", "helical", "prismatic", "revolute", "moved"]),
    "spring": lambda: with_spring(tree(2, ["moved", "revolute", "prismatic", "revolute"])),
    "puma560": lambda: cr.load("puma560"),
    "hand": lambda: cr.load("panda_hand"),
}
MADE = {name: make() for name, make in ROBOTS.items()}


@pytest.mark.parametrize("function", FREE_OF_FRAMES)
def test_what_refers_to_joints_and_the_base_stays(function):
    """For every kind of joint, with rotors, friction, springs, mimic joints, and wrenches on links and frames."""
    for robot in MADE.values():
        if FUNCTIONS[function].needs.value == 2 and massless_joints(robot):
            continue
        model, entry = merged_model(robot), FUNCTIONS[function]
        moved = frames_on_normals(model)
        q, qd, qdd = state(robot, 3, (2,))
        arguments = [
            q if argument.is_configuration else x for argument, x in zip(entry.takes, (q, qd, qdd), strict=False)
        ]
        for frame in ("body", "world") if entry.loaded else ("body",):
            options, there = options_of(robot, function, {}), {}
            wrenches = []
            if entry.loaded:
                loads = (model.links[-1].name, model.links[1].name)
                options |= {"loads": loads, "frame": frame}
                there = {"loads": [original_frame(model, link) for link in loads]}
                wrenches = [np.full((2, 6), 0.3), np.linspace(-1, 1, 12).reshape(2, 6)]
            expected = reference.evaluate(model, function, [*arguments, *wrenches], **options)
            same(reference.evaluate(moved, function, [*arguments, *wrenches], **options | there), expected)


def test_frames_and_original_frames_stay_where_they_are():
    robot = cr.load("puma560").with_frame("camera", np.asarray(transform(np.random.default_rng(0)).rows()))
    moved = frames_on_normals(merged_model(robot))
    q = np.linspace(0.2, -0.9, 6)[None]
    for name in ("camera", "link3", "base"):
        there = original_frame(merged_model(robot), name)
        same(
            reference.evaluate(moved, "pose", [q], link=there),
            reference.evaluate(merged_model(robot), "pose", [q], link=name),
        )


def test_axes_are_z_and_normals_are_x():
    for joint in frames_on_normals(merged_model(tree(4, ["screw", "helical", "prismatic", "revolute"]))).joints:
        assert isinstance(joint.kind, (Screw, Turned))
        (S,) = joint.kind.columns([0.0])
        assert [S.angular.x, S.angular.y, S.linear.x, S.linear.y] == [0, 0, 0, 0]
    panda = merged_model(cr.load("panda"))
    assert [joint.origin for joint in frames_on_normals(panda).joints] == [joint.origin for joint in panda.joints]
    for joint in frames_on_normals(merged_model(cr.load("iiwa14"))).joints[1:]:
        assert joint.origin.rotation.a.y == 0  # a turn about x, then one about z by quarters
        assert joint.origin.rotation.a.z == 0


def test_nearly_parallel_axes_lose_no_digits():
    """Their common normal is a kilometer away."""
    w = np.array([1e-4, 0.0, 1.0]) / np.hypot(1e-4, 1.0)
    screws = np.array([[0, 0, 1, 0, 0, 0], [*w, *-np.cross(w, [0.1, 0.3, 0])], [0, 1, 0, -0.2, 0, 0.5]]).T
    G = [np.diag([0.1, 0.2, 0.25, 2.0, 2.0, 2.0])] * 3
    robot = cr.Robot.from_screws(home=np.eye(4), screws=screws, inertias=G)
    moved = frames_on_normals(merged_model(robot))
    assert all(joint.origin.translation.norm() < 2 for joint in moved.joints)
    q = np.linspace(-1, 1, 12).reshape(4, 3)
    same(reference.evaluate(moved, "mass_matrix", [q]), reference.evaluate(merged_model(robot), "mass_matrix", [q]))


def test_kernels_are_made_on_normals_and_large_robots_too(monkeypatch):
    robot = MADE["screws"]
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    options = options_of(robot, "inverse_dynamics", {"loads": [robot.link_names[2]]})
    arguments = [*state(robot, 1, (9,)), np.ones((9, 6))]
    expected = reference.evaluate(merged_model(robot), "inverse_dynamics", arguments, **options)
    same(Kernel(merged_model(robot), "inverse_dynamics", "x", options).spread(arguments), expected)
    shorter = trace(merged_model(robot), "inverse_dynamics", **options).flops()
    monkeypatch.setattr("chainrule.compile.trace.MAX_COMPARED_BODIES", 0)
    assert trace(merged_model(robot), "inverse_dynamics", **options).flops() == shorter
    panda = cr.load("panda")
    assert trace(merged_model(panda), "mass_matrix").flops() == panda.compiled.kernel("mass_matrix").flops


AXES = {
    "random": lambda rng, z: rng.normal(size=3),
    "nearly parallel": lambda rng, z: np.array([0, 0, 1]) + rng.choice([1e-1, 2e-2, 1e-3, 1e-6]) * rng.normal(size=3),
    "nearly square": lambda rng, z: np.roll([0, 0, 1], z) + rng.choice([1e-3, 1e-9, 1e-15]) * rng.normal(size=3),
}
"""Axes of the joints of a chain: one at a time, in the frame of the link before."""


def chain(count, kind, offset, seed=0):
    """The text of a URDF: a chain of turning joints whose axes are nearly `offset` apart."""
    rng = np.random.default_rng(seed)
    parts = ["<robot name='chain'><link name='l0'/>"]
    for i in range(1, count + 1):
        axis = AXES[kind](rng, i)
        axis = " ".join(repr(float(x)) for x in axis / np.linalg.norm(axis))
        at = " ".join(repr(float(x)) for x in offset * rng.normal(size=3) + (0, 0, 0.05))
        turn = " ".join(repr(float(x)) for x in (rng.normal(size=3) if kind == "random" else np.zeros(3)))
        parts.append(
            f"<link name='l{i}'><inertial><origin xyz='0.02 0.01 0.05'/><mass value='1'/><inertia ixx='0.01' iyy='0.012'"
            " izz='0.008' ixy='0.001' ixz='0' iyz='0.0005'/></inertial></link>"
            f"<joint name='j{i}' type='continuous'><parent link='l{i - 1}'/><child link='l{i}'/>"
            f"<origin xyz='{at}' rpy='{turn}'/><axis xyz='{axis}'/></joint>"
        )
    return "".join(parts) + "</robot>"


@pytest.mark.parametrize("count", with_slow([6, 15, 30, 60, 120, 200], 30, 120, 200))
@pytest.mark.parametrize("kind", AXES)
@pytest.mark.parametrize("offset", [0.1, 1e-9])
def test_rounding_does_not_grow_along_a_chain(count, kind, offset):
    """Against Pinocchio, whose links have the described frames. It rounds axes within 1e-12 of z, so none is nearer."""
    pin = pytest.importorskip("pinocchio")
    text = chain(count, kind, offset)
    model = merged_model(cr.Robot.from_urdf(text, check=False))
    peer = pin.buildModelFromXML(text)
    data = peer.createData()
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, 2, count))
    expected = np.array(
        [
            pin.rnea(peer, data, pin.integrate(peer, pin.neutral(peer), x), v, a)
            for x, v, a in zip(q, qd, qdd, strict=True)
        ]
    )
    found = reference.evaluate(frames_on_normals(model), "inverse_dynamics", [q, qd, qdd], frame="body", loads=())
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * (1 + count / 10) * np.abs(expected).max())
    assert _on_normals(model) is not None


def test_frames_that_lose_digits_are_not_used(monkeypatch):
    robot = tree(5, ["revolute", "prismatic", "moved"])
    model = merged_model(robot)
    options = options_of(robot, "gravity_torque", {})

    def worse(model):
        moved = frames_on_normals(model)
        joint = moved.joints[-1]
        shift = joint.origin.translation * (1 + 1e-11)
        changed = replace(joint, origin=Transform(joint.origin.rotation, shift))
        return replace(moved, joints=(*moved.joints[:-1], changed))

    monkeypatch.setattr("chainrule.compile.trace.frames_on_normals", worse)
    _on_normals.cache_clear()
    assert _on_normals(model) is None
    monkeypatch.setattr("chainrule.compile.trace.MAX_COMPARED_BODIES", 0)
    assert (
        trace(model, "gravity_torque", **options).flops()
        == trace_as_described(model, "gravity_torque", **options).flops()
    )
    _on_normals.cache_clear()
