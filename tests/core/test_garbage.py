"""Garbage for every argument of every public function: errors of the library come out, and nothing else.

A call has right values for its arguments, and garbage for one or two of them; what is called, which argument and which
garbage are drawn from a seed. As a script, more calls, and a summary of what leaks:

    PYTHONPATH=tests python tests/core/test_garbage.py --calls 100000 --seed 1
"""

from __future__ import annotations

import argparse
import faulthandler
import inspect
import os
import random
import sys
import traceback
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from surface import functions

import chainrule as cr
from chainrule import wheels
from chainrule.errors import ChainruleError

CALLS, SEED = 4000, 0
"""Calls of the normal run."""

STUCK_AFTER_S = 300
"""A script says where it is when one call takes longer than this."""

NO_JOINTS = (
    '<robot name="still"><link name="a"/><link name="b"/>'
    '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>'
)
URDF = (
    '<robot name="rod"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial></link><joint name="hinge" type="continuous">'
    '<parent link="base"/><child link="rod"/></joint></robot>'
)


class Hostile:
    """An object whose every conversion raises."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no")

    __array__ = __iter__ = __len__ = __float__ = __int__ = __index__ = __bool__ = __fspath__ = _refuse


class Text(str):
    """A subclass of str."""


def _deep(levels: int) -> list[Any]:
    value: list[Any] = [1.0]
    for _ in range(levels):
        value = [value]
    return value


def _endless(value: list[Any]) -> list[Any]:
    value.append(value)
    return value


GARBAGE: dict[str, Callable[[np.random.Generator], Any]] = {
    "None": lambda rng: None,
    "True": lambda rng: True,
    "False": lambda rng: False,
    "0": lambda rng: 0,
    "-1": lambda rng: -1,
    "0.5": lambda rng: 0.5,
    "-0.0": lambda rng: -0.0,
    "nan": lambda rng: float("nan"),
    "inf": lambda rng: float("inf"),
    "-inf": lambda rng: -float("inf"),
    "1e308": lambda rng: 1e308,
    "-1e308": lambda rng: -1e308,
    "5e-324": lambda rng: 5e-324,
    "2**63": lambda rng: 2**63,
    "10**30": lambda rng: 10**30,
    "10**400": lambda rng: 10**400,
    "-10**30": lambda rng: -(10**30),
    "complex": lambda rng: 1 + 2j,
    "empty text": lambda rng: "",
    "word": lambda rng: "garbage",
    "numeral": lambda rng: "1.0",
    "NUL": lambda rng: "a\0b",
    "surrogate": lambda rng: "\ud800",
    "escape": lambda rng: "\x1b[31m$\\frac_",
    "long text": lambda rng: "x" * 5000,
    "subclass of str": lambda rng: Text("joint1"),
    "bytes": lambda rng: b"joint1",
    "bytearray": lambda rng: bytearray(b"\xff"),
    "memoryview": lambda rng: memoryview(b"ab"),
    "object": lambda rng: object(),
    "hostile": lambda rng: Hostile(),
    "type": lambda rng: dict,
    "function": lambda rng: lambda *_: None,
    "[]": lambda rng: [],
    "()": lambda rng: (),
    "{}": lambda rng: {},
    "set()": lambda rng: set(),
    "[None]": lambda rng: [None],
    "[[]]": lambda rng: [[]],
    "[object]": lambda rng: [object(), object()],
    "[word]": lambda rng: ["garbage"],
    "[joint]": lambda rng: ["joint1"],
    "[list]": lambda rng: [["joint1"], ["joint2"]],
    "[nan, nan]": lambda rng: [float("nan")] * 2,
    "[inf, 0]": lambda rng: [float("inf"), 0.0],
    "[1e308, 1e308]": lambda rng: [1e308, 1e308],
    "[-1e308, 1e308]": lambda rng: [-1e308, 1e308],
    "[1e-320, 1e-320]": lambda rng: [1e-320, 1e-320],
    "[10**400, 0]": lambda rng: [10**400, 0],
    "(0, 1e-320, 1e308)": lambda rng: (0, 1e-320, 1e308),
    "ragged": lambda rng: [[0.0, 1.0], [0.0]],
    "deep": lambda rng: _deep(70),
    "deeper": lambda rng: _deep(2000),
    "itself": lambda rng: _endless([]),
    "{joint: 1}": lambda rng: {"joint1": 1.0},
    "{joint: None}": lambda rng: {"joint1": None},
    "{joint: word}": lambda rng: {"joint1": "garbage"},
    "{tip: 6}": lambda rng: {"tip": np.zeros(6)},
    "{1: 2}": lambda rng: {1: 2},
    "{None: None}": lambda rng: {None: None},
    "{'a'}": lambda rng: {"a"},
    "frozenset": lambda rng: frozenset({1.0, 2.0}),
    "range": lambda rng: range(2),
    "generator": lambda rng: (x for x in (0.0, 0.0)),
    "iterator": lambda rng: iter([0.0, 0.0]),
    "deque": lambda rng: deque([0.0, 0.0]),
    "Decimal": lambda rng: Decimal("0.1"),
    "[Decimal]": lambda rng: [Decimal("0.1"), Decimal("NaN")],
    "Fraction": lambda rng: Fraction(1, 3),
    "[Fraction]": lambda rng: [Fraction(1, 3), Fraction(1, 2)],
    "Path": lambda rng: Path("nowhere/garbage"),
    "Path.": lambda rng: Path(),
    "datetime": lambda rng: datetime(2020, 1, 1),
    "timedelta": lambda rng: timedelta(seconds=1),
    "slice": lambda rng: slice(None),
    "ellipsis": lambda rng: ...,
    "NotImplemented": lambda rng: NotImplemented,
    "error": lambda rng: ValueError("x"),
    "float64": lambda rng: np.float64("nan"),
    "int64": lambda rng: np.int64(2),
    "float16": lambda rng: np.float16(1.0),
    "array of none": lambda rng: np.zeros(0),
    "array 0-d": lambda rng: np.array(1.0),
    "zeros(2)": lambda rng: np.zeros(2),
    "zeros(3)": lambda rng: np.zeros(3),
    "zeros(6)": lambda rng: np.zeros(6),
    "zeros(4, 4)": lambda rng: np.zeros((4, 4)),
    "nan(4, 4)": lambda rng: np.full((4, 4), np.nan),
    "eye * 1e200": lambda rng: np.diag([1.0, 1.0, 1.0, 1.0]) * 1e200,
    "poses far away": lambda rng: np.array([[1, 0, 0, 1e308], [0, 1, 0, 1e308], [0, 0, 1, 0], [0, 0, 0, 1.0]]),
    "zeros(0, 2)": lambda rng: np.zeros((0, 2)),
    "zeros(2, 0)": lambda rng: np.zeros((2, 0)),
    "zeros(0, 4, 4)": lambda rng: np.zeros((0, 4, 4)),
    "zeros(3, 2)": lambda rng: np.zeros((3, 2)),
    "nan(3, 2)": lambda rng: np.array([[0.0, 0.0], [np.nan, 0.0], [0.0, np.inf]]),
    "40 dimensions": lambda rng: np.zeros((1,) * 39 + (2,)),
    "63 dimensions": lambda rng: np.zeros((1,) * 62 + (2,)),
    "64 dimensions": lambda rng: np.zeros((1,) * 63 + (2,)),
    "40 dimensions of poses": lambda rng: np.broadcast_to(np.eye(4), (1,) * 38 + (4, 4)),
    "huge broadcast": lambda rng: np.broadcast_to(np.zeros(2), (10**12, 2)),
    "complex array": lambda rng: np.zeros(2, dtype=complex),
    "bool array": lambda rng: np.zeros(2, dtype=bool),
    "object array": lambda rng: np.array([object(), None], dtype=object),
    "text array": lambda rng: np.array(["a", "b"]),
    "byte array": lambda rng: np.array([b"a", b"b"]),
    "dates": lambda rng: np.array(["2020-01-01"], dtype="datetime64[D]"),
    "void array": lambda rng: np.zeros(2, dtype="V8"),
    "records": lambda rng: np.zeros(2, dtype=[("x", float)]),
    "masked": lambda rng: np.ma.array([1.0, 2.0], mask=[True, False]),
    "masked, nothing": lambda rng: np.ma.array([1.0, 2.0]),
    "float32 array": lambda rng: np.zeros(2, dtype=np.float32),
    "longdouble array": lambda rng: np.zeros(2, dtype=np.longdouble),
    "big-endian": lambda rng: np.zeros(2, dtype=">f8"),
    "uint64 array": lambda rng: np.full(2, 2**64 - 1, dtype=np.uint64),
    "strided": lambda rng: np.zeros(8)[::4],
    "reversed": lambda rng: np.zeros(2)[::-1],
    "read-only": lambda rng: np.broadcast_to(np.float64(1), (2,)),
    "matrix": lambda rng: np.asmatrix(np.zeros((2, 2))),
    "random": lambda rng: rng.normal(size=tuple(rng.integers(0, 5, size=rng.integers(0, 4)))),
    "random large": lambda rng: rng.normal(size=tuple(rng.integers(1, 5, size=2))) * 10.0 ** rng.integers(-320, 308),
    "robot": lambda rng: cr.load("pendulum"),
    "class": lambda rng: cr.Robot,
    "generator of numbers": lambda rng: np.random.default_rng(0),
}  # fmt: skip
"""What is passed, by name; each is made anew for a call."""


class Target(NamedTuple):
    """Something to call: its name, how to get it, and right values of its arguments."""

    name: str
    get: Callable[[], Callable[..., Any]]
    parameters: tuple[inspect.Parameter, ...]
    right: dict[str, Any]


def _state(robot: cr.Robot) -> dict[str, Any]:
    q, v = robot.neutral(), np.zeros(robot.nv)
    link = robot.link_names[-1]
    joint = robot.model.joints[0].name
    return {
        "q": q, "q0": q, "q1": q, "qd": v, "qdd": v, "tau": v, "v": v, "x": v, "qd0": v, "vector": v, "torque": None,
        "duration": 0.002, "wrench": np.zeros(6), "twist": np.zeros(6), "direction": (1.0, 0.0, 0.0), "target": np.eye(4),
        "poses": np.tile(np.eye(4), (2, 1, 1)), "mass": 0.1, "factor": 2, "other": robot,
        "positions": {joint: 0.0}, "kind": "velocity", "link_a": robot.link_names[0], "link_b": link, "name": "added",
        "samples": 20, "restarts": 1, "max_iterations": 5, "convention": "standard", "axes": "space",
        "functions": ("pose",), "state": None, "joints": (joint,), "shape": 2, "link": link,
        "prefix": "p_", "function": "pose", "arguments": None,
    }  # fmt: skip


SKIPPED = {
    "merge_fixed",
    "with_frames_at_mass_centers",
    "show",  # opens the browser: tests/studio/test_show.py hands it garbage
}
"""Methods without arguments to get wrong, and those that tests elsewhere look at."""

SLOW = {
    "equations", "kinematic_equations", "derivation", "textbook.dae", "textbook.dae_residual", "textbook.dae_equations",
    "textbook.simulate_maximal",
}  # fmt: skip
"""Methods that take seconds where garbage is right after all: called on robots of one joint only."""

HUMAN_ARM = cr.load("human_arm")

RIGHT: dict[str, dict[str, Any]] = {
    "edit": {"gravity": (0, 0, -9.81), "links": {}, "joints": {}, "configurations": {}},
    "at": {"numbers": {}},
    "with_srdf": {"path_or_text": "<robot name='r'/>"},
    "animate": {"motion": np.zeros((2, 2)), "t": [0.0, 1.0]},
    "derivatives.by_parameters": {"function": "gravity_torque", "parameters": ["gravity"], "arguments": [np.zeros(2)]},
    "derivatives.jvp": {"function": "integrate", "arguments": [np.zeros(2)] * 2, "tangents": [np.zeros(2)] * 2},
    "derivatives.vjp": {"function": "integrate", "arguments": [np.zeros(2)] * 2, "cotangent": np.zeros(2)},
    "derivatives.hvp": {
        "function": "integrate",
        "arguments": [np.zeros(2)] * 2,
        "cotangent": np.zeros(2),
        "tangents": [np.zeros(2)] * 2,
    },
    "from_urdf": {"path_or_text": URDF},
    "from_mjcf": {"path_or_text": "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"},
    "ik.reachability": {"low": np.zeros(3), "high": np.ones(3), "cell": 1.0, "options": {}},
    "textbook.state_dot": {"t": 0.0, "x": np.zeros(4)},
    "analysis.resolved_acceleration": {"acceleration": np.zeros(6)},
    "from_sdf": {"path_or_text": "<sdf version='1.7'><model name='m'><link name='l'/></model></sdf>"},
    "from_dh": {"rows": [(1, 0, 0, 0), (1, 0, 0, 0)], "masses": [1, 1], "check": False},
    "from_screws": {"home": np.eye(4), "screws": np.array([[0, 0, 1.0, 0, 0, 0]]).T},
    "save": {"path": "out.json"},
    "compiled.export": {"target": "c", "path": "out.c"},
    "plot": {"path": None, "ellipsoids": ("velocity",)},
    "analysis.plot": {"q": np.zeros((2, 2)), "path": None},
    "with_constraint": {"kind": "distance", "distance": 1.0},
    "with_spring": {"stiffness": 1.0},
    "parameters.with_values": {"values": {}},
    "compiled.kernel": {"name": "pose", "target": "cpu"},
    "load": {"thing": "pendulum"},
    "WorkspaceMap.find": {"points": np.zeros((2, 3))},
    "plan": {"waypoints": np.zeros((2, 2)), "poses": None, "times": [0.0, 1.0]},
    "plan_pose": {"poses": np.tile(np.eye(4), (2, 1, 1)), "times": [0.0, 1.0]},
    "ik.stream": {"targets": [np.eye(4)]},
    "states.by_name": {"values": np.zeros(2)},
    "states.to_pandas": {"values": np.zeros((3, 2))},
    "states.to_xarray": {"values": np.zeros((3, 2))},
    "states.order_of": {"program": "mujoco"},
    "states.reorder": {"names": ("joint2", "joint1")},
    "rename": {"names": {"joint1": "elbow"}},
    "angles_are_singular": {"T": np.eye(4)},
    "vector_from_pose": {"T": np.eye(4)},
    "pose_from_vector": {"x": np.zeros(6)},
    "rigid_body": {"shape": "box", "size": (0.1, 0.2, 0.3)},
    "hold": {"q": np.zeros(2)},
    "human_arm": {"mass": 75.0, "height": 1.75},
    "body_points": {"height": 1.75},
    "isb_angles": {"arm": HUMAN_ARM, "q": np.zeros(7)},
    "from_isb_angles": {"arm": HUMAN_ARM, "angles": np.zeros(7)},
    "PD": {"target": np.zeros(2), "kp": 1.0, "kd": 1.0},
    "PID": {"target": np.zeros(2), "kp": 1.0, "ki": 1.0, "kd": 1.0},
    "ComputedTorque": {"target": np.zeros(2), "kp": 1.0, "kd": 1.0},
    "Impedance": {"target": np.eye(4), "stiffness": 1.0, "kp": 1.0},
    "OperationalSpace": {"target": np.eye(4), "kp": 1.0},
    "Samples": {"t": [0.0, 1.0], "values": np.zeros((2, 2))},
    "Event": {"function": lambda t, q, qd: t - 1, "direction": 1},
    "Stops": {"stiffness": 1.0},
    "Impacts": {"restitution": 0.5},
    "DifferentialDrive": {"radius": 0.1, "separation": 0.5},
    "Sampled": {"law": lambda t, q, qd: np.zeros(2), "period": 0.01},
    "export": {
        "law": cr.GravityCompensation(cr.load("planar_2r")),
        "target": "python",
        "path": "out.py",
        "rate": 100.0,
    },
    "set_threads": {"count": 1},
    "odometry": {"controls": np.zeros((2, 2)), "dt": 0.1},
    "pose_after": {"pose": np.zeros(3), "displacement": np.zeros(3)},
    "moved": {"pose": np.zeros(3), "displacement": np.zeros(3)},
}
"""Right values of arguments, beside those that all functions share."""


def _robots() -> dict[str, cr.Robot]:
    arm, still = cr.load("planar_2r"), cr.Robot.from_urdf(NO_JOINTS)
    return {
        "planar_2r": arm, "planar_2r.reference": arm.reference, "pendulum": cr.load("pendulum"), "still": still,
        "still.reference": still.reference, "floating": cr.load("pendulum").floating().reference,
        "loop": arm.with_constraint("distance", "base", "tip", distance=1.5).reference,
    }  # fmt: skip


def _parameters(function: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    return tuple(inspect.signature(function).parameters.values())


def targets() -> list[Target]:
    """Every public method of Robot and its subjects on some robots, and every public function and class."""
    found = []
    for label, robot in _robots().items():
        right = _state(robot)
        for name, method in functions(robot):
            if name in SKIPPED or (name in SLOW and robot.nv > 1):
                continue
            parameters = _parameters(method)
            own = {**right, **RIGHT.get(name, {})}
            found.append(Target(f"{label}.{name}", lambda m=method: m, parameters, own))
    arm = cr.load("planar_2r")
    shared = {**_state(arm), "robot": arm}
    for module, names in ((cr, cr.__all__), (wheels, wheels.__all__)):
        for name in names:
            thing = getattr(module, name)
            is_error = isinstance(thing, type) and issubclass(thing, (Exception, Warning))
            if (
                name.startswith("_")
                or not callable(thing)
                or is_error
                or name in ("Robot", "Controller", "Simulation", "traceable")
            ):
                continue
            own = {**shared, **RIGHT.get(name, {})}
            if name == "odometry":
                own["base"] = wheels.Unicycle()
            found.append(Target(f"{module.__name__}.{name}", lambda t=thing: t, _parameters(thing), own))
    found += _results(arm)
    return found


def _results(arm: cr.Robot) -> list[Target]:
    """Methods of what functions return."""
    cloud = arm.workspace(20)
    objects = {
        "Workspace": cloud,
        "WorkspaceMap": arm.workspace(20, cell=1.0),
        "Ellipsoid": arm.analysis.ellipsoid([0.1, 0.2]),
        "Trajectory": arm.simulate([0.1, 0.2], None, 0.002),
        "Reference": cr.plan(arm, np.zeros((2, 2)), times=[0.0, 1.0]),
        "DifferentialDrive": wheels.DifferentialDrive(0.1, 0.5),
        "Track": wheels.odometry(wheels.Unicycle(), [[1.0, 0.0]], 0.1),
    }  # fmt: skip
    shared = {
        **_state(arm), "axis": "x", "controls": np.zeros(2), "twist": np.zeros(3), "path": None, "t": 0.0,
        "cell": 1.0, "times": [0.0, 0.001], "start": 0.0, "end": 0.001,
        "pose": np.zeros(3), "duration": 1.0, "dt": 0.1, "speeds": np.zeros(2), "velocity": np.zeros(2),
    }  # fmt: skip
    found = []
    for label, thing in objects.items():
        for name in dir(type(thing)):
            method = getattr(type(thing), name)
            if (
                name.startswith("_")
                or name in SKIPPED
                or not callable(method)
                or isinstance(method, type)
                or not _parameters(getattr(thing, name))
            ):
                continue
            bound = getattr(thing, name)
            found.append(
                Target(
                    f"{label}.{name}",
                    lambda m=bound: m,
                    _parameters(bound),
                    {**shared, **RIGHT.get(f"{label}.{name}", {})},
                )
            )
    return found


class Call(NamedTuple):
    """One call: the target, what is garbage in it, and its arguments."""

    target: Target
    garbage: tuple[str, ...]
    arguments: dict[str, Any]
    extra: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.target.name}({', '.join(self.garbage)})"


def calls(count: int, seed: int) -> Iterator[Call]:
    """Calls drawn from a seed."""
    choose, rng, all_targets = random.Random(seed), np.random.default_rng(seed), targets()
    with_parameters = [target for target in all_targets if target.parameters]
    kinds = list(GARBAGE)
    for _ in range(count):
        target = choose.choice(with_parameters)
        spoilt = choose.sample(target.parameters, min(len(target.parameters), choose.choice((1, 1, 1, 2, 3))))
        arguments: dict[str, Any] = {}
        said = []
        for parameter in target.parameters:
            variable = parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            if parameter in spoilt:
                kind = choose.choice(kinds)
                said.append(f"{parameter.name}={kind}")
                value = GARBAGE[kind](rng)
                if parameter.kind is parameter.VAR_KEYWORD:
                    arguments[choose.choice(("viscous", "effort", "garbage", "link", "loads", "rows"))] = value
                elif not variable:
                    arguments[parameter.name] = value
            elif variable or (parameter.default is not parameter.empty and parameter.name not in target.right):
                continue
            elif parameter.name in target.right:
                arguments[parameter.name] = target.right[parameter.name]
        yield Call(target, tuple(said), arguments, ())


def outcome(call: Call) -> str | None:
    """How a call leaks, or None where it is right: it returns, or raises an error of the library."""
    try:
        positional = {p.name for p in call.target.parameters if p.kind is p.POSITIONAL_ONLY}
        first = [value for name, value in call.arguments.items() if name in positional]
        found = call.target.get()(*first, **{k: v for k, v in call.arguments.items() if k not in positional})
        if inspect.isgenerator(found):
            next(found, None)
    except (ChainruleError, MemoryError):
        return None
    except OSError:
        return None if {"path", "thing", "path_or_text"} & set(call.arguments) else _leak(sys.exception())
    except TypeError as error:
        if "got an unexpected keyword argument" in str(error):  # Python's own words, where options are passed on
            return None
        frames = traceback.extract_tb(error.__traceback__)
        return (
            None
            if all("chainrule" not in frame.filename or __file__ in frame.filename for frame in frames)
            else _leak(error)
        )
    except Exception as error:
        return _leak(error)
    return None


def _is_foreign(call: Call) -> bool:
    """Whether garbage was called as a user's own function, whose errors are the user's to see."""
    names = ("function", "events", "torque", "external", "tip_wrench", "law")
    return any(callable(call.arguments.get(name)) for name in names)


def _leak(error: BaseException | None) -> str:
    assert error is not None
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/chainrule/" in f.filename]
    place = f"{frames[-1].filename.split('/chainrule/')[-1]}:{frames[-1].lineno}" if frames else "outside"
    return f"{type(error).__name__} at {place}: {str(error)[:100]!r}"


def run(count: int, seed: int, progress: bool = False) -> tuple[Counter[str], dict[str, str]]:
    """Leaks and how often each came, and an example of each."""
    leaks: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for k, call in enumerate(calls(count, seed)):
        if progress:
            faulthandler.dump_traceback_later(STUCK_AFTER_S, exit=True)
            (Path.cwd() / "last_call.txt").write_text(str(call), encoding="utf-8", errors="backslashreplace")
            if k % 10000 == 0:
                print(f"{k} calls, {sum(leaks.values())} leaks", file=sys.stderr, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            leak = outcome(call)
        if leak is not None and not _is_foreign(call):
            key = leak.split(": ", 1)[0]
            leaks[key] += 1
            if progress and key not in examples:
                print(f"{call} -> {leak}".encode(errors="backslashreplace").decode(), file=sys.stderr, flush=True)
            examples.setdefault(key, f"{call} -> {leak}")
    faulthandler.cancel_dump_traceback_later()
    return leaks, examples


@pytest.mark.parametrize("seed", range(SEED, SEED + 4))
def test_garbage_is_refused_by_an_error_of_the_library(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        leaks, examples = run(CALLS // 4, seed)
    finally:
        cr.set_threads(None)
    assert not leaks, "\n".join(examples.values())


def main() -> int:
    """Run as many calls as asked for, in an empty folder, and print what leaks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", default=None, help="An empty folder to run in; a new one if left out.")
    options = parser.parse_args()
    import tempfile

    os.chdir(options.folder or tempfile.mkdtemp())
    leaks, examples = run(options.calls, options.seed, progress=True)
    for key, count in leaks.most_common():
        print(f"{count:6}  {examples[key]}".encode(errors="backslashreplace").decode())
    print(f"{options.calls} calls, {sum(leaks.values())} leaks of {len(leaks)} kinds")
    return 1 if leaks else 0


if __name__ == "__main__":
    sys.exit(main())
