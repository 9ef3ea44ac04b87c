"""Distances of a Panda's own bodies, a state in a batch on one thread, beside coal through Pinocchio in the same run.

    python benchmarks/bodies.py [--states N] [--rounds R] [--gpu] [--output FOLDER]

A capsule stands for each of eight links, 21 pairs that are not neighbours; or 59 balls do, along the same capsules.
Both sides have the same shapes and pairs, and agree. The loop over coal calls `computeDistances` for each state. With
--gpu it is states a second on a CUDA device, through CuPy.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.timing import best_in_turns
from chainrule.model import Capsule, Geometry, Sphere
from chainrule.spatial import Transform

CAPSULES = {
    "panda_link0": (0.07, (-0.06, 0, 0.05), (0.0, 0, 0.05)), "panda_link1": (0.06, (0, 0, -0.19), (0, 0, 0.0)),
    "panda_link2": (0.06, (0, 0, -0.06), (0, 0, 0.06)), "panda_link3": (0.06, (0, 0, -0.15), (0, 0, -0.02)),
    "panda_link4": (0.06, (0, 0, -0.06), (0, 0, 0.06)), "panda_link5": (0.05, (0, 0, -0.26), (0, 0.08, 0.0)),
    "panda_link6": (0.05, (0, 0, -0.03), (0.04, 0, 0.0)), "panda_link7": (0.04, (0, 0, 0.0), (0, 0, 0.1)),
}  # fmt: skip
"""Radius and ends of the capsule on each link, in m."""
COUNTS = (6, 9, 7, 8, 7, 9, 6, 7)
"""Balls along each capsule."""


def robot_with(balls: bool) -> cr.Robot:
    """The Panda with a capsule, or balls along it, on each link, and all pairs but those of neighbours."""
    panda = cr.load("panda")
    shapes = []
    for (link, (radius, *ends)), count in zip(CAPSULES.items(), COUNTS, strict=True):
        a, b = np.array(ends, dtype=float)
        if balls:
            places = np.linspace(a, b, count).tolist()
            shapes += [Geometry(link, Sphere(radius), at(p), "collision") for p in places]
            continue
        z = (b - a) / np.linalg.norm(b - a)
        x = np.cross(np.eye(3)[int(np.abs(z).argmin())], z)
        x /= np.linalg.norm(x)
        T = np.eye(4)
        T[:3] = np.column_stack([x, np.cross(z, x), z, (a + b) / 2])
        shapes.append(
            Geometry(link, Capsule(radius, float(np.linalg.norm(b - a))), Transform.of(T.tolist()), "collision")
        )
    robot = cr.Robot(replace(panda.model, geometries=tuple(shapes)))
    for entry in robot.bodies.left_out:
        if entry.reason == "touch at home":
            robot = robot.bodies.with_pair(entry.body_a, entry.body_b)
    return robot


def at(point: list[float]) -> Transform:
    return Transform.from_xyz_rpy(point)


def with_coal(robot: cr.Robot, balls: bool) -> Callable[[np.ndarray], float]:
    """The clearance of one state by coal through Pinocchio."""
    import coal
    import pinocchio as pin

    from chainrule.cli.benchmark.peers import urdf

    model = pin.buildModelFromXML(urdf(robot))
    geometry, of_link = pin.GeometryModel(), {}
    for k, g in enumerate(robot.model.geometries):
        frame = model.frames[model.getFrameId(g.link)]
        shape = coal.Sphere(g.shape.radius) if balls else coal.Capsule(g.shape.radius, g.shape.length)
        place = frame.placement * pin.SE3(np.array(g.origin, dtype=float))
        index = geometry.addGeometryObject(pin.GeometryObject(str(k), frame.parentJoint, place, shape))
        of_link.setdefault(g.link, []).append(index)
    for a, b in robot.bodies.pairs:
        for i in of_link[a]:
            for j in of_link[b]:
                geometry.addCollisionPair(pin.CollisionPair(i, j))
    data, places = model.createData(), geometry.createData()

    def clearance(q: np.ndarray) -> float:
        nearest = pin.computeDistances(model, data, geometry, places, q)
        return places.distanceResults[nearest].min_distance

    return clearance


def on_gpu(robot: cr.Robot, states: int, rounds: int) -> dict[str, float]:
    """States a second of clearance and its derivative on a CUDA device."""
    import cupy

    found = {}
    for dtype in (np.float32, np.float64):
        q = cupy.asarray(robot.random_state(np.random.default_rng(0), (1 << 16,)), dtype=dtype)
        q = cupy.tile(q, (max(states >> 16, 1), 1))
        for name in ("clearance", "clearance_dq", "distances"):
            kernel = robot.compiled.kernel(name, target="cuda")
            out = kernel(q)
            check = getattr(robot, name)(cupy.asnumpy(q[:1000]).astype(float))
            off = float(np.quantile(np.abs(cupy.asnumpy(out[:1000]) - check), 0.99))
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            spent = []
            for _ in range(rounds):
                start.record()
                kernel(q, out=out)
                end.record()
                end.synchronize()
                spent.append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
            rate = len(q) / min(spent) / 1e9
            found[f"{name}, {np.dtype(dtype).name}"] = rate
            print(f"  {name:14s} {np.dtype(dtype).name}  {rate:6.2f} G states/s; 99% within {off:.1e} of the CPU")
    return found


def main(states: int, rounds: int, gpu: bool, output: str | None) -> None:
    cr.set_threads(1)
    figures: dict[str, float] = {}
    for balls in (False, True):
        robot = robot_with(balls)
        count = f"{sum(COUNTS)} balls" if balls else f"{len(robot.bodies.pairs)} pairs of capsules"
        if gpu:
            print(count)
            figures |= {f"{count}: {k}, G/s": x for k, x in on_gpu(robot, states, rounds).items()}
            continue
        q = robot.random_state(np.random.default_rng(0), (states,))
        some, theirs = q[: max(1, states // 50)], with_coal(robot, balls)
        expected = np.array([theirs(row) for row in some])
        apart = expected > 1e-6
        off = float(np.abs(robot.clearance(some) - expected)[apart].max(initial=0))
        calls = [
            lambda robot=robot, q=q: robot.clearance(q), lambda robot=robot, q=q: robot.clearance_dq(q),
            lambda robot=robot, q=q: robot.distances(q),
            lambda some=some, theirs=theirs: [theirs(row) for row in some],
        ]  # fmt: skip
        for call in calls:
            call()
        ns = np.divide(best_in_turns(calls, rounds), [states, states, states, len(some)]) * 1e9
        print(f"{count}, largest difference {off:.1e} m where they are apart")
        for label, x in zip(("clearance", "clearance_dq", "distances", "coal"), ns, strict=True):
            print(f"  {label:14s} {x:9.1f} ns a state")
            figures[f"{count}: {label}, ns"] = float(x)
        print(
            f"  coal is {ns[3] / ns[0]:.0f} times slower; the derivative takes {ns[1] / ns[0]:.2f} times the clearance"
        )
    if output:
        write_figures(output, "bodies", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--output")
    options = parser.parse_args()
    main(options.states, options.rounds, options.gpu, options.output)
