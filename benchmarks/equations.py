"""Closed forms of robots: how long they take, and how much arithmetic is left in them, beside two peers.

    python benchmarks/equations.py [--quick] [--limit SECONDS] [--toolbox PYTHON] [--robots NAME ...] [--output FOLDER]

The mass matrix and all torques of seven robots, once with symbols for masses, lengths and inertias, once with numbers.
Peers get the same robot and the same symbols: Kane's method of SymPy's mechanics, and the symbolic recursion of
Robotics Toolbox, run by another Python that has it and SymPy (--toolbox). Each has a time limit for a robot (--limit).
What they return is counted as it comes, and again after sympy.simplify where that ends in a quarter of that time.
Operations are counted after sympy.cse in all cases but "intermediate variables", which share by themselves; those of
base parameters do not include what it takes to compute these, once, from masses and lengths. Every form is evaluated
at one state, and must give what the robot's own functions give.

A file that is already in the folder keeps its figures of peers that are not installed now, and of other robots.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import sympy as sp

ROBOTS = ("planar_2r", "planar_rp", "planar_3r", "spatial_3r", "scara", "stanford", "puma560")
KINDS = ("additions", "multiplications", "trigonometric", "total")
WANTED = ("mass_matrix", "inverse_dynamics")


def count_operations(matrix: sp.Matrix) -> dict[str, int]:
    """Operations of a matrix with common subexpressions shared; a power is one multiplication, and so is 8/5 x."""
    shared, reduced = sp.cse(list(matrix))
    whole = [
        e.xreplace({x: sp.Dummy() for x in e.atoms(sp.Number) if not x.is_Integer})
        for e in (*(e for _, e in shared), *reduced)
    ]
    total = sp.Add(*(sp.count_ops(x, visual=True) for x in whole))
    found = {str(term.as_coeff_Mul()[1]): int(term.as_coeff_Mul()[0]) for term in sp.Add.make_args(total)}
    groups = (("ADD", "SUB", "NEG"), ("MUL", "DIV", "POW"), ("SIN", "COS"))
    numbers = [sum(found.get(name, 0) for name in group) for group in groups]
    return dict(zip(KINDS, (*numbers, sum(numbers)), strict=True))


# --- peers: run in a process of their own, which may be another Python; a robot comes as JSON ---


def peer(name: str, limit: float) -> None:
    """Read a robot, and print a line of JSON for every matrix that is ready."""
    robot = json.load(sys.stdin)
    names = {**robot["values"], **robot["state"]}
    symbols = {name: sp.Symbol(name, real=True) for name in names}
    values = {symbols[name]: value for name, value in names.items()}

    def read(entry: Any) -> Any:
        return [read(x) for x in entry] if isinstance(entry, list) else sp.sympify(entry, symbols)

    def report(form: str, what: str, matrix: sp.Matrix) -> None:
        spent = time.perf_counter() - began
        numbers = sp.lambdify(list(values), list(matrix), cse=True)(*values.values())
        line = {"form": form, "what": what, "seconds": spent, "numbers": [float(x) for x in numbers]}
        print(json.dumps({**line, "operations": count_operations(matrix)}), flush=True)

    state = [[symbols[f"{letter}_{k + 1}"] for k in range(len(robot["dh"]))] for letter in ("q", "qdot", "qddot")]
    import_module("sympy.physics.mechanics" if name == "kane" else "roboticstoolbox")  # not part of the time
    build = {"kane": kane, "toolbox": toolbox}[name]
    began = time.perf_counter()
    matrices = {}
    for what, matrix in build(robot, state, read):
        matrices[what] = matrix
        report("as it comes", what, matrix)
    for what, matrix in matrices.items():
        began = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, limit / 4)
        report("simplified", what, matrix.applyfunc(sp.simplify))


def kane(robot: dict[str, Any], state: Any, read: Any) -> Any:
    """Kane's equations from frames, points and bodies."""
    from sympy.physics import mechanics as me

    n = len(robot["bodies"])
    q, u = me.dynamicsymbols(f"Q:{n}"), me.dynamicsymbols(f"U:{n}")
    rates = [x.diff(me.dynamicsymbols._t) for x in u]
    world, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(world, 0)
    at = [(world, origin)]

    def vector(frame: Any, entries: Any) -> Any:
        return sum((x * e for x, e in zip(entries, (frame.x, frame.y, frame.z), strict=True)), me.Vector(0))

    def rotated_frame(frame: Any, rows: Any, name: str) -> Any:
        if sp.Matrix(rows) == sp.eye(3):
            return frame
        result = me.ReferenceFrame(name)
        result.orient_explicit(frame, sp.Matrix(rows))
        result.set_ang_vel(frame, 0)
        return result

    def offset_point(frame: Any, point: Any, entries: Any, name: str) -> Any:
        step = vector(frame, entries)
        if step == 0:
            return point
        result = point.locatenew(name, step)
        result.v2pt_theory(point, world, frame)
        return result

    bodies, loads = [], []
    gravity = vector(world, read(robot["gravity"]))
    for k, body in enumerate(robot["bodies"]):
        parent, point = at[body["parent"]]
        point = offset_point(parent, point, read(body["origin"][1]), f"A{k}")
        parent = rotated_frame(parent, read(body["origin"][0]), f"F{k}")
        axis = vector(parent, read(body["axis"]))
        if body["kind"] == "revolute":
            frame = me.ReferenceFrame(f"B{k}")
            frame.orient_axis(parent, axis, q[k])
            frame.set_ang_vel(parent, u[k] * axis)
        else:
            frame, fixed = parent, point
            point = fixed.locatenew(f"S{k}", q[k] * axis)
            point.set_vel(frame, u[k] * axis)
            point.v1pt_theory(fixed, world, frame)
        point = offset_point(frame, point, read(body["offset"][1]), f"P{k}")
        frame = rotated_frame(frame, read(body["offset"][0]), f"E{k}")
        at.append((frame, point))
        centre = offset_point(frame, point, read(body["com"]), f"C{k}")
        mass, (xx, yy, zz, xy, xz, yz) = read(body["mass"]), read(body["inertia"])
        tensor = me.inertia(frame, xx, yy, zz, xy, yz, xz)
        bodies.append(me.RigidBody(f"L{k}", centre, frame, mass, (tensor, centre)))
        if mass:
            loads.append((centre, mass * gravity))
    kinematics = [x.diff(me.dynamicsymbols._t) - v for x, v in zip(q, u, strict=True)]
    method = me.KanesMethod(world, q_ind=q, u_ind=u, kd_eqs=kinematics)
    method.kanes_equations(bodies, loads)
    plain = dict(zip((*rates, *q, *u), (*state[2], *state[0], *state[1]), strict=True))
    mass_matrix = method.mass_matrix.xreplace(plain)
    yield "mass_matrix", mass_matrix
    yield "inverse_dynamics", mass_matrix * sp.Matrix(state[2]) - method.forcing.xreplace(plain)


