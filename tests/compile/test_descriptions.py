"""One robot costs the same however it is described, and gives the same numbers."""

import math

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile.trace import trace, trace_as_described
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import options_of
from chainrule.functions.table import FUNCTIONS
from chainrule.model import edits
from chainrule.robot.building import to_urdf

TURN = math.pi / 2
TABLES = {  # convention, height of the base, rows (a, alpha, d, theta)
    "puma560": (
        "standard",
        0.67183,
        [(0, TURN, 0, 0), (0.4318, 0, 0, 0), (0.0203, -TURN, 0.15005, 0), (0, TURN, 0.4318, 0), (0, -TURN, 0, 0), (0,) * 4],
    ),
    "panda": (
        "modified",
        0.0,
        [
            (0, 0, 0.333, 0), (0, -TURN, 0, 0), (0, TURN, 0.316, 0), (0.0825, TURN, 0, 0), (-0.0825, -TURN, 0.384, 0),
            (0, TURN, 0, 0), (0.088, TURN, 0, 0),
        ],
    ),
}  # fmt: skip
FUNCTIONS_COMPARED = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_torque", "coriolis_matrix")
SHARE = 0.04


def bare(robot):
    """A robot of links and turning joints alone, which every description can say."""
    model = edits.map_dofs(edits.merge_fixed(robot.model), lambda dof: type(dof)())
    return cr.Robot(model)


def from_table(name, links):
    convention, height, rows = TABLES[name]
    base = np.eye(4)
    base[2, 3] = height
    return cr.Robot.from_dh(
        rows, convention=convention, base=base, masses=[x.mass for x in links], coms=[list(x.com) for x in links],
        inertias=[list(x.inertia) for x in links], check=False,
    )  # fmt: skip


def from_screws(robot, links):
    """The same as a product of exponentials, with the frames of links at their centers of mass and in base axes."""
    zero = np.zeros(robot.nq)
    home, screws = robot.pose(zero), robot.jacobian(zero, frame="space")
    poses = [robot.pose(zero, x.name) for x in links]
    centers = [T[:3, :3] @ list(x.com) + T[:3, 3] for T, x in zip(poses, links, strict=True)]
    steps = np.diff([np.zeros(3), *centers, home[:3, 3]], axis=0)
    frames = [np.block([[np.eye(3), step[:, None]], [np.zeros(3), 1.0]]) for step in steps]
    frames[-1][:3, :3] = home[:3, :3]
    inertias = []
    for T, x in zip(poses, links, strict=True):
        I = x.inertia
        I = np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]])
        G = np.zeros((6, 6))
        G[:3, :3], G[3:, 3:] = T[:3, :3] @ I @ T[:3, :3].T, x.mass * np.eye(3)
        inertias.append(G)
    return cr.Robot.from_screws(home=home, screws=screws, frames=frames, inertias=inertias, check=False)


def descriptions(name):
    robot = bare(cr.load(name))
    links = robot.model.links[1:]
    file = cr.Robot.from_urdf(to_urdf(robot), check=False)
    return {"table": from_table(name, links), "screws": from_screws(robot.reference, links), "file": file}


@pytest.mark.parametrize("name", TABLES)
def test_three_descriptions_of_one_robot_cost_the_same(name):
    robots = descriptions(name)
    rng = np.random.default_rng(0)
    q, qd, x = rng.normal(size=(3, 4, robots["file"].nv))
    for function in FUNCTIONS_COMPARED:
        state = (q, qd, x)[: len(FUNCTIONS[function].takes)]
        answers = [getattr(robot.reference, function)(*state) for robot in robots.values()]
        flops = [trace(merged_model(robot), function).flops() for robot in robots.values()]
        assert max(flops) <= (1 + SHARE) * min(flops), (function, flops)
        for answer in answers[1:]:
            np.testing.assert_allclose(answer, answers[0], rtol=1e-9, atol=1e-9 * np.abs(answers[0]).max())
    before = [trace_as_described(merged_model(robot), "mass_matrix").flops() for robot in robots.values()]
    assert max(before) > 1.3 * min(before)  # with frames at centers of mass


@pytest.mark.parametrize("name", cr.robots())
def test_no_robot_costs_more_than_with_the_frames_of_its_description(name):
    robot = cr.load(name)
    for function in ("inverse_dynamics", "mass_matrix"):
        options = options_of(robot, function, {})
        assert trace(merged_model(robot), function, **options).flops() <= (
            trace_as_described(merged_model(robot), function, **options).flops()
        )
