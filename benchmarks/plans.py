"""Plans around obstacles: random pairs of free configurations of bundled arms, in an empty and in a furnished world.

    python benchmarks/plans.py [--pairs COUNT] [--quick] [--output FOLDER]

Every plan is looked at again at 10,000 places in time that are not the planner's own: limits of positions, speeds and
torques, and the exact clearance. Robots whose files have no limits of speed and torque get a limit on acceleration.
Inverse kinematics is asked for poses in a shelf that some clear configuration has. A controller that keeps clear moves
a Panda among five obstacles towards random poses, most of which it cannot reach.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import chainrule as cr
from chainrule.cli.benchmark.figures import write_figures
from chainrule.cli.benchmark.timing import best

ARMS = (
    "panda",
    "fr3",
    "ur5",
    "ur3e",
    "ur5e",
    "ur10e",
    "ur16e",
    "iiwa14",
    "gen3",
    "xarm7",
    "so101",
    "puma560",
    "wx250s",
)
PAIRS = 1000
CLEARANCE = 0.005
TIME_LIMIT_S = 5.0
PLACES = 10_007
ACCELERATION = 10.0


def worlds(reach: float) -> dict[str, cr.World | None]:
    """An empty world, and one with a table, a shelf's board, a pole and a ball, in the measure of an arm's reach."""
    r = reach
    table = cr.World().box("table", size=(r, 2 * r, 0.05 * r), xyz=(0.75 * r, 0, -0.1 * r))
    return {
        "empty": None,
        "furnished": table.box("board", size=(0.5 * r, 0.6 * r, 0.03 * r), xyz=(0.75 * r, 0, 0.35 * r))
        .capsule("pole", radius=0.03 * r, length=1.5 * r, xyz=(-0.45 * r, 0.45 * r, 0.3 * r))
        .sphere("ball", radius=0.12 * r, xyz=(0.1 * r, -0.6 * r, 0.4 * r)),
    }


def free_configurations(robot: cr.Robot, world: cr.World | None, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random configurations (count, n) that are clear; fewer where hardly any is."""
    found = np.zeros((0, robot.nq))
    for _ in range(50):
        q = robot.random_state(rng, (2 * count,))
        found = np.concatenate([found, q[robot.clearance(q, world) >= CLEARANCE]])
        if len(found) >= count:
            break
    return found[:count]


def excess(robot: cr.Robot, motion: cr.Reference, world: cr.World | None) -> float:
    """The share by which a motion exceeds its worst limit, or the length by which it comes too near; 0 is allowed."""
    q, qd, qdd = motion(np.linspace(0.0, motion.duration, PLACES)[1:-1])
    torque = np.abs(robot.inverse_dynamics(q, qd, qdd)) / robot.limits.effort - 1
    return max(
        float((robot.limits.lower - q).max()), float((q - robot.limits.upper).max()),
        float((np.abs(qd) / robot.limits.velocity).max()) - 1, float(torque.max()),
        CLEARANCE - float(robot.clearance(q, world).min()),
    )  # fmt: skip


def plans(name: str, kind: str, pairs: int) -> dict[str, float]:
    """Times of planning and the worst excess, of random pairs."""
    robot = cr.load(name)
    T = np.asarray(robot.poses(robot.random_state(np.random.default_rng(0), (200,))))
    world = worlds(float(np.linalg.norm(T[..., :3, 3], axis=-1).max()))[kind]
    rng = np.random.default_rng(1)
    ends = free_configurations(robot, world, 2 * pairs, rng)
    pairs = len(ends) // 2
    limited = np.isfinite(robot.limits.velocity).all() or np.isfinite(robot.limits.effort).all()
    options = {} if limited else {"acceleration": ACCELERATION}
    seconds, worst, refused, reasons = [], -np.inf, 0, set()
    for k in range(pairs):
        begin = time.perf_counter()
        try:
            motion = cr.plan(
                robot,
                ends[2 * k : 2 * k + 2],
                world=world,
                clearance=CLEARANCE,
                seed=k,
                time_limit=TIME_LIMIT_S,
                **options,
            )
        except cr.ChainruleError as error:
            refused += 1
            reasons.add(str(error)[:160])
            continue
        seconds.append(time.perf_counter() - begin)
        worst = max(worst, excess(robot, motion, world))
    for reason in sorted(reasons)[:3]:
        print(f"    refused: {reason}")
    quantiles = np.quantile(seconds[1:] or [np.nan], [0.5, 0.95])  # the first compiles
    return {
        "pairs": pairs, "planned": len(seconds), "refused": refused, "median_seconds": float(quantiles[0]),
        "p95_seconds": float(quantiles[1]), "worst_excess": float(worst),
    }  # fmt: skip


