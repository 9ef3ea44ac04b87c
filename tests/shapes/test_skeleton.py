"""Skeletons: what is joined is drawn joined, loops are closed, platforms are plates."""

import json

import numpy as np
import pytest
from formats.samples import BODY

import chainrule as cr
from chainrule.shapes.skeleton import hull_2d, skeleton

FIXED = ["pendulum", "planar_2r", "planar_rp", "panda", "panda_hand", "ur5", "iiwa14", "human_arm", "scara", "stanford",
         "puma560", "cartesian_3p", "modern_robotics_3r", "four_bar", "slider_crank", "stewart_platform", "quadruped",
         "five_bar", "delta"]  # fmt: skip


def segments(robot, q=None):
    return skeleton(robot).segments_at(robot.poses(robot.home() if q is None else q))


def nodes_of(ends, tolerance=1e-6):
    """Points (k, 3) that lie at one place become one node: the node of each, and the number of nodes."""
    nodes = []
    which = []
    for point in ends:
        found = next((k for k, other in enumerate(nodes) if np.linalg.norm(point - other) < tolerance), None)
        which.append(len(nodes) if found is None else found)
        if found is None:
            nodes.append(point)
    return which, len(nodes)


def degrees(drawn):
    ends = np.concatenate([pair for _, pair in drawn])
    which, count = nodes_of(ends)
    return np.bincount(which, minlength=count)


@pytest.mark.parametrize("crank", [0.0, 0.7, 2.0, -1.5])
def test_the_four_bar_is_a_closed_quadrilateral(crank):
    robot = cr.load("four_bar")
    drawn = segments(robot, robot.loops.close([crank, 0, 0], hold=["crank"]))
    assert [kind for kind, _ in drawn] == ["bar"] * 4
    assert degrees(drawn).tolist() == [2, 2, 2, 2]
    lengths = sorted(float(np.linalg.norm(b - a)) for _, (a, b) in drawn)
    assert lengths == pytest.approx([0.1, 0.3, 0.5, 0.5])


def test_the_slider_crank_is_closed():
    drawn = segments(cr.load("slider_crank"))
    assert not [kind for kind, _ in drawn if kind == "gap"]
    assert (degrees(drawn) >= 2).all()


def test_the_stewart_platform_has_its_plate_on_its_legs():
    robot = cr.load("stewart_platform")
    places, T = skeleton(robot), robot.poses(robot.home())
    index = robot.link_names.index("platform")
    plate = places.links[index]
    assert len(plate.plate) == 6
    assert len(places.links[0].plate) == 6
    corners = plate.points[list(plate.plate)] @ T[index, :3, :3].T + T[index, :3, 3]
    ties = np.array([places.tie_at(tie, T)[0] for tie in places.ties])
    for tie in ties:
        assert np.linalg.norm(corners - tie, axis=1).min() < 1e-9
    assert "gap" not in [kind for kind, _ in segments(robot)]


def test_the_quadruped_has_a_trunk_with_four_legs():
    robot = cr.load("quadruped")
    assert [len(link.plate) for link in skeleton(robot).links if link.plate] == [4]
    feet = [robot.pose(robot.home(), tip)[:3, 3] for tip in robot.model.tips]
    ends = np.concatenate([pair for _, pair in segments(robot)])
    assert len(feet) == 4
    for foot in feet:
        assert np.linalg.norm(ends - foot, axis=1).min() < 1e-9


def test_an_open_loop_shows_its_gap():
    drawn = segments(cr.load("four_bar"), [1.0, 0.0, 0.0])
    gaps = [ends for kind, ends in drawn if kind == "gap"]
    assert len(gaps) == 1
    assert np.linalg.norm(gaps[0][1] - gaps[0][0]) > 0.1


