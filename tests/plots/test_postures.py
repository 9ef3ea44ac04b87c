"""Pictures of postures: what is drawn, where, and to which scale."""

import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from formats.samples import BODY
from matplotlib.figure import Figure
from matplotlib.path import Path as Outline

import chainrule as cr

ROBOTS = ["pendulum", "planar_2r", "panda", "ur5", "human_arm", "four_bar", "stewart_platform", "quadruped", "scara",
          "cartesian_3p", "slider_crank", "double_pendulum"]  # fmt: skip


def by_gid(figure, start):
    return [artist for artist in figure.findobj() if str(artist.get_gid() or "").startswith(start)]


@pytest.fixture(autouse=True)
def no_open_figures():
    plt.close("all")
    yield
    plt.close("all")


@pytest.mark.parametrize("name", ROBOTS)
def test_every_robot_is_drawn_without_a_posture_or_a_link(name, tmp_path):
    robot = cr.load(name)
    figure = robot.plot(None, tmp_path / "home.svg")
    axes = figure.axes[0]
    if axes.name == "3d":
        (bodies,) = by_gid(figure, "bodies")
        assert bodies.get_zorder() > 5
        assert by_gid(figure, "ground")
        assert by_gid(figure, "shadow")
    else:
        assert by_gid(figure, "link ")
    labels = {str(label.get_gid()) for label in by_gid(figure, "name ")}
    wanted = set() if len(robot.joint_names) > 12 else {f"name {joint}" for joint in robot.joint_names}
    assert labels >= wanted


def test_branching_robots_are_drawn_with_ellipsoids_at_all_tips():
    figure = cr.load("quadruped").plot(ellipsoids=["velocity"])
    assert len(by_gid(figure, "ellipsoid velocity")) == 4


def test_the_four_bar_is_drawn_closed_in_its_plane():
    robot = cr.load("four_bar")
    q = robot.loops.close([0.8, 0, 0], hold=["crank"])
    figure = robot.plot(q)
    assert figure.axes[0].name != "3d"
    T = robot.poses(q)
    crank, coupler, rocker = (T[robot.link_names.index(f"{name}_link")] for name in ("crank", "coupler", "rocker"))
    pin = (rocker @ [0.5, 0, 0, 1])[:2]
    ends = {
        "link crank_link": [crank[:2, 3], coupler[:2, 3]],
        "link coupler_link": [coupler[:2, 3], pin],
        "link rocker_link": [rocker[:2, 3], pin],
        "base ground": [crank[:2, 3], rocker[:2, 3]],
    }
    for gid, points in ends.items():
        (patch,) = by_gid(figure, gid)
        outline = Outline(patch.get_xy())
        assert outline.contains_points(points, radius=1e-9).all(), gid
    assert not by_gid(figure, "gaps")
    assert by_gid(robot.plot([1.0, 0, 0]), "gaps")


def test_limits_view_and_size_are_those_asked_for():
    box = [(-1, 1), (-2, 2), (0, 3)]
    figure = cr.load("panda").plot(limits=box, view=(10, 30), size=(4, 3))
    axes = figure.axes[0]
    assert [axes.get_xlim(), axes.get_ylim(), axes.get_zlim()] == [tuple(pair) for pair in box]
    assert (axes.elev, axes.azim) == (10, 30)
    assert figure.get_size_inches().tolist() == [4, 3]
    flat = cr.load("planar_2r").plot(limits=box)
    assert flat.axes[0].get_xlim() == (-1, 1)
    assert cr.load("planar_2r").plot(view="top").axes[0].name == "3d"


def test_axes_that_are_given_are_drawn_on():
    figure = Figure()
    solid, flat = figure.add_subplot(121, projection="3d"), figure.add_subplot(122)
    assert cr.load("panda").plot(ax=solid) is figure
    assert cr.load("planar_2r").plot(ax=flat) is figure
    assert flat.patches
    assert solid.collections
    other = Figure().add_subplot(projection="3d")
    assert cr.load("planar_2r").plot(ax=other).axes == [other]


def test_all_of_several_postures_lie_inside_the_limits():
    robot = cr.load("ur5")
    q = robot.random_state(np.random.default_rng(1), (6,))
    axes = robot.plot(q, names=False).axes[0]
    origins = robot.poses(q)[..., :3, 3].reshape(-1, 3)
    for k, (low, high) in enumerate((axes.get_xlim(), axes.get_ylim(), axes.get_zlim())):
        assert low - 1e-9 <= origins[:, k].min()
        assert origins[:, k].max() <= high + 1e-9


