"""Source code of the equations, compiled or run in its own language and compared with the kernels."""

import ctypes
import math
import re
import shutil
import subprocess
from operator import attrgetter

import numpy as np
import pytest
import sympy as sp
from numpy.testing import assert_allclose
from processes import program

import chainrule as cr
from chainrule.errors import ShapeError, UnknownNameError
from chainrule.symbolic.closed_form.equations import equations
from chainrule.symbolic.closed_form.matrices import ARGUMENTS
from chainrule.symbolic.source_code.exports import (
    MatrixFunction,
    export,
    identifier,
    suffix,
)
from chainrule.symbolic.source_code.languages import LANGUAGES

TERMS = ("M", "C", "c", "g", "friction", "tau")
CASES = [("planar_2r", "symbolic"), ("scara", "symbolic"), ("planar_rp", "numeric"), ("puma560", "numeric")]
KINEMATIC_TERMS = ("T", "position", "J", "pose_vector", "analytic_jacobian", "manipulability")
IDENTIFIER = re.compile(r"[A-Za-z]\w*")

needs_octave = pytest.mark.skipif(
    shutil.which("octave-cli") is None, reason="there is no Octave; `make languages` installs it"
)


def states(robot, count=3):
    rng = np.random.default_rng(8)
    return [(robot.random_state(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)) for _ in range(count)]


def expected(robot, term, q, qd, qdd):
    values = {
        "M": lambda: robot.mass_matrix(q),
        "C": lambda: robot.coriolis_matrix(q, qd),
        "c": lambda: robot.coriolis_matrix(q, qd) @ qd,
        "g": lambda: robot.gravity_torque(q),
        "friction": lambda: robot.friction_torque(qd),
        "tau": lambda: robot.inverse_dynamics(q, qd, qdd),
    }
    return values[term]()


def arguments(term, q, qd, qdd):
    given = {"q": q, "qd": qd, "qdd": qdd}
    return [given[name] for name in ARGUMENTS[term] if name in given]


def same(found, robot, term, state):
    wanted = expected(robot, term, *state)
    if term == "C":  # the matrix itself is not unique; Christoffel's is symmetric in the velocities
        found, wanted = np.reshape(found, wanted.shape) @ state[1], wanted @ state[1]
    scale = max(1.0, np.abs(wanted).max())
    assert_allclose(np.ravel(found) / scale, np.ravel(wanted) / scale, rtol=1e-10, atol=1e-10)


