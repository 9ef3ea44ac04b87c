"""How fast it is, beside its peers: the same functions on the same states in one run.

Times are the best of several repetitions; what holds from machine to machine are the ratios.
"""

from __future__ import annotations

import json
import os
import platform
import timeit
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from chainrule.compile.load import engine, threads
from chainrule.errors import ModelWarning
from chainrule.model import Joint, Link, Model, Screw
from chainrule.robot.library import load
from chainrule.robot.robot import Robot
from chainrule.spatial import Rotation, Symmetric, Transform, Vector

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "pose", "jacobian")
JOINTS = (5, 10, 20, 50, 100, 200)
BATCHES = (1, 8, 64, 512, 4096, 32768, 131072, 1_000_000)


def best(call: Callable[[], Any], seconds: float) -> float:
    """Seconds a call takes, the best of seven runs that together last about as long as given."""
    call()
    timer = timeit.Timer(call)
    number = max(1, int(seconds / 7 / max(timer.timeit(1), 1e-7)))
    return min(timer.repeat(7, number)) / number


class States:
    """Random states of a robot, the same for every peer."""

    def __init__(self, robot: Robot, count: int) -> None:
        rng = np.random.default_rng(0)
        self.q = robot.random_state(rng, (count,))
        self.qd, self.qdd = rng.normal(size=(2, count, robot.nv))

    def arguments(self, name: str) -> list[NDArray[np.float64]]:
        """What a function takes of them."""
        if name in ("inverse_dynamics", "forward_dynamics"):
            return [self.q, self.qd, self.qdd]
        return [self.q, self.qd] if name == "bias" else [self.q]


def kernels(robot: Robot, states: int, seconds: float) -> dict[str, dict[str, float]]:
    """For each function: nanoseconds a call, and a state in a batch on one thread, on all, and in single precision."""
    many = States(robot, states)
    table: dict[str, dict[str, float]] = {}
    for name in FUNCTIONS:
        arguments = many.arguments(name)
        one = [a[0].copy() for a in arguments]
        getattr(robot, name)(*one)
        call = getattr(robot, name)
        kernel = robot.kernel(name)
        single = [a.astype(np.float32) for a in arguments]
        out, out32 = kernel.spread(arguments), kernel.spread(single)

        def spread(k: Any = kernel, a: Any = arguments, o: Any = out, f: Any = None) -> None:
            threads.spread(f or k._double_ufunc, a, o, (states,), k.flops, k.lanes)

        row = {"call": best(lambda c=call, a=one: c(*a), seconds)}  # type: ignore[misc]
        threads.set_threads(1)
        row["batch"] = best(spread, seconds) / states
        row["float32"] = best(lambda k=kernel, a=single, o=out32: spread(k, a, o, k._single_ufunc), seconds) / states  # type: ignore[misc]
        threads.set_threads(None)
        row["threads"] = best(spread, seconds) / states
        table[name] = {key: value * 1e9 for key, value in row.items()}
        table[name]["flops"] = float(kernel.flops)
        table[name]["bytes"] = float(sum(a.nbytes for a in arguments) + out.nbytes) / states
        table[name]["compile"] = kernel.compile_seconds
    return table


def urdf(robot: Robot) -> str:
    """The robot for its peers; joints without limits get some, so that each is one angle to everybody."""

    def limited(joint: Joint) -> Joint:
        if joint.type not in ("continuous", "revolute") or np.isfinite(joint.dofs[0].lower):
            return joint
        dofs = (replace(joint.dofs[0], lower=-np.pi, upper=np.pi),)
        return replace(joint, kind=replace(joint.kind, name="revolute"), dofs=dofs)  # type: ignore[type-var]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # gravity is set by hand
        return Robot(replace(robot.model, joints=tuple(map(limited, robot.model.joints)))).to_urdf()


def pinocchio(robot: Robot, states: int, seconds: float) -> dict[str, dict[str, float]]:
    """Pinocchio's Python calls, and its own pool of threads where it has one for the function."""
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf(robot))
    model.gravity.linear = robot.gravity
    data = model.createData()
    many = States(robot, states)
    calls = {
        "inverse_dynamics": pin.rnea, "forward_dynamics": pin.aba, "mass_matrix": pin.crba,
        "bias": pin.nonLinearEffects, "pose": pin.forwardKinematics, "jacobian": pin.computeJointJacobians,
    }  # fmt: skip
    pools = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}
    table: dict[str, dict[str, float]] = {}
    for name, function in calls.items():
        arguments = many.arguments(name)
        one = [a[0].copy() for a in arguments]
        table[name] = {"call": best(lambda f=function, a=one: f(model, data, *a), seconds) * 1e9}  # type: ignore[misc]
        parallel = getattr(pin, pools.get(name, ""), None)
        if parallel is not None:
            columns = [np.asfortranarray(a.T) for a in arguments]
            for key, count in (("batch", 1), ("threads", os.cpu_count() or 1)):
                pool = pin.ModelPool(model, count)
                spent = best(lambda p=pool, n=count, c=columns, f=parallel: f(n, p, *c), seconds)  # type: ignore[misc]
                table[name][key] = spent / states * 1e9
    return table