@pytest.mark.parametrize("name", FIXED)
def test_all_drawn_parts_of_a_robot_on_a_base_hang_together(name):
    robot = cr.load(name)
    q = robot.random_state(np.random.default_rng(3))
    drawn = segments(robot, q)
    ends = np.concatenate([pair for _, pair in drawn])
    which, count = nodes_of(ends, 1e-6 * skeleton(robot).reach)
    parent = list(range(count))

    def root(k):
        while parent[k] != k:
            k = parent[k]
        return k

    for a, b in zip(which[::2], which[1::2], strict=True):
        parent[root(a)] = root(b)
    # the hull of a plate joins points inside of it too
    places = skeleton(robot)
    T = robot.poses(q)
    for k, link in enumerate(places.links):
        points = link.points @ T[k, :3, :3].T + T[k, :3, 3]
        ids = [j for j, end in enumerate(ends) if len(points) and np.linalg.norm(points - end, axis=1).min() < 1e-6]
        for a in ids[1:]:
            if link.plate:
                parent[root(which[a])] = root(which[ids[0]])
    assert len({root(k) for k in range(count)}) == 1


@pytest.mark.parametrize("name", FIXED)
def test_a_joint_sits_at_one_place_of_its_two_links_unless_it_slides(name):
    robot = cr.load(name)
    T = robot.poses(robot.random_state(np.random.default_rng(5)))
    for joint in skeleton(robot).joints:
        a, b = skeleton(robot).slide_at(joint, T)
        if joint.kind == "slides":
            along = T[joint.parent, :3, :3] @ joint.axis_in_parent
            assert np.linalg.norm(np.cross(b - a, along)) < 1e-9
        else:
            assert np.linalg.norm(b - a) < 1e-9, joint.name


def test_robots_of_tables_and_screws_hang_together():
    rows = [(0.0, np.pi / 2, 0.3, 0.0), (0.5, 0.0, 0.0, 0.0), (0.4, 0.0, 0.1, 0.2)]
    for convention in ("standard", "modified"):
        with pytest.warns(cr.ModelWarning, match="no masses"):
            robot = cr.Robot.from_dh(rows, convention=convention)
        T = robot.poses([0.3, 0.4, 0.5])
        for joint in skeleton(robot).joints:
            a, b = skeleton(robot).slide_at(joint, T)
            assert np.linalg.norm(b - a) < 1e-12


def test_a_rod_of_fixed_length_is_drawn_between_its_ends():
    links = [{"name": "base"}, {"name": "a", **BODY}, {"name": "b", **BODY}]
    joint = {"type": "continuous", "parent": "base", "axis": [0, 0, 1]}
    document = {
        "format": "chainrule 1", "name": "rods", "link": links,
        "joint": [{**joint, "name": "j1", "child": "a"}, {**joint, "name": "j2", "child": "b", "origin": {"xyz": [1, 0, 0]}}],
        "constraint": [{"name": "rod", "kind": "distance", "link_a": "a", "link_b": "b", "distance": 1.0,
                        "origin_a": {"xyz": [0, 1, 0]}, "origin_b": {"xyz": [0, 1, 0]}}],
    }  # fmt: skip
    robot = cr.load(json.dumps(document), check=False)
    rods = [ends for kind, ends in segments(robot, [0.0, 0.0]) if kind == "rod"]
    assert np.allclose(rods[0], [[0, 1, 0], [1, 1, 0]])


def test_planar_robots_know_their_plane():
    planes = {name: skeleton(cr.load(name)).normal for name in ("planar_2r", "four_bar", "pendulum", "panda", "scara")}
    assert planes == {"planar_2r": 2, "four_bar": 2, "pendulum": 2, "panda": None, "scara": None}


def test_the_hull_of_points():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.5, 0.0]])
    assert sorted(hull_2d(square)) == [0, 1, 2, 3]
    assert hull_2d(np.array([[2.0, 3.0]])) == [0]
    assert len(hull_2d(np.array([[0, 0], [1, 1], [2, 2]], dtype=float))) == 2
