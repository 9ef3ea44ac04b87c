"""Everything on a graphics processor: built, checked and timed in one run, beside ceilings measured in the same run.

    python benchmarks/gpu.py [--only functions,ik,..] [--states N] [--talos FILE] [--urdf FILE] [--output FILE]

Parts, each of which can be asked for by name; one that fails prints its error, and the others go on:

ceilings    bandwidth of a copy on the device, and rates of fused multiplications and additions
checks      sizes that are no multiple of a block, no states at all, strides, wrong devices, too little memory
functions   every function of the Panda: states a second, and the share of the copy's bandwidth, counting the bytes of
            arguments, read once, and of results, written once; the ones with a bar at N states, in both precisions
large       inverse dynamics of Talos, a floating humanoid of 38 degrees of freedom, from a file of it
ik          inverse kinematics of a million poses of the Panda
rollouts    simulations on the device (`gpu_rollouts.py`)
frameworks  robot.jax and robot.torch beside other libraries (`gpu_frameworks.py`)
peers       mujoco.rollout on all cores, and MJX, where they are installed; contacts and limits off

Outputs are compared with the reference path in double precision, on random states. Memory for results is filled with
nan before, so that a number that is not written shows. Rates are the best of several rounds. Needs CuPy; rows are
written as one flat JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import cupy
import numpy as np
from gpu_rollouts import SIZES
from gpu_rollouts import seconds as wall_seconds

import chainrule as cr
from chainrule.compile.backend import INTERPRETED
from chainrule.core.evaluation import call_of
from chainrule.functions.table import FUNCTIONS

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX leaves memory for the others

Rows = dict[str, float]

RESULTS = Path(__file__).parent / "results" / "h200.json"
STATES = 1 << 24
BARS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "jacobian", "inverse_dynamics_derivatives")
"""Functions of the Panda that are measured with all states, in both precisions."""
MAX_BYTES = 4 << 30
"""Bytes of arguments and result of the other functions, at most."""
MAX_INSTRUCTIONS = 20_000
"""Instructions of functions that are measured: larger ones take minutes to compile."""
SECONDS_FOR_FUNCTIONS = 150.0
"""Time for the functions without a bar."""
COPIED_BYTES = 4 << 30
CHECKED = 512
"""States of each function that are compared with the reference path: the last ones, where a batch ends."""
TOLERANCE = {32: 1e-3, 64: 1e-8}
"""Differences as a part of the largest number of the result; in float32 for 99% of the states."""
AT_LEAST = {
    "inverse_dynamics_f32_copy_share": 0.85, "forward_dynamics_f32_G_s": 17.0, "forward_dynamics_f64_G_s": 8.0,
    "mass_matrix_f32_copy_share": 0.9, "jacobian_f32_copy_share": 0.9,
    "inverse_dynamics_derivatives_f32_copy_share": 0.6, "rollout_f32_G_steps_s": 15.0, "rollout_f64_G_steps_s": 8.0,
    "rollout_friction_stops_f32_G_steps_s": 5.0, "rollout_4096_f32_G_steps_s": 3.0, "rollout_vs_mujoco": 100.0,
    "rollout_vs_mjx": 100.0, "jax_vs_frax": 150.0, "torch_vs_frax": 150.0, "jax_vs_plain_jax": 150.0,
    "torch_vs_plain_jax": 150.0, "ik_f32_M_s": 50.0, "ik_f32_success": 0.999,
    "talos_inverse_dynamics_f32_copy_share": 0.4,
}  # fmt: skip
AT_MOST = {"rollout_gradient_f32_ratio": 6.0, "rollout_4096_f32_overhead_us": 200.0}
"""Bars on one H200."""
FMA = r"""
extern "C" __global__ void fma_chains(REAL *out, int steps)
{
  REAL x[8], a = (REAL)(threadIdx.x * 1e-9), b = (REAL)0.9999;
  for (int k = 0; k < 8; ++k) x[k] = k + a;
  for (int i = 0; i < steps; ++i)
    for (int k = 0; k < 8; ++k) x[k] = x[k] * b + a;
  REAL sum = 0;
  for (int k = 0; k < 8; ++k) sum += x[k];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""


def seconds(call: Callable[[], Any], repeats: int = 5, rounds: int = 4) -> float:
    """Seconds of a call on the device: the best mean of several rounds, each of some calls, after one to warm up."""
    call()
    times = []
    for _ in range(rounds):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        for _ in range(repeats):
            call()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3 / repeats)
    return min(times)


