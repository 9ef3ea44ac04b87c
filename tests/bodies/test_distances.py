"""Distances of robots as functions of the table: compiled, differentiated, in every framework, with worlds as inputs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr
from chainrule.algorithms import kinematics
from chainrule.algorithms.separation import separation
from chainrule.compile.runtime import memory_cache

WORLD = (
    cr.World()
    .box("table", size=(1, 1, 0.05), xyz=(0.5, 0, -0.03))
    .sphere("ball", radius=0.1, xyz=(0.4, 0.2, 0.4))
    .half_space("floor", point=(0, 0, -0.5))
    .capsule("post", 0.05, 0.3, (0.5, 0.5, 0.5), (1, 0, 0))
)
CURVED = WORLD.cylinder("can", 0.05, 0.2, (-0.4, 0.3, 0.2)).ellipsoid("egg", (0.1, 0.15, 0.2), (0.3, -0.5, 0.5))


def states(robot, count=60, seed=0):
    return robot.random_state(np.random.default_rng(seed), (count,))


def test_compiled_distances_are_those_of_the_reference():
    robot = cr.load("panda")
    q = states(robot)
    for world in (None, WORLD):
        assert np.allclose(robot.distances(q, world), robot.reference.distances(q, world), atol=1e-12)
        assert np.allclose(robot.clearance(q, world), robot.distances(q, world).min(axis=-1), atol=1e-15)
    near = CURVED
    assert np.allclose(robot.distances(q, near), robot.reference.distances(q, near), atol=1e-4)


@pytest.mark.interpreted
def test_the_nearest_points_are_on_the_bodies_and_as_far_apart_as_the_distance():
    robot = cr.load("panda").reference
    q = states(robot, 20)
    found = robot.bodies.nearest(q, WORLD)
    assert found.distance.shape == (20, len(robot.bodies.pairs_with(WORLD)))
    assert np.allclose(found.distance, robot.distances(q, WORLD))
    assert np.allclose(((found.point_b - found.point_a) * found.normal).sum(-1), found.distance, atol=1e-12)
    assert np.allclose(np.linalg.norm(found.normal, axis=-1), 1)
    k = robot.bodies.pairs_with(WORLD).index((robot.bodies.names[-1], "ball"))
    center = np.array(WORLD["ball"].origin.translation)
    assert np.allclose(np.linalg.norm(found.point_b[:, k] - center, axis=-1), 0.1)


@pytest.mark.parametrize("name", ["panda", "quadruped", "scara"])
@pytest.mark.parametrize("smooth", [0.0, 0.02])
@pytest.mark.interpreted
def test_the_derivative_is_the_change_along_each_velocity(name, smooth):
    robot, step = cr.load(name).reference, 1e-6
    q = states(robot, 12)
    row = robot.clearance_dq(q, WORLD, smooth=smooth)
    moves = [
        [robot.clearance(robot.integrate(q, sign * step * e), WORLD, smooth=smooth) for sign in (1, -1)]
        for e in np.eye(robot.nv)
    ]
    expected = np.stack([(ahead - behind) / (2 * step) for ahead, behind in moves], axis=-1)
    wrong = np.abs(row - expected).max(axis=-1) > 1e-5
    assert wrong.sum() <= 2  # another pair, or another face of a box, may become the nearest within a step


@pytest.mark.interpreted
def test_many_obstacles_give_what_they_give_in_one_kernel(monkeypatch):
    robot, world = cr.load("panda").reference, WORLD
    for k in range(6):
        world = world.box(f"box{k}", (0.1, 0.1, 0.2), (0.3, 0.2 * k - 0.5, 0.2 * k))
    q = states(robot, 15)[:, None]
    calls = [
        lambda: robot.distances(q, world), lambda: robot.clearance(q, world), lambda: robot.clearance_dq(q, world),
        lambda: robot.bodies.nearest(q, world).point_a, lambda: robot.clearance(q[0, 0], world),
        lambda: robot.clearance_dq(q[0, 0], world),
    ]  # fmt: skip
    smooth, row = robot.clearance(q, world, smooth=0.01), robot.clearance_dq(q, world, smooth=0.01)
    by_kind = [call() for call in calls]
    out = np.empty((15, 1))
    assert robot.clearance(q, world, out=out) is out
    assert np.array_equal(out, by_kind[1])
    monkeypatch.setattr("chainrule.bodies.distances.MAX_TOGETHER", 100)
    for call, expected in zip(calls, by_kind, strict=True):
        assert np.allclose(call(), expected, atol=1e-12)
    assert np.allclose(smooth, robot.clearance(q, world, smooth=0.01), atol=0.01)
    assert np.allclose(row, robot.clearance_dq(q, world, smooth=0.01), atol=0.2)


@pytest.mark.interpreted
def test_the_smooth_clearance_is_a_little_below_the_exact_one():
    robot = cr.load("panda").reference
    q = states(robot, 20)
    exact, smooth = robot.clearance(q, WORLD), robot.clearance(q, WORLD, smooth=0.01)
    halvings = np.ceil(np.log2(len(robot.bodies.pairs_with(WORLD))))
    assert (smooth < exact).all()
    assert (exact - smooth <= 0.005 * halvings).all()


def test_moving_an_obstacle_compiles_nothing():
    robot = cr.load("panda")
    q = states(robot)
    before = robot.clearance(q, WORLD)
    kept = set(memory_cache._kept)
    after = robot.clearance(q, WORLD.move("ball", (0.3, 0.1, 0.6)))
    assert set(memory_cache._kept) == kept
    assert not np.allclose(before, after)


def test_distances_in_torch_jax_casadi_dask_and_single_precision():
    torch, jax, ca, da = (pytest.importorskip(x) for x in ("torch", "jax", "casadi", "dask.array"))
    robot = cr.load("panda")
    q = states(robot)
    value, row = robot.clearance(q, WORLD), robot.clearance_dq(q, WORLD)
    tensor = torch.tensor(q, requires_grad=True)
    found = robot.torch.clearance(tensor, world=WORLD)
    found.sum().backward()
    assert np.allclose(found.detach().numpy(), value)
    assert np.allclose(tensor.grad.numpy(), row)
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        gradient = jax.vmap(jax.grad(lambda x: robot.jax.clearance(x, world=WORLD)))(q)
    assert np.allclose(np.asarray(gradient), row)
    x = ca.SX.sym("q", 7)
    assert float(ca.Function("d", [x], [robot.casadi.clearance(x, world=WORLD)])(q[0])) == pytest.approx(value[0])
    lazy = robot.clearance(da.from_array(q, chunks=(20, 7)), WORLD)
    assert np.allclose(lazy.compute(), value)
    single = robot.clearance(q.astype(np.float32), WORLD)
    assert single.dtype == np.float32
    assert np.allclose(single, value, atol=1e-5)
    rates = robot.derivatives.jvp("clearance", {"q": q, "world": WORLD}, {"q": np.ones(7)})
    assert np.allclose(rates, row.sum(axis=-1), atol=1e-12)


@pytest.mark.interpreted
def test_numbers_of_the_robot_that_are_bound_move_its_bodies():
    robot = cr.load("planar_3r").reference
    world = cr.World().sphere("ball", 0.1, (5, 0, 0))
    q, longer = [0.0, 0.0, 0.0], {"joint2.origin.x": 1.5}
    assert robot.at(longer).distances(q, world)[-1] == pytest.approx(robot.distances(q, world)[-1] - 0.5)


@pytest.mark.interpreted
def test_wrong_arguments_are_refused():
    robot = cr.load("panda").reference
    q = robot.home()
    with pytest.raises(cr.ShapeError, match=r"world must be a cr\.World, got 'shelf'"):
        robot.clearance(q, "shelf")
    with pytest.raises(cr.ShapeError, match="smooth must be a length"):
        robot.clearance(q, smooth=-1)
    with pytest.raises(cr.ModelError, match="no pair of bodies that is checked"):
        cr.load("pendulum").reference.clearance([0.0])
    assert cr.load("pendulum").reference.distances([0.0]).shape == (0,)
    with pytest.raises(cr.ShapeError, match=r"world must be a cr\.World, got 3"):
        robot.casadi.clearance(q, world=3)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", cr.robots())
def test_every_bundled_robot_is_free_at_home(name):
    robot = cr.load(name)
    poses = kinematics.poses(robot.model, robot.home().tolist())
    solids = {b.name: b.solid.moved_by(poses[robot.model.index_of[b.link]]) for b in robot.bodies}
    assert all(separation(solids[a], solids[b]).distance > 0 for a, b in robot.bodies.pairs)


@pytest.mark.peer
def test_the_benchmark_agrees_with_coal(capsys):
    pytest.importorskip("coal")
    pytest.importorskip("pinocchio")
    file = Path(__file__).parents[2] / "benchmarks" / "bodies.py"
    spec = importlib.util.spec_from_file_location("bodies_benchmark", file)
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    try:
        benchmark.main(200, 1, False, None)
    finally:
        cr.set_threads(None)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(",")[0] for line in lines if "largest difference" in line] == [
        "21 pairs of capsules", "59 balls"
    ]  # fmt: skip
    assert all(float(line.split("difference ")[1].split()[0]) < 1e-12 for line in lines if "largest difference" in line)