def mujoco(robot: Robot, states: int, seconds: float) -> dict[str, dict[str, float]]:
    """MuJoCo, the state set and the function called, constraints off."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(urdf(robot))
    model.opt.gravity = robot.gravity
    model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mj.MjData(model)
    many = States(robot, 1)
    q, qd, qdd = many.q[0], many.qd[0], many.qdd[0]

    def inverse() -> None:
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mj.mj_inverse(model, data)

    def forward() -> None:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, qdd
        mj.mj_forward(model, data)

    def kinematics() -> None:
        data.qpos[:] = q
        mj.mj_kinematics(model, data)

    calls = {"inverse_dynamics": inverse, "forward_dynamics": forward, "pose": kinematics}
    return {name: {"call": best(call, seconds) * 1e9} for name, call in calls.items()}


def modern_robotics(robot: Robot, states: int, seconds: float) -> dict[str, dict[str, float]]:
    """The textbook's own code."""
    import modern_robotics as mr

    table = robot.to_screws()
    M, G, S = np.array(table.frames), np.array(table.inertias), table.screws
    many = States(robot, 1)
    q, qd, qdd, g, F = many.q[0], many.qd[0], many.qdd[0], robot.gravity, np.zeros(6)
    calls: dict[str, Callable[[], Any]] = {
        "inverse_dynamics": lambda: mr.InverseDynamics(q, qd, qdd, g, F, M, G, S),
        "forward_dynamics": lambda: mr.ForwardDynamics(q, qd, qdd, g, F, M, G, S),
        "mass_matrix": lambda: mr.MassMatrix(q, M, G, S),
        "pose": lambda: mr.FKinSpace(table.home, S, q),
        "jacobian": lambda: mr.JacobianSpace(S, q),
    }
    return {name: {"call": best(call, seconds) * 1e9} for name, call in calls.items()}


PEERS: dict[str, Callable[[Robot, int, float], dict[str, dict[str, float]]]] = {
    "pinocchio": pinocchio,
    "mujoco": mujoco,
    "modern_robotics": modern_robotics,
}


def snake(n: int) -> Robot:
    """A chain of n revolute joints about x and y in turn."""
    step = Transform(Rotation.identity(), Vector(0.0, 0.0, 0.1))
    axes = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0))
    body = (0.1, Vector(0.0, 0.0, 0.05), Symmetric(1e-4, 1e-4, 1e-5))
    links = [Link("base"), *(Link(f"link{i}", *body) for i in range(n))]
    joints = [
        Joint(f"joint{i}", links[i].name, f"link{i}", Screw.revolute(axes[i % 2], "continuous"), step) for i in range(n)
    ]
    return Robot(Model.build(f"snake{n}", links, joints))


def growth(joints: tuple[int, ...], seconds: float) -> list[dict[str, float]]:
    """Inverse dynamics of longer and longer chains: time to compile, and time a state, beside Pinocchio's call."""
    rows = []
    for n in joints:
        robot = snake(n)
        many = States(robot, 4096)
        os.environ["CHAINRULE_CACHE"] = "off"
        kernel = robot.kernel("inverse_dynamics")
        del os.environ["CHAINRULE_CACHE"]
        arguments = many.arguments("inverse_dynamics")
        out = kernel.spread(arguments)
        spent = best(lambda k=kernel, a=arguments, o=out: k._double_ufunc(*a, out=o), seconds) / 4096  # type: ignore[misc]
        row = {
            "joints": n,
            "compile": kernel.compile_seconds,
            "instructions": kernel.instructions,
            "batch": spent * 1e9,
        }
        if _have("pin"):
            row["pinocchio"] = pinocchio_call(robot, many, seconds)
        rows.append(row)
    return rows


def pinocchio_call(robot: Robot, many: States, seconds: float) -> float:
    """Nanoseconds of one call of Pinocchio's inverse dynamics."""
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf(robot))
    data = model.createData()
    return best(lambda: pin.rnea(model, data, many.q[0], many.qd[0], many.qdd[0]), seconds) * 1e9