def ceilings() -> Rows:
    """Rates that nothing can exceed."""
    source = cupy.ones(COPIED_BYTES // 4, cupy.float32)
    target = cupy.empty_like(source)
    rows = {"copy_TB_s": 2 * source.nbytes / seconds(partial(cupy.copyto, target, source)) / 1e12}
    for name, real in (("float32", "float"), ("float64", "double")):
        kernel = cupy.RawKernel(FMA.replace("REAL", real), "fma_chains")
        blocks, threads, steps = 132 * 16, 256, 4096
        out = cupy.empty(blocks * threads, name)
        taken = seconds(partial(kernel, (blocks,), (threads,), (out, np.int32(steps))))
        rows[f"fma_{name}_TFLOP_s"] = 2 * 8 * steps * blocks * threads / taken / 1e12
    return rows


class Function:
    """A function of a robot on the device, with random states."""

    def __init__(self, robot: cr.Robot, name: str, bits: int, most_states: int) -> None:
        self.robot, self.name, self.bits = robot, name, bits
        self.kernel = robot.compiled.kernel(name, target="cuda")
        lengths, _, result = self.kernel.signature.partition("->")
        self.lengths = [int(x) for x in lengths.strip("()").split("),(")]
        self.shape = tuple(int(x) for x in result.strip("()").split(",") if x)
        self.bytes = bits // 8 * (sum(self.lengths) + int(np.prod(self.shape)))
        self.states = most_states

    def arguments(self, count: int) -> list[Any]:
        """Random arguments (count, length) on the device."""
        rng = np.random.default_rng()
        few = min(count, 1 << 16)
        arrays = []
        names = FUNCTIONS[self.name].arguments
        for name, length in zip_longest(names, self.lengths, fillvalue="wrench"):
            is_q = name.startswith("q") and length == self.robot.nq and name not in ("qd", "qdd")
            values = self.robot.random_state(rng, (few,)) if is_q else rng.normal(size=(few, length))
            arrays.append(cupy.resize(cupy.asarray(values, f"float{self.bits}"), (count, length)))
        return arrays

    def check(self, arguments: list[Any], out: Any) -> None:
        """Stop where a number is missing, or differs from the reference path's."""
        out.fill(cupy.nan)
        self.kernel(*arguments, out=out)
        if bool(cupy.isnan(out).any()):
            raise SystemExit(f"{self.name}, float{self.bits}: numbers of the result are nan or not written")
        given = [cupy.asnumpy(a[-CHECKED:]).astype(float) for a in arguments]
        expected = INTERPRETED.evaluate(call_of(self.robot, self.name, {}), given).reshape(len(given[0]), -1)
        found = cupy.asnumpy(out[-CHECKED:]).reshape(expected.shape)
        largest = max(float(np.abs(expected).max()), 1e-30)
        apart = np.sort(np.abs(found - expected).max(axis=1)) / largest
        worst = apart[-1] if self.bits == 64 else apart[int(0.99 * (len(apart) - 1))]
        if not worst < TOLERANCE[self.bits]:
            raise SystemExit(f"{self.name}, float{self.bits}: {worst:.1e} away from the reference path")

    def measure(self, copy: float) -> Rows:
        """States a second, and the share of the copy's bandwidth."""
        count = self.states
        arguments = self.arguments(count)
        out = cupy.empty((count, *self.shape), f"float{self.bits}")
        self.check(arguments, out)
        taken = seconds(lambda: self.kernel(*arguments, out=out))
        name = f"{self.name}_f{self.bits}"
        share = self.bytes * count / taken / 1e12 / copy
        print(f"  {name:44} {count / taken / 1e9:8.3f} G states/s  {100 * share:5.1f}% of copy", flush=True)
        return {f"{name}_G_s": count / taken / 1e9, f"{name}_copy_share": share}


def functions(states: int, copy: float) -> Rows:
    """Every function of the Panda, those with a bar first."""
    robot = cr.load("panda").without_friction()
    rows: Rows = {}
    for name in BARS:
        for bits in (32, 64):
            rows |= Function(robot, name, bits, states).measure(copy)
            cupy.get_default_memory_pool().free_all_blocks()
    began = time.perf_counter()
    for name in FUNCTIONS:
        if name in BARS or time.perf_counter() - began > SECONDS_FOR_FUNCTIONS:
            continue
        try:
            function = Function(robot, name, 32, 1)
        except (cr.ChainruleError, ValueError) as error:
            print(f"  {name}: {str(error).splitlines()[0][:90]}")
            continue
        instructions = function.kernel.instructions
        if not np.prod(function.shape) or instructions > MAX_INSTRUCTIONS:
            print(f"  {name}: not measured, {instructions} instructions")
            continue
        function.states = min(states, MAX_BYTES // function.bytes)
        try:
            rows |= function.measure(copy)
        except (cr.ChainruleError, SystemExit) as error:
            print(f"  {name}: {error}")
        cupy.get_default_memory_pool().free_all_blocks()
    return rows


def checks() -> Rows:
    """Batches at the edges, and what must be refused."""
    robot = cr.load("panda").without_friction()
    kernel = robot.compiled.kernel("inverse_dynamics", target="cuda")
    rng = np.random.default_rng()
    passed = 0
    for bits in (32, 64):
        for count in (0, 1, 31, 32, 33, 127, 129, 1000, 65_537, 1_000_003):
            given = [cupy.asarray(rng.normal(size=(count, 7)), f"float{bits}") for _ in range(3)]
            out = cupy.full((count, 7), cupy.nan, f"float{bits}")
            kernel(*given, out=out)
            expected = robot.reference.inverse_dynamics(*(cupy.asnumpy(x[-100:]).astype(float) for x in given))
            found = cupy.asnumpy(out)
            assert not np.isnan(found).any(), (bits, count)
            assert np.allclose(found[-100:], expected, rtol=0, atol=100 * TOLERANCE[bits]), (bits, count)
            passed += 1
    wide = cupy.asarray(rng.normal(size=(1000, 21)))
    parts = [wide[:, 7 * k : 7 * k + 7] for k in range(3)]
    whole = kernel(*(cupy.ascontiguousarray(x) for x in parts))
    assert cupy.array_equal(kernel(*parts), whole)
    assert cupy.array_equal(kernel(*(cupy.ascontiguousarray(x)[::2] for x in parts)), whole[::2])
    refused: list[tuple[type[BaseException], Callable[[], Any]]] = [
        (cr.ShapeError, lambda: kernel(*(np.zeros((4, 7)),) * 3)),
        (cr.ShapeError, lambda: kernel(*(cupy.zeros((4, 6)),) * 3)),
        (cr.ShapeError, lambda: kernel(cupy.zeros((4, 7)), cupy.zeros((4, 7)), cupy.zeros((4, 7), "float32"))),
        (cr.ShapeError, lambda: kernel(*(cupy.zeros((4, 7), "int32"),) * 3)),
        (cr.ShapeError, lambda: kernel(cupy.zeros((7, 4)).T, *(cupy.zeros((4, 7)),) * 2)),
        (MemoryError, lambda: kernel(*(cupy.broadcast_to(cupy.zeros((1, 7)), (1 << 40, 7)),) * 3)),
        (cr.ChainruleError, lambda: robot.inverse_kinematics(np.eye(4), device="cuda:9")),
    ]
    for kind, call in refused:
        try:
            call()
        except kind as error:
            print(f"  refused: {str(error)[:110]}")
            passed += 1
        else:
            raise SystemExit(f"a call was not refused with {kind.__name__}")
    return {"checks_passed": float(passed + 2)}


def large(file: str | None, copy: float) -> Rows:
    """Inverse dynamics of Talos."""
    if file is None:
        print("  no file of Talos was given")
        return {}
    talos = cr.load(file, floating_base=not file.endswith(".toml"), check=False).without_friction()
    rows: Rows = {}
    for bits in (32, 64):
        measured = Function(talos, "inverse_dynamics", bits, 1 << 22).measure(copy)
        rows |= {f"talos_{name}": value for name, value in measured.items()}
        cupy.get_default_memory_pool().free_all_blocks()
    return rows


def ik(count: int = 1_000_000) -> Rows:
    """Inverse kinematics of reachable poses, whole calls; successes are counted again by forward kinematics here."""
    robot = cr.load("panda")
    q = cupy.asarray(robot.random_state(np.random.default_rng(), (count,)))
    forward = robot.compiled.kernel("pose", target="cuda")
    targets = forward(q)
    rows: Rows = {}
    for bits, tolerance in ((32, 1e-5), (64, 1e-6)):
        given = targets.astype(f"float{bits}")
        solve = partial(robot.inverse_kinematics, given, tolerance=tolerance, device="cuda")
        answer = solve()
        found = forward(answer.q.astype(cupy.float64))
        distance = cupy.linalg.norm(found[:, :3, 3] - targets[:, :3, 3], axis=-1)
        # entries of R^T R' off the diagonal are the sine of the angle, which is small; rounding of the target is apart
        R = cupy.swapaxes(found[:, :3, :3], 1, 2) @ targets[:, :3, :3]
        sine = cupy.stack([R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=-1) / 2
        most = tolerance + (1e-6 if bits == 32 else 1e-12)
        true = (distance <= most) & (cupy.linalg.norm(sine, axis=-1) <= most)
        if bool((answer.success & ~true).any()):
            raise SystemExit("inverse kinematics: a solution is farther away than it says")
        share = float((answer.success & true).mean())
        taken = wall_seconds(solve)
        print(f"  float{bits}, to {tolerance:g}: {count / taken / 1e6:.1f} M poses/s, {100 * share:.3f}% solved")
        rows |= {f"ik_f{bits}_M_s": count / taken / 1e6, f"ik_f{bits}_success": share}
    return rows


def mujoco_model(robot: cr.Robot, file: Path | None) -> Any:
    """The robot for MuJoCo, under the PD control of `gpu_rollouts`; without contacts, limits and friction."""
    import mujoco

    from chainrule.cli.benchmark.peers import urdf

    model = mujoco.MjModel.from_xml_string(urdf(robot) if file is None else file.read_text())
    model.opt.timestep, model.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_EULER
    model.opt.gravity = robot.gravity
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    model.jnt_stiffness[:], model.dof_damping[:] = 10 * np.array(SIZES), SIZES
    model.qpos_spring[:] = robot.home()
    return model


def peers(rows: Rows, file: Path | None) -> Rows:
    """Steps a second of other simulators, on this machine's cores and on the device."""
    robot = cr.load("panda").without_friction()
    own: Rows = {}
    for name, measure in (("mujoco", mujoco_steps), ("mjx", mjx_steps)):
        try:
            own[f"{name}_M_steps_s"] = measure(robot, file) / 1e6
        except Exception as error:
            print(f"  {name}: {type(error).__name__}: {str(error)[:200]}")
            continue
        print(f"  {name}: {own[f'{name}_M_steps_s']:.3f} M steps/s", flush=True)
        if "rollout_f32_G_steps_s" in rows:
            own[f"rollout_vs_{name}"] = 1e3 * rows["rollout_f32_G_steps_s"] / own[f"{name}_M_steps_s"]
    return own


def around_home(robot: cr.Robot, rows: int) -> np.ndarray:
    """Configurations to start from (rows, nq)."""
    return robot.home() + np.random.default_rng().uniform(-0.3, 0.3, (rows, robot.nq))


def mujoco_steps(robot: cr.Robot, file: Path | None) -> float:
    """Steps a second of mujoco.rollout on all cores."""
    import mujoco
    import mujoco.rollout

    model, cores, steps = mujoco_model(robot, file), os.cpu_count() or 1, 200
    rows = 256 * cores
    start = np.zeros((rows, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + robot.nq] = around_home(robot, rows)
    data = [mujoco.MjData(model) for _ in range(cores)]
    with mujoco.rollout.Rollout(nthread=cores) as rollout:
        taken = wall_seconds(lambda: rollout.rollout(model, data, start, nstep=steps), rounds=3)
    return rows * steps / taken


def mjx_steps(robot: cr.Robot, file: Path | None, rows: int = 1 << 15, steps: int = 50) -> float:
    """Steps a second of MJX on the device."""
    import jax
    from mujoco import mjx

    model = mjx.put_model(mujoco_model(robot, file))
    data = mjx.make_data(model)

    def move(q: Any) -> Any:
        def step(state: Any, _: None) -> tuple[Any, None]:
            return mjx.step(model, state), None

        return jax.lax.scan(step, data.replace(qpos=q), None, length=steps)[0].qpos

    run = jax.jit(jax.vmap(move))
    q = jax.numpy.asarray(around_home(robot, rows), dtype=np.float32)
    taken = wall_seconds(lambda: jax.block_until_ready(run(q)), rounds=3)
    return rows * steps / taken


def other_file(name: str) -> Rows:
    """The rows of a benchmark in a file of its own."""
    from importlib import import_module

    measured: Rows = import_module(name).measure()
    rows = {re.sub(r"\W+", "_", key.replace(" / ", "_vs_")): value for key, value in measured.items()}
    for key, value in rows.items():
        print(f"  {key:44} {value:12.4f}")
    return rows


def print_bars(rows: dict[str, Any]) -> None:
    """The rows with a bar, and whether they reach it."""
    for name, least in AT_LEAST.items():
        if name in rows:
            print(f"{name:46} {rows[name]:12.4f}, at least {least:g}: {'yes' if rows[name] >= least else 'NO'}")
    for name, most in AT_MOST.items():
        if name in rows:
            print(f"{name:46} {rows[name]:12.4f}, at most {most:g}: {'yes' if rows[name] <= most else 'NO'}")


PARTS = ("ceilings", "checks", "functions", "large", "ik", "rollouts", "frameworks", "peers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="names of parts, separated by commas")
    parser.add_argument("--states", type=int, default=STATES, help="states of the functions with a bar")
    parser.add_argument("--talos", metavar="FILE", help="Talos as a URDF or a file of this library")
    parser.add_argument("--urdf", metavar="FILE", type=Path, help="the Panda for MuJoCo, where lxml cannot write it")
    parser.add_argument("--output", metavar="FILE", type=Path, default=RESULTS)
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    machine = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    rows: dict[str, Any] = json.loads(options.output.read_text()) if options.output.exists() else {}
    rows |= {"machine": machine, "date": datetime.now(UTC).date().isoformat()}
    rows |= ceilings()
    copy = rows["copy_TB_s"]
    print(f"{machine}: copy {copy:.2f} TB/s, fma {rows['fma_float32_TFLOP_s']:.1f} TFLOP/s in float32, "
          f"{rows['fma_float64_TFLOP_s']:.1f} in float64")  # fmt: skip
    parts: dict[str, Callable[[], Rows]] = {
        "checks": checks,
        "functions": partial(functions, options.states, copy),
        "large": partial(large, options.talos, copy),
        "ik": ik,
        "rollouts": partial(other_file, "gpu_rollouts"),
        "frameworks": partial(other_file, "gpu_frameworks"),
        "peers": partial(peers, rows, options.urdf),
    }
    failed = []
    for name in (name for name in parts if name in chosen):
        began = time.perf_counter()
        print(f"{name}:", flush=True)
        try:
            rows |= parts[name]()
        except (Exception, SystemExit):
            traceback.print_exc()
            failed.append(name)
        print(f"  {time.perf_counter() - began:.0f} s", flush=True)
        cupy.get_default_memory_pool().free_all_blocks()
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(rows, indent=1) + "\n")
    print_bars(rows)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
