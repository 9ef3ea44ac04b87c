"""Controllers as source code: the self-tests that come with them, simulations, other robots, and what is refused."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tiers import with_slow

import chainrule as cr
from chainrule.control.tick import Signal, Tick

PANDA = cr.load("panda")
HOME = PANDA.home()
MOTION = cr.plan(PANDA, [HOME, HOME + 0.1, HOME - 0.1], times=[0, 0.6, 1.3])
POSES = cr.plan_pose([PANDA.pose(HOME), PANDA.pose(HOME + 0.1)], times=[0, 1])
FIVE = cr.load("five_bar")
FIVE_POINTS = FIVE.ik.follow([[0.0, 0.44, 0.0], [0.05, 0.4, 0.0]], q0=FIVE.home(), task="position").q
MAIN = {"c": "law.c", "cpp": "law.hpp", "rust": "law", "javascript": "law.mjs", "python": "law.py"}
COMPILER = shutil.which("gcc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no gcc")


class Stiction(cr.Controller):
    """A law of a user's: its own state, the time, gains, and functions of the system."""

    states = 2

    def __init__(self, robot):
        super().__init__(robot, {"gain": np.arange(1.0, robot.nv + 1)}, cr.PD(robot, MOTION).target)

    def torque(self, q, qd, z, s, p, t):
        gain, target = self.parts(p)
        q_ref, qd_ref, _ = self.target.at(s, target)
        tau = [k * (a - b) + np.tanh(50 * v) + z[0] for k, a, b, v in zip(gain, q_ref, q, qd_ref, strict=True)]
        return tau, [q_ref[0] - q[0], np.exp(-t) - z[1]]


def spring(t, q, qd):
    return [-3.0 * np.sin(q[0]) - qd[0] + 0.1 * t, np.where(q[1] > 0, -1.0, 1.0)]


LAWS = {
    "gravity": lambda: cr.GravityCompensation(PANDA, damping=1.0),
    "computed torque": lambda: cr.ComputedTorque(PANDA, MOTION),
    "limited PID": lambda: cr.Sampled(cr.PID(PANDA, MOTION, limit=3.0), 0.002, rate_limit=300.0),
    "impedance": lambda: cr.Impedance(PANDA, POSES),
    "operational space": lambda: cr.OperationalSpace(PANDA, POSES),
    "own law": lambda: Stiction(PANDA),
    "closed loop": lambda: cr.ComputedTorque(FIVE, cr.plan(FIVE, FIVE_POINTS, times=0.1)),
    "observer": lambda: cr.MomentumObserver(PANDA, gain=50.0, rate=1000),
    "law less what an observer finds": lambda: cr.Compensated(cr.ComputedTorque(PANDA, MOTION)),
    "velocities": lambda: cr.VelocityObserver(PANDA, 500, method="sliding", acceleration=9.0),
    "friction": lambda: cr.ComputedTorque(
        cr.load("panda").edit(joints={n: {"coulomb": 0.3} for n in PANDA.joint_names}), MOTION
    ),
}


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def check_c(folder, *flags, calls=()):
    run([COMPILER, *(flags or ("-std=c99", "-O1")), "-Wall", "-Wextra", "-Werror", "-pedantic", "law_check.c", "law.c",
         "-lm", "-o", "check"], folder)  # fmt: skip
    return run(["./check", *calls], folder)


@needs_compiler
@pytest.mark.parametrize(
    "name", with_slow(LAWS, *[x for x in LAWS if x not in ("limited PID", "own law", "closed loop", "observer")])
)
def test_c_is_the_library_to_the_last_bit(name, tmp_path):
    cr.export(LAWS[name](), "c", tmp_path / "law.c")
    assert re.match(r"0 of \d+ numbers differ, by 0 at most", check_c(tmp_path))
    assert re.match(
        r"1000 calls: median \d+ ns, 99.99 per cent \d+ ns, longest \d+ ns", check_c(tmp_path, calls=["1000"])
    )


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("flags", [["-O0"], ["-O3", "-march=native"], ["-std=gnu17", "-O2", "-march=native"], ["-Os"]])
def test_no_flag_changes_a_bit(flags, tmp_path):
    cr.export(LAWS["computed torque"](), "c", tmp_path / "law.c")
    assert check_c(tmp_path, *flags).startswith("0 of")