def batches(robot: Robot, sizes: tuple[int, ...], seconds: float) -> list[dict[str, float]]:
    """Inverse dynamics through the Robot, as a user calls it, for larger and larger batches."""
    rows = []
    for size in sizes:
        arguments = States(robot, size).arguments("inverse_dynamics")
        spent = best(lambda a=arguments: robot.inverse_dynamics(*a), seconds)  # type: ignore[misc]
        rows.append({"states": size, "batch": spent / size * 1e9})
    return rows


def scaling(robot: Robot, states: int, seconds: float) -> float:
    """How many times faster all threads are than one, for inverse dynamics of a large batch."""
    kernel = robot.kernel("inverse_dynamics")
    arguments = States(robot, states).arguments("inverse_dynamics")
    out = kernel.spread(arguments)
    spent = []
    for count in (1, None):
        threads.set_threads(count)
        call = lambda: threads.spread(  # noqa: E731
            kernel._double_ufunc, arguments, out, (states,), kernel.flops, kernel.lanes
        )
        spent.append(best(call, 4 * seconds))
    return spent[0] / spent[1]


def peaks(seconds: float) -> dict[str, float]:
    """What one core can do: fused multiply-adds in registers (flop/s), and copying of large arrays (B/s)."""
    width = engine.vector_bits() // 64
    vector = f"<{width} x double>"
    chains = 12
    phis = "".join(
        f"  %a{i} = phi {vector} [ splat (double {1 + i / 8}), %entry ], [ %b{i}, %loop ]\n" for i in range(chains)
    )
    steps = "".join(
        f"  %b{i} = call {vector} @llvm.fma.v{width}f64({vector} %a{i}, {vector} splat (double 0.999), "
        f"{vector} splat (double 0.001))\n"
        for i in range(chains)
    )
    total, sums = "%b0", ""
    for i in range(1, chains):
        sums += f"  %s{i} = fadd {vector} {total}, %b{i}\n"
        total = f"%s{i}"
    text = (
        f"declare {vector} @llvm.fma.v{width}f64({vector}, {vector}, {vector})\n"
        "define double @peak(i64 %n) {\nentry:\n  br label %loop\nloop:\n"
        "  %k = phi i64 [ 0, %entry ], [ %m, %loop ]\n"
        f"{phis}{steps}  %m = add i64 %k, 1\n  %more = icmp slt i64 %m, %n\n  br i1 %more, label %loop, label %done\n"
        f"done:\n{sums}  %x = extractelement {vector} {total}, i32 0\n  ret double %x\n}}\n"
    )
    import ctypes

    code = engine.Code(engine.compile_text(text))
    peak = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(code.address("peak"))
    rounds = 100_000
    flops = 2 * width * chains * rounds / best(lambda: peak(rounds), seconds)
    source = np.ones(8_000_000)
    target = np.empty_like(source)
    copied = 2 * source.nbytes / best(lambda: np.copyto(target, source), seconds)
    return {"flops": flops, "bytes": copied}