def test_the_shadow_lies_on_the_ground_below_the_bodies():
    figure = cr.load("scara").plot()
    axes = figure.axes[0]
    (shadow,) = by_gid(figure, "shadow")
    heights = np.asarray(shadow._faces)[1:, :, 2]
    assert np.allclose(heights, axes.get_zlim()[0])


def test_ellipsoids_of_one_kind_have_one_scale():
    robot = cr.load("planar_3r")
    q = np.array([[0.2, 0.5, 0.5], [0.2, 1.5, 1.0]])
    figure = robot.plot(q, ellipsoids=["velocity"], ellipsoid_scale=0.1)
    drawn = by_gid(figure, "ellipsoid velocity")
    longest = [np.linalg.norm(p.get_xy() - p.get_xy()[:-1].mean(axis=0), axis=1).max() for p in drawn]
    wanted = [0.1 * robot.analysis.ellipsoid(each, task="position").lengths[0] for each in q]
    assert longest == pytest.approx(wanted, rel=1e-2)
    own = robot.plot(q, ellipsoids=["velocity"])
    ratio = [np.ptp(p.get_xy(), axis=0).max() for p in by_gid(own, "ellipsoid velocity")]
    assert ratio[0] / ratio[1] == pytest.approx(
        np.ptp(drawn[0].get_xy(), axis=0).max() / np.ptp(drawn[1].get_xy(), axis=0).max()
    )


@pytest.mark.parametrize(
    "name", ["panda", "ur5", "human_arm", "puma560", "planar_3r", "four_bar", "quadruped", "stanford"]
)
def test_names_do_not_lie_on_each_other(name):
    figure = cr.load(name).plot(names=True)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    boxes = [Textbox(label, renderer) for label in by_gid(figure, "name ")]
    assert boxes
    for k, a in enumerate(boxes):
        for b in boxes[k + 1 :]:
            assert not a.overlaps(b), (a.text, b.text)


def test_the_name_of_a_sliding_joint_is_at_its_sleeve_and_not_at_the_end_of_the_slide():
    along = np.eye(4)
    along[0, 3] = 0.3
    robot = cr.load("planar_rp").edit(joints={"joint2": {"origin": along}})
    _, label = by_gid(robot.plot([np.pi / 2, 0.8], names=True), "name joint")
    assert np.allclose(label.point, [0.0, 0.3])


class Textbox:
    """The box of the text of a label, without its line."""

    def __init__(self, label, renderer):
        self.text = label.get_text()
        self.box = matplotlib.text.Text.get_window_extent(label, renderer)

    def overlaps(self, other):
        return self.box.shrunk(0.96, 0.8).overlaps(other.box.shrunk(0.96, 0.8))


def test_pictures_can_be_told_apart_in_grey():
    from chainrule.plots.canvas import BODY_COLORS, CURVE_COLORS, CURVE_MARKERS, JOINT_COLOR

    def grey(color):
        return float(np.dot(matplotlib.colors.to_rgb(color), [0.299, 0.587, 0.114]))

    assert grey(BODY_COLORS[0]) - grey(JOINT_COLOR) > 0.12
    assert len({(color, mark) for color, mark in zip(CURVE_COLORS * 3, CURVE_MARKERS * 2, strict=False)}) > 15


def with_geometry(shapes):
    document = {
        "format": "chainrule 1", "name": "seen", "link": [{"name": "base"}, {"name": "arm", **BODY}],
        "joint": [{"name": "j", "type": "continuous", "parent": "base", "child": "arm", "axis": [0, 0, 1]}],
        "geometry": [{"link": "arm", "role": "visual", **shape} for shape in shapes],
    }  # fmt: skip
    return cr.load(json.dumps(document), check=False)


def test_visual_geometry_is_drawn_where_there_is_some(tmp_path):
    from chainrule.plots.bodies import bodies

    shapes = [
        {"box": {"size": [0.2, 0.4, 0.6]}},
        {"sphere": {"radius": 0.1}},
        {"cylinder": {"radius": 0.1, "length": 0.5}},
    ]
    try:
        robot = with_geometry(shapes)
    except cr.ChainruleError:
        robot = with_geometry([{"shape": next(iter(s)), **next(iter(s.values()))} for s in shapes])
    body = bodies(robot)
    assert body.style == "visual"
    assert len(body.parts) == 3
    assert np.allclose(np.ptp(body.parts[0].surface.corners, axis=0), [0.2, 0.4, 0.6])
    assert bodies(robot, "capsules").style == "capsules"
    robot.plot(None, tmp_path / "seen.png")