def toolbox(robot: dict[str, Any], state: Any, read: Any) -> Any:
    """Robotics Toolbox's recursion, once for the torques and once for each column of the mass matrix."""
    import numpy as np
    from roboticstoolbox import DHLink, DHRobot

    links = []
    for row in robot["dh"]:
        a, alpha, d, theta, mass, com, inertia = (read(row[key]) for key in DH)
        xx, yy, zz, xy, xz, yz = inertia
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=object)
        place = {"d": d, "offset": theta} if row["kind"] == "R" else {"theta": theta, "offset": d}
        links.append(
            DHLink(
                a=a, alpha=alpha, sigma=int(row["kind"] == "P"), m=mass, r=np.array(com, dtype=object), I=tensor, G=0,
                Jm=0, B=0, Tc=[0, 0], **place,
            )
        )  # fmt: skip
    arm = DHRobot(links)
    q, qd, qdd = (np.array(part, dtype=object) for part in state)
    still = np.array([sp.S.Zero] * len(q), dtype=object)
    columns = [
        arm.rne_python(q, still, np.array([sp.Integer(i == k) for i in range(len(q))], dtype=object), [0, 0, 0])
        for k in range(len(q))
    ]
    yield "mass_matrix", sp.Matrix(np.array(columns, dtype=object).reshape(len(q), len(q)).T)
    gravity = np.array(read(robot["dh_gravity"]), dtype=object)
    yield "inverse_dynamics", sp.Matrix(arm.rne_python(q, qd, qdd, gravity).reshape(-1))