def _have(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def run(name: str, *, states: int = 131_072, seconds: float = 0.5, quick: bool = False) -> dict[str, Any]:
    """All measurements of one robot; `quick` leaves out the growth with joints and batch."""
    robot = load(name).without_friction().without_rotors()
    packages = {"pinocchio": "pin", "mujoco": "mujoco", "modern_robotics": "modern_robotics"}
    results: dict[str, Any] = {
        "robot": name,
        "machine": {
            "cpu": engine.cpu(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
        "states": states,
        "peak": peaks(seconds),
        "chainrule": kernels(robot, states, seconds),
        "peers": {},
    }
    for peer, package in packages.items():
        if _have(package):
            try:
                results["peers"][peer] = {"version": version(package), **PEERS[peer](robot, states, seconds)}
            except (ValueError, RuntimeError) as error:
                results["peers"][peer] = {"refused": str(error)[:200]}
    if not quick:
        results["joints"] = growth(JOINTS, seconds)
        results["batches"] = batches(robot, BATCHES, seconds)
        results["scaling"] = scaling(robot, BATCHES[-1], seconds)
    return results


def show(results: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console(highlight=False, soft_wrap=True, width=160)
    machine = results["machine"]
    console.print(
        f"{results['robot']}, {results['states']} states; {machine['cpu']}, {machine['cores']} cores; nanoseconds"
    )
    peers = {name: peer for name, peer in results["peers"].items() if "refused" not in peer}
    table = Table("", "call", "batch", "threads", "float32", *peers, "batch ratio", "call fraction", "peak", box=None)
    pin = peers.get("pinocchio", {})
    for name, row in results["chainrule"].items():
        theirs = pin.get(name, {}).get("call")
        share = max(
            row["flops"] / row["batch"] / (results["peak"]["flops"] / 1e9),
            row["bytes"] / row["batch"] / (results["peak"]["bytes"] / 1e9),
        )
        table.add_row(
            name,
            *(f"{row[key]:.1f}" for key in ("call", "batch", "threads", "float32")),
            *(f"{peer[name]['call']:.0f}" if name in peer else "-" for peer in peers.values()),
            f"{theirs / row['batch']:.1f}x" if theirs else "-",
            f"{row['call'] / theirs:.2f}" if theirs else "-",
            f"{share:.0%}",
        )
    console.print(table)
    console.print(
        "batch ratio and call fraction: against a call of Pinocchio from Python; peers' figures are their calls"
    )
    for name, peer in results["peers"].items():
        if "refused" in peer:
            console.print(f"{name} does not take this robot: {peer['refused']}", markup=False)
        elif name == "pinocchio":
            pools = {f: row for f, row in peer.items() if isinstance(row, dict) and "batch" in row}
            for function, row in pools.items():
                ours = results["chainrule"][function]
                ratios = (
                    f"{row['batch'] / ours['batch']:.1f}x on one thread, {row['threads'] / ours['threads']:.1f}x on all"
                )
                console.print(
                    f"Pinocchio's own pool, {function}: {row['batch']:.0f} and {row['threads']:.0f}; {ratios}"
                )
    for row in results.get("joints", ()):
        ratio = f", {row['pinocchio'] / row['batch']:.1f}x Pinocchio's call" if "pinocchio" in row else ""
        console.print(
            f"{row['joints']:4} joints: compiled in {row['compile']:.2f} s, {row['batch']:.0f} ns a state{ratio}"
        )
    for row in results.get("batches", ()):
        console.print(f"batch of {row['states']:8}: {row['batch']:.1f} ns a state")
    if "scaling" in results:
        console.print(f"all {machine['cores']} threads against one, batch of {BATCHES[-1]}: {results['scaling']:.2f}x")


def save(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write the figures as JSON and, where Matplotlib is there, a plot."""
    folder.mkdir(parents=True, exist_ok=True)
    written = [folder / f"{results['robot']}.json"]
    written[0].write_text(json.dumps(results, indent=1) + "\n")
    if _have("matplotlib") and "joints" in results:
        written.append(_plot(results, folder / f"{results['robot']}.png"))
    return written


def _plot(results: dict[str, Any], path: Path) -> Path:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    names = list(results["chainrule"])
    pin = results["peers"].get("pinocchio", {})
    place = np.arange(len(names))
    for k, (label, key) in enumerate((("one call", "call"), ("in a batch, one thread", "batch"))):
        left.bar(place + 0.28 * k, [results["chainrule"][n][key] for n in names], 0.28, label=f"chainrule, {label}")
    if pin and "refused" not in pin:
        left.bar(place + 0.56, [pin[n]["call"] for n in names], 0.28, label="Pinocchio, one call")
    left.set(yscale="log", ylabel="ns a state", title=results["robot"])
    left.set_xticks(place + 0.28, [n.replace("_", "\n") for n in names], fontsize=8)
    left.set_ylim(top=left.get_ylim()[1] * 6)
    left.legend(fontsize=8, loc="upper left")
    rows = results["joints"]
    joints = [row["joints"] for row in rows]
    middle.loglog(joints, [row["batch"] for row in rows], "o-", label="chainrule, in a batch")
    if all("pinocchio" in row for row in rows):
        middle.loglog(joints, [row["pinocchio"] for row in rows], "s-", label="Pinocchio, one call")
    middle.set(xlabel="joints of a chain", ylabel="ns a state", title="inverse dynamics")
    compile_axis = middle.twinx()
    compile_axis.loglog(joints, [row["compile"] for row in rows], "k:", label="seconds to compile")
    compile_axis.set_ylabel("s to compile")
    middle.legend(fontsize=8, loc="upper left")
    compile_axis.legend(fontsize=8, loc="lower right")
    sizes = [row["states"] for row in results["batches"]]
    right.loglog(sizes, [row["batch"] for row in results["batches"]], "o-")
    right.set(xlabel="states in the batch", ylabel="ns a state", title="robot.inverse_dynamics, as called")
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path