@pytest.mark.filterwarnings("ignore:.*is not found")
def test_meshes_are_drawn_as_far_as_they_can_be_read(tmp_path):
    from chainrule.model.geometry import Geometry, Mesh
    from chainrule.plots.bodies import bodies
    from chainrule.spatial import Vector

    (tmp_path / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    shapes = [Mesh("part.obj", Vector(0.1, 0.1, 0.1), str(tmp_path)), Mesh("missing.stl", folder=str(tmp_path))]
    model = with_geometry([]).model
    from dataclasses import replace

    robot = cr.Robot(replace(model, geometries=tuple(Geometry("arm", shape) for shape in shapes)))
    (part,) = bodies(robot).parts
    assert np.allclose(part.surface.corners.max(axis=0), 0.1)
    robot.plot(None, tmp_path / "mesh.png")
    both = [Geometry("arm", shapes[1]), Geometry("base", shapes[0])]
    mixed = bodies(cr.Robot(replace(model, geometries=tuple(both))))
    assert {part.role for part in mixed.parts if part.name == "arm"} == {"link"}  # a bar where the mesh is missing


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"view": "behind"}, "no view named 'behind'"),
        ({"view": (1, 2, 3)}, "view must be elevation and azimuth"),
        ({"limits": [(0, 1)]}, "limits must be 3 pairs"),
        ({"limits": [(1, 0), (0, 1), (0, 1)]}, "low below high"),
        ({"size": (0, 3)}, "size must be the width and the height"),
        ({"style": "glass"}, "no style of bodies named 'glass'"),
        ({"ax": 3}, "ax must be axes of Matplotlib"),
        ({"ellipsoid_scale": -1, "ellipsoids": ["velocity"]}, "a positive length in m"),
        ({"q": [np.nan, 0]}, "nothing to draw"),
        ({"names": 3}, "names must be True or False"),
    ],
)  # fmt: skip
def test_wrong_options_are_named(options, message):
    with pytest.raises(cr.ChainruleError, match=message):
        cr.load("planar_2r").plot(**options)


def test_a_robot_in_space_refuses_plain_axes():
    with pytest.raises(cr.ShapeError, match="projection='3d'"):
        cr.load("panda").plot(ax=Figure().add_subplot())


def test_figures_are_pyplots_where_something_shows_them_and_nobodys_where_not(tmp_path, monkeypatch):
    robot = cr.load("planar_2r")
    motion = robot.simulate([0.1, 0.2], None, 0.01)
    for _ in range(3):
        robot.plot()
        motion.plot()
    assert plt.get_fignums() == []  # tests run without a display
    monkeypatch.setattr("chainrule.plots.canvas.shows_figures", lambda: True)
    figure = robot.plot()
    assert plt.gcf() is figure
    robot.plot(None, tmp_path / "a.png")
    robot.plot(ax=Figure().add_subplot())
    assert len(plt.get_fignums()) == 1


def test_backends_that_show_figures_are_known(monkeypatch):
    from chainrule.plots.canvas import shows_figures

    found = {}
    for backend in ("agg", "pdf", "tkagg", "module://matplotlib_inline.backend_inline", "inline", "widget"):
        monkeypatch.setattr(matplotlib, "get_backend", lambda backend=backend: backend)
        found[backend] = shows_figures()
    assert list(found.values())[:2] == [False, False]
    assert found["tkagg"]
    assert found["module://matplotlib_inline.backend_inline"]
    assert found["inline"]


def test_a_thread_makes_no_figures_of_pyplot(monkeypatch):
    from concurrent.futures import ThreadPoolExecutor

    from chainrule.plots.canvas import shows_figures

    monkeypatch.setattr(matplotlib, "get_backend", lambda: "tkagg")
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(shows_figures).result() is False


def test_meshes_that_cannot_be_drawn_are_told_once(tmp_path):
    (tmp_path / "broken.stl").write_text("no mesh")
    bodies = "".join(
        f'<link name="l{k}"><visual><geometry><mesh filename="{file}"/></geometry></visual></link>'
        f'<joint name="j{k}" type="revolute"><parent link="base"/><child link="l{k}"/><axis xyz="0 1 0"/></joint>'
        for k, file in enumerate(("broken.stl", "gone.stl"))
    )
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm"><link name="base"/>{bodies}</robot>')
    robot = cr.load(path, check=False)
    with pytest.warns(
        cr.ModelWarning, match=r"'arm': l0: broken.stl has no triangles \(and 1 more\); such links are drawn"
    ):
        robot.plot([0.1, 0.2])
    robot.plot([0.1, 0.2])