ENTRIES = ("xx", "yy", "zz", "xy", "xz", "yz")
DH = ("a", "alpha", "d", "theta", "mass", "com", "inertia")


def ask_peer(python: str, name: str, robot: dict[str, Any], limit: float) -> dict[str, Any]:
    """The forms that a peer returns within its time."""
    from chainrule.cli.benchmark.figures import NOT_INSTALLED

    command = [python, str(Path(__file__).resolve()), "--peer", name, "--limit", str(limit)]
    gave_up, errors = 0.0, ""
    try:
        done = subprocess.run(
            command, input=json.dumps(robot), capture_output=True, text=True, timeout=limit, check=False
        )
        text, errors = done.stdout, done.stderr if done.returncode > 0 else ""
        gave_up = limit / 4 if done.returncode == -signal.SIGALRM else 0.0
    except subprocess.TimeoutExpired as stopped:
        out = stopped.stdout or b""
        text, gave_up = out.decode() if isinstance(out, bytes) else out, limit
    found: dict[str, Any] = {"gave_up": gave_up}
    if errors:
        found["error"] = NOT_INSTALLED if "No module named" in errors else errors.strip().splitlines()[-1]
    for line in text.splitlines():
        if line.startswith("{") and line.endswith("}"):
            piece = json.loads(line)
            found.setdefault(piece.pop("form"), {})[piece.pop("what")] = piece
    return found


# --- our own ---


def load(name: str) -> Any:
    """A robot of the list, without friction and rotors, which are the same few terms for everybody."""
    import chainrule as cr

    robot = cr.load("puma560" if name == "spatial_3r" else name)
    if name == "spatial_3r":
        robot = robot.lock({"joint4": 0.0, "joint5": 0.0, "joint6": 0.0})
    return robot.without_friction().edit(joints={"*": {"rotor": 0}}).without_spring()


def describe(robot: Any, parameters: str, state: dict[str, float]) -> dict[str, Any]:
    """The robot for peers: bodies and joints over the symbols of its equations, and a Denavit-Hartenberg table."""
    from chainrule.model import Moved
    from chainrule.symbolic.algebra.ring import Element, exact

    symbolic = robot.equations(parameters).symbolic
    model = symbolic.model

    def text(x: Any) -> Any:
        if hasattr(x, "__iter__"):
            return [text(part) for part in x]
        return str(x.sympy() if isinstance(x, Element) else exact(float(x)))

    bodies = []
    for body in model.bodies:
        kind, offset = body.joint.kind, None
        if isinstance(kind, Moved):
            kind, offset = kind.inner, kind.offset
        turns = any(kind.angular)
        still = ([[str(int(i == j)) for j in range(3)] for i in range(3)], ["0"] * 3)
        bodies.append(
            {
                "parent": body.parent,
                "origin": (text(body.joint.origin.rotation), text(body.joint.origin.translation)),
                "kind": "revolute" if turns else "prismatic",
                "axis": text(kind.angular if turns else kind.linear),
                "offset": still if offset is None else (text(offset.rotation), text(offset.translation)),
                "mass": text(body.link.mass),
                "com": text(body.link.com),
                "inertia": text(body.link.inertia.entries()),
            }
        )
    values = {str(symbol): value for symbol, value in symbolic.parameters.items()}
    table = denavit_hartenberg(robot, parameters == "symbolic", values)
    gravity = text(model.gravity)
    return {"bodies": bodies, "gravity": gravity, "values": values, "state": state, **table}