def compiled(text, folder):
    """The functions of C code, compiled with every warning as an error."""
    source, library = folder / "arm.c", folder / "arm.so"
    source.write_text(text)
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([program("gcc"), *flags, str(source), "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def called(functions, name, given, shape):
    """What a compiled function writes into its last argument, an array of this shape."""
    out = np.full(shape, np.nan)
    inputs = [np.ascontiguousarray(a) for a in given]
    attrgetter(name)(functions)(*(ctypes.c_void_p(a.ctypes.data) for a in (*inputs, out)))
    return out


def octave_results(text, calls, folder):
    """What functions of Octave code return, row by row, for calls (name, arguments)."""
    lines = []
    for name, given in calls:
        written = ", ".join("[" + " ".join(f"{x!r}" for x in a.tolist()) + "]" for a in given)
        lines.append(f"x = {name}({written})'; printf('%.17g ', x(:)); printf('\\n');")
    script = folder / "arm.m"
    script.write_text(text + "\n" + "\n".join(lines) + "\n")
    done = subprocess.run(["octave-cli", "--norc", "--quiet", str(script)], capture_output=True, text=True, check=True)
    return [[float(x) for x in row.split()] for row in done.stdout.strip().split("\n")]


@pytest.fixture(scope="module", params=[*CASES[:3], pytest.param(CASES[3], marks=pytest.mark.slow)], ids="-".join)
def written(request):
    name, parameters = request.param
    robot = cr.load(name)
    return robot, equations(robot, parameters)


def test_c_compiles_without_a_warning_and_gives_the_kernels_numbers(written, tmp_path):
    robot, eqs = written
    functions = compiled(eqs.source_code("c", TERMS), tmp_path)
    for state in states(robot):
        for term in TERMS:
            shape = expected(robot, term, *state).shape
            found = called(functions, f"{robot.name}_{term}", arguments(term, *state), shape)
            same(found, robot, term, state)


def test_numpy_code_gives_the_kernels_numbers_for_batches(written):
    robot, eqs = written
    scope = {}
    exec(eqs.source_code("numpy", TERMS), scope)
    batch = [np.stack(parts) for parts in zip(*states(robot), strict=True)]
    for term in TERMS:
        found = scope[f"{robot.name}_{term}"](*arguments(term, *batch))
        for k, state in enumerate(states(robot)):
            same(found[k], robot, term, state)


@needs_octave
def test_octave_gives_the_kernels_numbers(written, tmp_path):
    robot, eqs = written
    state = states(robot)[0]
    calls = [(f"{robot.name}_{term}", arguments(term, *state)) for term in TERMS]
    rows = octave_results(eqs.source_code("octave", TERMS), calls, tmp_path)
    for term, row in zip(TERMS, rows, strict=True):
        same(row, robot, term, state)


@pytest.fixture(scope="module", params=["planar_rp", "scara", "wrist"])
def kinematic(request):
    """Kinematic equations of an arm, and configurations; Euler angles of a PUMA's wrist are arctangents."""
    if request.param == "wrist":
        arm = cr.load("puma560")
        robot = arm.lock(dict.fromkeys(arm.joint_names[:3], 0.0)).reference
        own = robot.kinematic_equations(order="zyz")
    else:
        robot = cr.load(request.param).reference
        own = robot.kinematic_equations()
    return own, robot.random_state(np.random.default_rng(9), (4,))


def test_c_of_kinematic_equations_gives_the_numbers_of_lambdify(kinematic, tmp_path):
    own, configurations = kinematic
    functions = compiled(own.source_code("c", KINEMATIC_TERMS, prefix="arm"), tmp_path)
    for term in KINEMATIC_TERMS:
        for q, wanted in zip(configurations, own.lambdify(term)(configurations), strict=True):
            assert_allclose(called(functions, f"arm_{term}", [q], wanted.shape), wanted, rtol=1e-10, atol=1e-12)


@needs_octave
def test_octave_of_kinematic_equations_gives_the_numbers_of_lambdify(kinematic, tmp_path):
    own, configurations = kinematic
    calls = [(f"arm_{term}", [q]) for term in KINEMATIC_TERMS for q in configurations]
    rows = iter(octave_results(own.source_code("octave", KINEMATIC_TERMS, prefix="arm"), calls, tmp_path))
    for term in KINEMATIC_TERMS:
        for wanted in own.lambdify(term)(configurations):
            assert_allclose(next(rows), wanted.ravel(), rtol=1e-10, atol=1e-12)


def sign(x):
    return (x > 0) - (x < 0)


def interpreted(text, name, given):
    """A tiny reading of Octave, Julia and Modelica: assignments, one after the other, indices from one."""
    start = re.search(rf"function .*\b{name}\b.*\n", text).end()
    body = text[start : re.search(r"^end", text[start:], re.MULTILINE).start() + start]
    scope = {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt, "sign": sign, "__builtins__": {}}
    scope |= {argument: [None, *values] for argument, values in given.items()}
    groups = "|".join(given)
    out = {}
    for row in body.split("\n"):
        match = re.fullmatch(r"\s*(out[\[(][\d, ]+[\])]|\w+) :?= (.*?);?", row)
        if match is None or match[2].startswith("zeros"):
            continue
        expression = re.sub(rf"\b({groups})\((\d+)\)", r"\1[\2]", match[2]).replace("^", "**").replace("//", "/")
        value = eval(expression, scope)
        if match[1].startswith("out"):
            out[tuple(int(i) for i in re.findall(r"\d+", match[1]))] = value
        else:
            scope[match[1]] = value
    return out


@pytest.mark.parametrize("language", ["octave", "julia", "modelica"])
def test_other_languages_say_the_same_read_line_by_line(language):
    for name, parameters in CASES[:3]:
        robot = cr.load(name)
        text = equations(robot, parameters).source_code(language, ("M", "c", "g", "tau"))
        for state in states(robot):
            for term in ("M", "c", "g", "tau"):
                given = dict(zip(ARGUMENTS[term], (a.tolist() for a in arguments(term, *state)), strict=False))
                entries = interpreted(text, f"{robot.name}_{term}", given)
                wanted = expected(robot, term, *state)
                found = np.zeros_like(wanted)
                for place, value in entries.items():
                    found[tuple(i - 1 for i in place)[: found.ndim]] = value
                same(found, robot, term, state)


@pytest.mark.skipif(shutil.which("julia") is None, reason="there is no Julia")
def test_julia_gives_the_kernels_numbers(written, tmp_path):
    robot, eqs = written
    state = states(robot)[0]
    given = ", ".join(str(a.tolist()) for a in state)
    script = tmp_path / "arm.jl"
    script.write_text(eqs.source_code("julia", ["tau"]) + f"\nprintln({robot.name}_tau({given}))\n")
    done = subprocess.run(["julia", str(script)], capture_output=True, text=True, check=True)
    same([float(x) for x in done.stdout.strip()[1:-1].split(",")], robot, "tau", state)


def test_common_subexpressions_are_computed_once():
    text = equations(cr.load("scara")).source_code("c", ["tau"])
    assert text.count("cos(q[1])") == 1
    assert text.count("sin(q[1])") == 1


def test_names_from_a_file_never_reach_the_source():
    hostile = '*/ system("rm"); /* \\"""\nimport os'
    a, b = sp.Symbol('x"; exit(1); /*'), sp.Symbol("int")
    for language in LANGUAGES:
        text = export(
            {hostile: sp.Matrix([a * b, sp.Symbol("u") ** 2])},
            language,
            {a: 2.0, b: 3.0},
            hostile,
            {"u": [sp.Symbol("u")]},
        )
        assert "system(" not in text
        assert "exit(1)" not in text
        assert "\nimport os" not in text
        assert "int_ " in text
    scope = {}
    exec(export({"f": sp.Matrix([a * b])}, "numpy", {a: 2.0, b: 3.0}, hostile, {"u": [sp.Symbol("u")]}), scope)
    function = next(f for name, f in scope.items() if name.endswith("_f"))
    assert function([1.0]).tolist() == [6.0]


def test_identifiers_are_unique_and_no_words_of_a_language():
    for name in ("", "3", "a b", "über", "while", "q", "a-b", "__import__"):
        assert IDENTIFIER.fullmatch(identifier(name))
    first, second = sp.Symbol("a b"), sp.Symbol("a_b")
    scope = {}
    exec(export({"f": sp.Matrix([first - second])}, "numpy", {first: 5.0, second: 3.0}), scope)
    assert scope["robot_f"]().tolist() == [2.0]


def test_a_symbol_called_like_a_common_subexpression_stays_itself():
    x0, y = sp.Symbol("x0", real=True), sp.Symbol("y", real=True)
    big = sp.sin(y + 1)
    scope = {}
    exec(export({"f": sp.Matrix([x0 * big, big**2])}, "numpy", None, "robot", {"u": [x0, y]}), scope)
    assert_allclose(scope["robot_f"]([2.0, 0.5]), [2 * math.sin(1.5), math.sin(1.5) ** 2], rtol=1e-14)


def test_any_matrix_of_named_arguments_can_be_written():
    x, v = sp.symbols("x v")
    sources = {"A": MatrixFunction(sp.Matrix([[x, v], [0, x * v]]), {"s": [x, v]}), "b": sp.Matrix([x])}
    scope = {}
    exec(export(sources, "numpy", arguments={"s": [x, v]}), scope)
    assert scope["robot_A"]([2.0, 3.0]).tolist() == [[2.0, 3.0], [0.0, 6.0]]


def test_what_cannot_be_written_is_refused():
    eqs = equations(cr.load("pendulum"))
    with pytest.raises(UnknownNameError, match="no language named 'fortran'"):
        eqs.source_code("fortran")
    with pytest.raises(UnknownNameError, match="no term named 'N'"):
        eqs.source_code("c", ["N"])
    with pytest.raises(ShapeError, match="'z', which is no argument"):
        export({"f": sp.Matrix([sp.Symbol("z")])}, "c")
    with pytest.raises(ShapeError, match="letters, digits"):
        export({"f": sp.Matrix([1])}, "c", arguments={"q; x": []})
    assert {suffix(language) for language in LANGUAGES} == {".c", ".py", ".m", ".jl", ".mo"}