@needs_compiler
def test_fast_math_is_refused(tmp_path):
    cr.export(cr.GravityCompensation(cr.load("planar_2r")), "c", tmp_path / "law.c")
    done = subprocess.run(
        [COMPILER, "-ffast-math", "-c", "law.c"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "compile without -ffast-math" in done.stderr


def test_python_is_the_library_to_the_last_bit(tmp_path):
    for name in ("limited PID", "own law"):
        cr.export(LAWS[name](), "python", tmp_path / "law.py", overwrite=True)
        assert run([sys.executable, "law_check.py"], tmp_path).startswith("0 of 448 numbers differ")
    assert run([sys.executable, "law_check.py", "20"], tmp_path).startswith("20 calls: median")


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_cpp_is_the_library_to_the_last_bit(tmp_path):
    cr.export(LAWS["computed torque"](), "cpp", tmp_path / "law.hpp")
    run([COMPILER, "-std=c99", "-O1", "-c", "law.c"], tmp_path)
    run(["g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "law_check.cpp", "law.o", "-o", "check"], tmp_path)
    assert run(["./check"], tmp_path).startswith("0 of 448 numbers differ")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.parametrize("name", LAWS)
def test_javascript_is_the_library(name, tmp_path):
    cr.export(LAWS[name](), "javascript", tmp_path / "law.mjs")
    assert "numbers differ, by" in run(["node", "law_check.mjs"], tmp_path)
    assert run(["node", "law_check.mjs", "100"], tmp_path).startswith("100 calls")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo")
@pytest.mark.parametrize("name", LAWS)
def test_rust_is_the_library_to_the_last_bit(name, tmp_path):
    cr.export(LAWS[name](), "rust", tmp_path / "law")
    found = run(["cargo", "run", "--offline", "--quiet", "--release", "--example", "check"], tmp_path / "law")
    assert found.startswith("0 numbers differ")


def test_exported_code_in_a_simulation_is_the_simulation(tmp_path, monkeypatch):
    law = cr.PID(PANDA, MOTION, limit=3.0)
    cr.export(law, "python", tmp_path / "panda_pid.py", rate=500)
    monkeypatch.syspath_prepend(str(tmp_path))
    import panda_pid

    controller = panda_pid.Controller()
    motion = PANDA.simulate(HOME + 0.05, None, 0.2, cr.Sampled(law, 1 / 500), integrator=cr.RK4(0.001))
    for k in range(100):
        assert controller.step(motion.q[2 * k], motion.qd[2 * k]) == motion.tau[2 * k].tolist()
    with pytest.raises(ValueError, match="q must have 7 numbers, got 3"):
        controller.step([0.0] * 3, [0.0] * 7)


def test_limits_of_the_robot_cut_off_torques(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    stiff = cr.PD(PANDA, HOME, kp=1e5, kd=1.0)
    for name, torque_limits in (("within", True), ("beyond", False)):
        cr.export(stiff, "python", tmp_path / f"{name}.py", torque_limits=torque_limits)
    import beyond
    import within

    assert within.Controller().step(HOME - 1.0, [0.0] * 7) == PANDA.limits.effort.tolist()
    assert min(beyond.Controller().step(HOME - 1.0, [0.0] * 7)) > 1e4


def test_a_plain_function_is_exported_for_a_robot(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    arm = cr.load("planar_2r")
    for name, law in (("plain", spring), ("marked", cr.traceable(spring)), ("sampled", cr.Sampled(spring, 0.01))):
        cr.export(law, "python", tmp_path / f"{name}_law.py", rate=100, robot=arm)
    import marked_law
    import plain_law
    import sampled_law

    for module in (plain_law, marked_law, sampled_law):
        controller = module.Controller()
        for k in range(3):
            assert np.allclose(controller.step([0.3, -0.2], [0.1, 0.0]), spring(k * 0.01, [0.3, -0.2], [0.1, 0.0]))


class Mixer:
    """An object with a tick of its own, and two outputs."""

    def tick(self, rate=None):
        q = Signal.of_joints(PANDA, "q", "positions", "position")
        gauge = Signal("gauge", 'strain */ """ <b>', ("a\nb", "#error"), ("V", "V"))

        def compute(inputs, memory, s, p):
            (a, b), count = inputs[1], memory[0]
            return [x + count for x in inputs[0]] + [a / b, p[0] * b], [count + 1]

        return Tick("Mixer", PANDA, 1 / (rate or 250.0), (q, gauge), (q.__class__(**vars(q) | {"name": "moved"}), gauge.__class__(
            "strain", "a share", ("x", "y"), ("", "V"))), compute, "mixer", np.ones(1), "a count", np.array([2.0]))  # fmt: skip


@needs_compiler
def test_what_has_a_tick_is_exported(tmp_path):
    files = cr.export(Mixer(), "c", tmp_path / "law.c")
    assert check_c(tmp_path).startswith("0 of 576 numbers differ")
    assert "250 ticks a second" in next(file for file in files if file.suffix == ".md").read_text()
    cr.export(Mixer(), "python", tmp_path / "law.py")
    assert run([sys.executable, "law_check.py"], tmp_path).startswith("0 of 576")


def test_names_of_files_do_not_become_code(tmp_path):
    arm = cr.load("planar_2r")
    bad = '*/ #error "\n"""\n<script>`$x`{{}}'
    names = {name: f"{name}{bad}" for name in arm.joint_names}
    hostile = arm.rename({**names, **{name: f"{name}{bad}" for name in arm.link_names}})
    texts = {}
    for target, main in MAIN.items():
        files = cr.export(cr.GravityCompensation(hostile), target, tmp_path / target / main)
        texts |= {file: file.read_text() for file in files}
    assert len(texts) == 5 + 6 + 5 + 4 + 4
    for file, text in texts.items():
        assert not re.search(r"\*/ #error|<script>|`\$x`", text), file
        assert "Written by chainrule." in text.splitlines()[0]
    if COMPILER:
        shutil.copytree(tmp_path / "c", tmp_path / "compiled")
        assert check_c(tmp_path / "compiled").startswith("0 of")
    assert run([sys.executable, "law_check.py"], tmp_path / "python").startswith("0 of")


def test_files_of_others_are_left_alone(tmp_path):
    law = cr.GravityCompensation(cr.load("planar_2r"))
    (tmp_path / "law.h").write_text("mine")
    with pytest.raises(cr.ShapeError, match=r"has not written .*law\.h"):
        cr.export(law, "c", tmp_path / "law.c")
    assert os.listdir(tmp_path) == ["law.h"]
    cr.export(law, "c", tmp_path / "law.c", overwrite=True)
    assert {Path(x).name for x in cr.export(law, "c", tmp_path / "folder")} == {
        "folder.c", "folder.h", "folder_recorded.h", "folder_check.c", "folder.md",
    }  # fmt: skip


def branching(t, q, qd):
    if q[0] > 0:
        return [1.0, 0.0]
    return [0.0, 0.0]


class Branching(cr.Controller):
    """A law with a branch on a value."""

    def __init__(self, robot):
        super().__init__(robot, {})

    def torque(self, q, qd, z, s, p):
        return [1.0 if x > 0 else -1.0 for x in q], []


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        (branching, {"robot": True}, r"cannot be traced, at line \d+ of test_export.py \(if q\[0\] > 0:\)"),
        (Branching, {}, r"torque cannot be traced, at line \d+ of test_export.py \(return \[1.0 if x > 0"),
        (spring, {}, "a function knows no robot; pass robot="),
        (lambda arm: cr.Sampled(cr.PD(arm, [0, 0]), 0.01), {"rate": 500}, "its period of 0.01 s is a rate of 100, not 500"),
        (lambda arm: cr.PD(arm, np.zeros((3, 2))), {}, r"a batch of shape \(3,\), and one robot has one controller"),
        (lambda arm: cr.PD(arm, [0, 0]), {"rate": 0}, "rate"),
        (lambda arm: cr.PD(arm, [0, 0]), {"target": "fortran"}, "target"),
        (lambda arm: cr.PD(arm, [0, 0]), {"path": "law.h"}, r"path must end in \.c, or be a folder"),
        (lambda arm: cr.PD(arm, [0, 0]), {"path": "my law.c"}, "'my law' becomes a name in the code"),
        (lambda arm: cr.PD(arm, [0, 0]), {"path": "class.c"}, "'class' becomes a name"),
        (lambda arm: arm, {}, r"robot.compiled.export\(target"),
        (lambda arm: 3.0, {}, "give a controller"),
    ],
)  # fmt: skip
def test_what_cannot_be_exported_says_why(law, options, message, tmp_path):
    arm = cr.load("planar_2r")
    made = law if law in (branching, spring) else law(arm)
    options = {"target": "c", "path": "law.c"} | options
    if options.get("robot"):
        options["robot"] = arm
    options["path"] = tmp_path / options["path"]
    with pytest.raises(cr.ChainruleError, match=message):
        cr.export(made, **options)
    assert not any(tmp_path.iterdir())


@needs_compiler
@pytest.mark.slow
def test_random_controllers_are_the_simulation_to_the_last_bit(monkeypatch, capsys):
    monkeypatch.setattr(
        sys, "argv", ["exported_controllers.py", "--count", "60", "--each", "20", "--seed", "5", "--calls", "1000"]
    )
    runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "exported_controllers.py"), run_name="__main__")
    assert "0 torques differ in a bit, by 0 at most" in capsys.readouterr().out


def test_a_tick_that_is_too_long_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr("chainrule.realtime.export.MAX_OPERATIONS", 10)
    with pytest.raises(
        cr.ShapeError, match=r"takes \d+ operations, and 10 are allowed: .*closed loops whose equations"
    ):
        cr.export(cr.GravityCompensation(FIVE), "c", tmp_path / "law.c")


class Waving(cr.Controller):
    """A law with signals that Python computes."""

    width = 1

    def __init__(self, robot):
        super().__init__(robot, {})

    def signals(self, t):
        return np.sin(np.asarray(t))[..., None]

    def torque(self, q, qd, z, s, p):
        return [s[0] - x for x in q], []


def test_signals_from_python_are_no_code(tmp_path):
    with pytest.raises(cr.ShapeError, match="Waving: its signals come from Python; give it a target"):
        cr.export(Waving(cr.load("planar_2r")), "c", tmp_path / "law.c")