def denavit_hartenberg(robot: Any, symbols: bool, values: dict[str, float]) -> dict[str, Any]:
    """The rows of the table, each with its link's inertia in the frame of the row, and gravity in frame 0."""
    import numpy as np

    table = robot.textbook.to_dh(convention="standard")
    zero, T = np.zeros(robot.nv), np.array(table.base.rows(), dtype=float)

    def number(name: str, value: float) -> str:
        value = 0.0 if abs(value) < 1e-9 else value
        if not value or not symbols:
            return str(sp.nsimplify(value)) if value in (0.0, 1.0, -1.0) else repr(float(value))
        name = name if values.get(name, value) == value else f"{name}t"
        values[name] = value
        return name

    def angle(name: str, value: float) -> str:
        quarters = value / (np.pi / 2)
        return f"{round(quarters)}*pi/2" if abs(quarters - round(quarters)) < 1e-9 else number(name, value)

    rows = []
    bodies = robot.merge_fixed().model.bodies
    for k, ((a, alpha, d, theta), kind, body) in enumerate(zip(table.rows, table.types, bodies, strict=True), 1):
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        A = [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
        T = T @ np.array(A)
        X = np.linalg.inv(T) @ robot.pose(zero, body.link.name)
        R, (xx, yy, zz, xy, xz, yz) = X[:3, :3], body.link.inertia.entries()
        turned = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float) @ R.T
        com = R @ np.array(list(body.link.com), dtype=float) + X[:3, 3]
        entries = [turned[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        rows.append(
            {
                "kind": kind, "a": number(f"a_{k}", a), "alpha": angle(f"alpha_{k}", alpha), "d": number(f"d_{k}", d),
                "theta": angle(f"theta_{k}", theta), "mass": number(f"m_{k}", body.link.mass),
                "com": [number(f"r_{k}{x}", c) for x, c in zip("xyz", com, strict=True)],
                "inertia": [number(f"I_{k}{x}", e) for x, e in zip(ENTRIES, entries, strict=True)],
            }
        )  # fmt: skip
    down = np.array(table.base.rows(), dtype=float)[:3, :3].T @ np.array(list(robot.model.gravity), dtype=float)
    size = "g" if symbols else repr(float(np.abs(down).max()))
    return {"dh": rows, "dh_gravity": [f"{round(x / np.abs(down).max())}*{size}" for x in down]}


def measure_own_forms(robot: Any, parameters: str, state: tuple[Any, Any, Any]) -> dict[str, Any]:
    """Seconds, operations and values of our own forms."""
    terms = dict(zip(WANTED, ("M", "tau"), strict=True))
    began = time.perf_counter()
    written = robot.equations(parameters)
    forms: dict[str, dict[str, Any]] = {"closed form": {}}
    for what, term in terms.items():
        written.term(term)
        forms["closed form"][what] = {"seconds": time.perf_counter() - began}
    began = time.perf_counter()
    variants = {"closed form": written}
    if parameters == "symbolic":
        variants["base parameters"] = written.in_base_parameters()
        forms["base parameters"] = {}
        for what, term in terms.items():
            variants["base parameters"].term(term)
            forms["base parameters"][what] = {"seconds": time.perf_counter() - began}
    for form, variant in variants.items():
        for what, term in terms.items():
            numbers = variant.lambdify(term)(*state)
            forms[form][what] |= {
                "operations": count_operations(variant.term(term)),
                "numbers": numbers.ravel().tolist(),
            }
    forms["intermediate variables"] = {}
    for what in terms:
        began = time.perf_counter()
        listed = written.intermediate(what)
        spent = time.perf_counter() - began
        values: dict[Any, Any] = dict(written.parameters)
        for symbols, numbers in zip((written.q, written.qd, written.qdd), state, strict=True):
            values |= dict(zip(symbols, numbers.tolist(), strict=True))
        for symbol, expression in listed.assignments:
            values[symbol] = float(expression.subs(values))
        numbers = [float(x.subs(values)) for x in listed.results[what]]
        entry = {"seconds": spent, "operations": listed.operations, "numbers": numbers}
        forms["intermediate variables"][what] = entry
    return forms


# --- the table ---


def compare_forms(name: str, parameters: str, limit: float, python: str | None) -> dict[str, Any]:
    """All forms of one robot, checked against its own functions."""
    import numpy as np

    from chainrule.cli.benchmark.figures import NOT_INSTALLED

    robot = load(name)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, size=(3, robot.nv))
    expected = {"mass_matrix": robot.mass_matrix(q).ravel(), "inverse_dynamics": robot.inverse_dynamics(q, qd, qdd)}
    found: dict[str, Any] = dict(measure_own_forms(robot, parameters, (q, qd, qdd)))
    letters = (("q", q), ("qdot", qd), ("qddot", qdd))
    state = {f"{letter}_{k + 1}": float(x) for letter, part in letters for k, x in enumerate(part)}
    description = describe(robot, parameters, state)
    for label, peer_name, interpreter in (("SymPy, Kane", "kane", sys.executable), ("Toolbox, rne", "toolbox", python)):
        heard = ask_peer(interpreter, peer_name, description, limit) if interpreter else {"error": NOT_INSTALLED}
        for form in ("as it comes", "simplified"):
            found[f"{label}, {form}"] = heard.get(form, {})
        if heard.get("gave_up"):
            last = "simplified" if found[f"{label}, as it comes"].keys() >= {*WANTED} else "as it comes"
            found[f"{label}, {last}"]["gave_up_after"] = heard["gave_up"]
        if "error" in heard:
            found[f"{label}, as it comes"]["error"] = heard["error"]
        if heard.get("error") == NOT_INSTALLED:
            found[f"{label}, simplified"]["error"] = NOT_INSTALLED
    for form, entry in found.items():
        for what in WANTED:
            if what in entry:
                numbers = np.array(entry[what].pop("numbers"))
                error = float(np.abs(numbers - expected[what]).max() / np.abs(expected[what]).max())
                if not error < 1e-8:
                    raise AssertionError(
                        f"{name}, {parameters}, {form}: {what} differs from the robot's by {error:.1e}"
                    )
    return found


def table_row(form: str, entry: dict[str, Any]) -> str:
    cells = []
    for what in WANTED:
        if what in entry:
            counts = entry[what]["operations"]
            cells.append(f"{entry[what]['seconds']:8.2f} s " + " ".join(f"{counts[kind]:6d}" for kind in KINDS))
        elif "error" in entry:
            cells.append(f"{entry['error']:>38.38}")
        else:
            waited = entry.get("gave_up_after")
            cells.append(f"{f'gave up after {waited:.0f} s' if waited else '-':>38}")
    return f"  {form:26}" + "  |".join(cells)


def main(names: list[str], limit: float, python: str | None, output: str | None) -> None:
    import chainrule as cr
    from chainrule.cli.benchmark.figures import NOT_RUN, write_figures

    cr.load("pendulum").equations().tau  # what is imported and compiled once  # noqa: B018
    header = f"{'seconds':>10} " + " ".join(f"{short:>6}" for short in ("+ -", "* /", "sin", "all"))
    print(f"{'':28}{'mass matrix':^38}   {'inverse dynamics':^38}\n{'':28}{header}   {header}")
    results: dict[str, Any] = {name: {"error": NOT_RUN} for name in ROBOTS if name not in names}
    for name in names:
        for parameters in ("symbolic", "numeric"):
            print(f"{name}, {parameters} parameters", flush=True)
            found = compare_forms(name, parameters, limit, python)
            results.setdefault(name, {})[parameters] = found
            for form, entry in found.items():
                if "simplified" in form and (not entry or "error" in entry):
                    continue
                print(table_row(form, entry), flush=True)
            print_ratios(found)
    if output:
        print(f"written: {write_figures(output, 'equations', {'limit': limit, 'robots': results})}")


def print_ratios(found: dict[str, Any]) -> None:
    """Our operations as a ratio to the fewest of each peer, in the same symbols; base parameters are not."""
    for label in ("SymPy", "Toolbox"):
        theirs = [entry for form, entry in found.items() if form.startswith(label)]
        parts = []
        for what in WANTED:
            best = min((e[what]["operations"]["total"] for e in theirs if what in e), default=None)
            if best:
                closed, listed = (
                    found[f][what]["operations"]["total"] for f in ("closed form", "intermediate variables")
                )
                parts.append(f"{what.replace('_', ' ')} {closed / best:.2f} closed, {listed / best:.2f} intermediate")
        if parts:
            print(f"  ratio to {label}'s fewest: " + "; ".join(parts))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the planar arm of two joints")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds that a peer may take for a robot")
    parser.add_argument("--toolbox", help="a Python that has roboticstoolbox and sympy")
    parser.add_argument("--robots", nargs="+", default=list(ROBOTS), choices=ROBOTS, help="only these")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    parser.add_argument("--peer", choices=("kane", "toolbox"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        peer(options.peer, options.limit)
    else:
        chosen = ["planar_2r"] if options.quick else options.robots
        main(chosen, options.limit, options.toolbox, options.output)