def shelf_poses(count: int) -> dict[str, float]:
    """Inverse kinematics of a Panda in a shelf: the share that is found of what can be, and the time of a pose."""
    robot = cr.load("panda")
    shelf = cr.World()
    for board, size, xyz in (
        ("bottom", (0.4, 0.8, 0.02), (0.55, 0, 0.2)), ("top", (0.4, 0.8, 0.02), (0.55, 0, 0.6)),
        ("back", (0.02, 0.8, 0.4), (0.75, 0, 0.4)), ("left", (0.4, 0.02, 0.4), (0.55, 0.4, 0.4)),
        ("right", (0.4, 0.02, 0.4), (0.55, -0.4, 0.4)),
    ):  # fmt: skip
        shelf = shelf.box(board, size=size, xyz=xyz)
    rng, found = np.random.default_rng(0), []
    while sum(map(len, found)) < count:
        q = robot.random_state(rng, (100_000,))
        T = robot.pose(q)
        x, y, z = T[:, :3, 3].T
        inside = (x > 0.4) & (x < 0.72) & (np.abs(y) < 0.36) & (z > 0.24) & (z < 0.56)
        found.append(T[inside][robot.clearance(q[inside], shelf) >= 0.01])
    poses = np.concatenate(found)[:count]
    solved = robot.inverse_kinematics(poses, world=shelf, clearance=0.01)
    good = robot.clearance(solved.q[solved.success], shelf).min() >= 0.01
    assert good
    seconds = best(lambda: robot.inverse_kinematics(poses, world=shelf, clearance=0.01), 1.0)
    return {"poses": count, "solved": float(solved.success.mean()), "seconds_per_pose": seconds / count}


def ticks(legs: int) -> dict[str, float]:
    """Calls of a controller that keeps clear of five obstacles: their times, and the smallest clearance on the way."""
    robot, rng = cr.load("panda"), np.random.default_rng(0)
    world = (
        cr.World()
        .box("table", size=(1, 1, 0.05), xyz=(0.5, 0, -0.05))
        .box("block", size=(0.2, 0.2, 0.2), xyz=(0.6, -0.4, 0.2))
    )
    world = world.box("wall", size=(0.3, 0.02, 0.7), xyz=(0.55, 0.3, 0.35)).sphere(
        "ball", radius=0.1, xyz=(0.4, -0.3, 0.5)
    )
    world = world.capsule("pole", radius=0.03, length=1.0, xyz=(-0.4, 0.4, 0.3))
    controller, q = cr.KeepClear(robot, world, clearance=CLEARANCE), robot.home()
    controller.towards(q, robot.pose(q))  # compiles
    seconds, smallest = [], np.inf
    for goal in robot.pose(robot.random_state(rng, (legs,))):
        for _ in range(1000):
            begin = time.perf_counter()
            qd = controller.towards(q, goal)
            seconds.append(time.perf_counter() - begin)
            q = q + 1e-3 * qd
            smallest = min(smallest, float(robot.clearance(q, world)))
    median, most = np.quantile(seconds, [0.5, 0.99])
    return {
        "calls": len(seconds), "median_seconds": float(median), "p99_seconds": float(most),
        "smallest_clearance": smallest, "clearance": CLEARANCE,
    }  # fmt: skip


def main(pairs: int, quick: bool, output: str | None) -> None:
    cr.set_threads(1)
    figures: dict[str, dict[str, float]] = {}
    for name in ARMS[:2] if quick else ARMS:
        for kind in ("empty", "furnished"):
            row = figures[f"{name}_{kind}"] = plans(name, kind, 10 if quick else pairs)
            median, most = (1e3 * row[key] for key in ("median_seconds", "p95_seconds"))
            print(
                f"{name}, {kind}: {row['planned']} of {row['pairs']} planned, median {median:.0f} ms, 95 % within "
                f"{most:.0f} ms; worst excess {row['worst_excess']:.1e}",
                flush=True,
            )
    row = figures["shelf"] = shelf_poses(500 if quick else 10_000)
    print(
        f"poses in a shelf: {100 * row['solved']:.2f} % of {row['poses']} solved and clear, "
        f"{1e6 * row['seconds_per_pose']:.1f} us each"
    )
    row = figures["keep_clear"] = ticks(3 if quick else 30)
    print(
        f"a controller that keeps clear of five obstacles: median {1e6 * row['median_seconds']:.0f} us, 99 % within "
        f"{1e6 * row['p99_seconds']:.0f} us; smallest clearance {1e3 * row['smallest_clearance']:.2f} mm of "
        f"{1e3 * CLEARANCE:g} mm"
    )
    if output:
        write_figures(output, "plans", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of configurations for each arm and world")
    parser.add_argument("--quick", action="store_true", help="two arms, few pairs")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    main(options.pairs, options.quick, options.output)
