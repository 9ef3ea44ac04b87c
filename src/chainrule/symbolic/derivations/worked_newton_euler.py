"""The Newton-Euler equations worked in numbers: each formula, the numbers put in, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from chainrule.algorithms.vector_form import UNITS
from chainrule.arguments import Array
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import require
from chainrule.core.mechanism import Mechanism
from chainrule.dynamics.dynamics import inverse_dynamics
from chainrule.dynamics.textbook import newton_euler_table
from chainrule.errors import ChainruleError, ModelError
from chainrule.model import PosedBody
from chainrule.symbolic.derivations.latex_names import link_quantity, subscript
from chainrule.symbolic.derivations.quantities import number_matrix
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph, TableBlock

DIGITS = 5
"""Significant digits of the numbers that are put in; results are computed with all of them."""

AGREEMENT_TOLERANCE = 1e-9
"""Relative difference by rounding from the robot's own table."""

OUTWARD = ("omega", "omega_dot", "v_dot", "v_dot_com", "F", "N")
INWARD = ("f", "n")


class WorkedStep(NamedTuple):
    """A formula with the names of its quantities, the same with their numbers, and the result."""

    formula: str
    numbers: str
    value: Array


class WorkedLink(NamedTuple):
    """The steps of a link by the columns of the table, its posed body, and the step of its torque."""

    body: PosedBody
    steps: dict[str, WorkedStep]


def worked_newton_euler(robot: Mechanism, state: tuple[Array, Array, Array]) -> list[Block]:
    """The sections of outward iterations, inward iterations and torques, in numbers, for a robot of any size."""
    links = work(robot, state)
    model = merged_model(robot)
    gravity = [-float(x) for x in model.gravity]
    blocks: list[Block] = [
        *_state(robot, state),
        Heading("Outward iterations: from the base to the tips"),
        Paragraph(
            "The base is at rest, and gravity is an acceleration of it upwards. Vectors are in their link's axes."
        ),
        Equation((Formula(r"\omega_0 = \dot{\omega}_0"), number_matrix([0.0, 0.0, 0.0])), "rad/s, rad/s^2"),
        Equation((Formula(r"\dot{v}_0"), Formula("-g_0"), number_matrix(gravity)), "m/s^2"),
    ]
    for link in links:
        blocks += _heading(link) + _geometry(link) + substitutions(link, OUTWARD)
    blocks += [Heading("Inward iterations: from the tips to the base")]
    for link in reversed(links):
        blocks += _heading(link) + substitutions(link, INWARD)
    return [*blocks, Heading("Joint torques and forces"), *_torques(robot, state, links)]


def work(robot: Mechanism, state: tuple[Array, Array, Array], **loads: Any) -> list[WorkedLink]:
    """The steps of all links at a state, checked against the robot's own table. Wrenches are those of that table."""
    require(robot, "mass_matrix")
    if robot.model.constraints:
        raise ModelError(f"robot {robot.name!r} has loops, whose forces no recursion gives; see robot.textbook.dae()")
    model = merged_model(robot)
    q, qd, qdd = ([float(x) for x in part] for part in state)
    links: list[WorkedLink] = []
    for body in model.at(q):
        links.append(WorkedLink(body, _outward(body, links, qd, qdd, [-float(x) for x in model.gravity])))
    table = newton_euler_table(robot, *state, **loads)
    is_loaded = bool(loads or model.springs)
    children: list[list[WorkedLink]] = [[] for _ in range(len(links) + 1)]
    for link in reversed(links):
        link.steps.update(_inward(link, children[link.body.index]))
        if is_loaded:
            _add_wrench(link, table.f[link.body.index - 1], table.n[link.body.index - 1])
        children[link.body.parent].append(link)
    for column in UNITS:
        ours, own = np.array([link.steps[column].value for link in links]), np.asarray(getattr(table, column))
        if np.abs(ours - own).max(initial=0.0) > AGREEMENT_TOLERANCE * max(1.0, np.abs(own).max(initial=0.0)):
            raise ChainruleError(
                f"{column} of robot {robot.name!r}, worked step by step, differs from the robot's own table: this "
                "example is not to be trusted; please report it with the robot's file"
            )
    return links


def _outward(
    body: PosedBody, links: Sequence[WorkedLink], qd: Sequence[float], qdd: Sequence[float], up: Sequence[float]
) -> dict[str, WorkedStep]:
    i, p = body.index, body.parent
    zero = np.zeros(3)
    before = {"omega": zero, "omega_dot": zero, "v_dot": np.array(up)}
    if p:
        before = {name: links[p - 1].steps[name].value for name in before}
    w, wd, a = before["omega"], before["omega_dot"], before["v_dot"]
    R, P = _rows(body.T.rotation).T, _vector(body.T.translation)
    joint, rate = body.along(qd), body.along(qdd) + body.velocity_product(qd)
    turn, slide, turn_rate, slide_rate = map(_vector, (joint.angular, joint.linear, rate.angular, rate.linear))
    turns, slides = bool(np.any(_screws(body)[:, :3])), bool(np.any(_screws(body)[:, 3:]))
    names = {n: link_quantity(n, p) for n in before}
    Rt, Pn = rf"R_{{{i}}}^T", subscript("P", i)
    single = len(body.S) == 1 and not (turns and slides) and body.body.joint.mimic is None
    rate_name = {
        "turn": rf"\hat{{z}}_{{{i}}} \dot{{q}}_{{{i}}}" if single else rf"\omega_{{J{i}}}",
        "turn_rate": rf"\hat{{z}}_{{{i}}} \ddot{{q}}_{{{i}}}" if single else rf"\dot{{\omega}}_{{J{i}}}",
        "slide": rf"\hat{{z}}_{{{i}}} \dot{{q}}_{{{i}}}" if single else rf"v_{{J{i}}}",
        "slide_rate": rf"\hat{{z}}_{{{i}}} \ddot{{q}}_{{{i}}}" if single else rf"\dot{{v}}_{{J{i}}}",
    }
    steps: dict[str, WorkedStep] = {}
    carried = R @ w
    omega = carried + turn
    steps["omega"] = WorkedStep(
        rf"{Rt} {names['omega']}" + (f" + {rate_name['turn']}" if turns else ""),
        f"{mat(R)} {vec(w)}" + (f" + {vec(turn)}" if turns else ""),
        omega,
    )
    omega_dot = R @ wd + np.cross(carried, turn) + turn_rate
    steps["omega_dot"] = WorkedStep(
        rf"{Rt} {names['omega_dot']}"
        + (rf" + {Rt} {names['omega']} \times {rate_name['turn']} + {rate_name['turn_rate']}" if turns else ""),
        f"{mat(R)} {vec(wd)}" + (rf" + {vec(carried)} \times {vec(turn)} + {vec(turn_rate)}" if turns else ""),
        omega_dot,
    )
    moved = np.cross(wd, P) + np.cross(w, np.cross(w, P)) + a
    v_dot = R @ moved + 2 * np.cross(carried, slide) + np.cross(turn, slide) + slide_rate
    both = turns and slides
    steps["v_dot"] = WorkedStep(
        rf"{Rt} \left({names['omega_dot']} \times {Pn} + {names['omega']} \times "
        rf"\left({names['omega']} \times {Pn}\right) + {names['v_dot']}\right)"
        + (rf" + 2 {Rt} {names['omega']} \times {rate_name['slide']}" if slides else "")
        + (rf" + {rate_name['turn']} \times {rate_name['slide']}" if both else "")
        + (f" + {rate_name['slide_rate']}" if slides else ""),
        rf"{mat(R)} \left({vec(wd)} \times {vec(P)} + {vec(w)} \times \left({vec(w)} \times {vec(P)}\right) + {vec(a)}"
        r"\right)"
        + (rf" + 2 {vec(carried)} \times {vec(slide)}" if slides else "")
        + (rf" + {vec(turn)} \times {vec(slide)}" if both else "")
        + (f" + {vec(slide_rate)}" if slides else ""),
        v_dot,
    )
    link = body.body.link
    c, I, m = _vector(link.com), _rows(link.inertia), float(link.mass)
    own = {n: link_quantity(n, i) for n in OUTWARD}
    com = rf"P_{{C{i}}}"
    v_com = np.cross(omega_dot, c) + np.cross(omega, np.cross(omega, c)) + v_dot
    steps["v_dot_com"] = WorkedStep(
        rf"{own['omega_dot']} \times {com} + {own['omega']} \times \left({own['omega']} \times {com}\right) "
        rf"+ {own['v_dot']}",
        rf"{vec(omega_dot)} \times {vec(c)} + {vec(omega)} \times \left({vec(omega)} \times {vec(c)}\right) "
        rf"+ {vec(v_dot)}",
        v_com,
    )
    steps["F"] = WorkedStep(rf"{subscript('m', i)} {own['v_dot_com']}", rf"{num(m)} {vec(v_com)}", m * v_com)
    N = I @ omega_dot + np.cross(omega, I @ omega)
    inertia = subscript("I", i)
    steps["N"] = WorkedStep(
        rf"{inertia} {own['omega_dot']} + {own['omega']} \times {inertia} {own['omega']}",
        rf"{mat(I)} {vec(omega_dot)} + {vec(omega)} \times {vec(I @ omega)}",
        N,
    )
    return steps


def _inward(link: WorkedLink, children: Sequence[WorkedLink]) -> dict[str, WorkedStep]:
    i = link.body.index
    F, N = link.steps["F"].value, link.steps["N"].value
    c = _vector(link.body.body.link.com)
    f, n = F, N + np.cross(c, F)
    names = [link_quantity("F", i)]
    numbers = [vec(F)]
    moments = [rf"{link_quantity('N', i)} + P_{{C{i}}} \times {link_quantity('F', i)}"]
    moment_numbers = [rf"{vec(N)} + {vec(c)} \times {vec(F)}"]
    for child in reversed(children):
        k, R, P = child.body.index, _rows(child.body.T.rotation), _vector(child.body.T.translation)
        fk, nk = child.steps["f"].value, child.steps["n"].value
        carried = R @ fk
        f, n = f + carried, n + R @ nk + np.cross(P, carried)
        Rk, Pk = subscript("R", k), subscript("P", k)
        names.append(rf"{Rk} {link_quantity('f', k)}")
        numbers.append(rf"{mat(R)} {vec(fk)}")
        moments.append(rf"{Rk} {link_quantity('n', k)} + {Pk} \times {Rk} {link_quantity('f', k)}")
        moment_numbers.append(rf"{mat(R)} {vec(nk)} + {vec(P)} \times {vec(carried)}")
    return {
        "f": WorkedStep(" + ".join(names), " + ".join(numbers), f),
        "n": WorkedStep(" + ".join(moments), " + ".join(moment_numbers), n),
    }


def _add_wrench(link: WorkedLink, f: Array, n: Array) -> None:
    """Take the wrench that acts on a link, of springs too, off the force and the moment from its parent."""
    for column, own in (("f", f), ("n", n)):
        step = link.steps[column]
        acting = step.value - own
        if np.abs(acting).max() > AGREEMENT_TOLERANCE * max(1.0, np.abs(own).max()):
            name = rf"{column}_{{W{link.body.index}}}"
            link.steps[column] = WorkedStep(f"{step.formula} - {name}", f"{step.numbers} - {vec(acting)}", own)


def substitutions(link: WorkedLink, columns: Iterable[str], *, apart: bool = True) -> list[Block]:
    """The steps of a link: for each a formula, the numbers put in, and the result.

    The name of the quantity is a side of the equation by itself, unless another equation has it.
    """
    blocks: list[Block] = []
    for column in columns:
        step = link.steps[column]
        name = link_quantity(column, link.body.index)
        left = (Formula(name), Formula(step.formula)) if apart else (Formula(f"{name} = {step.formula}"),)
        sides = (*left, Formula(step.numbers), Formula(vec(step.value)))
        blocks.append(Equation(sides, UNITS[column]))
    return blocks


def _heading(link: WorkedLink) -> list[Block]:
    return [Heading(f"Link {link.body.index}: {link.body.body.link.name}", 2)]


def _geometry(link: WorkedLink) -> list[Block]:
    """What is put in for a link: its pose in the parent, its mass, its center of mass and its inertia."""
    i, body = link.body.index, link.body.body
    words = f"Joint {i} ({body.joint.name}, {body.joint.type}) moves it in link {link.body.parent}:"
    return [
        Paragraph(words),
        Equation((Formula(subscript("R", i)), number_matrix(np.round(_rows(link.body.T.rotation), 9)))),
        Equation((Formula(subscript("P", i)), number_matrix(np.round(_vector(link.body.T.translation), 9))), "m"),
        Equation((Formula(subscript("m", i)), Formula(num(float(body.link.mass)))), "kg"),
        Equation((Formula(rf"P_{{C{i}}}"), number_matrix(_vector(body.link.com))), "m"),
        Equation((Formula(subscript("I", i)), number_matrix(_rows(body.link.inertia))), "kg m^2"),
    ]


def _state(robot: Mechanism, state: tuple[Array, Array, Array]) -> list[Block]:
    layout = robot.model.layout
    rows = [(c.name, f"{x:.6g}", c.unit) for c, x in zip(layout.coordinates, state[0], strict=True)]
    rates = [
        (v.name, f"{x:.6g}", f"{y:.6g}", f"{v.unit}/s, {v.unit}/s²")
        for v, x, y in zip(layout.velocities, *state[1:], strict=True)
    ]
    return [
        Heading("State"),
        TableBlock(("coordinate", Formula("q"), "unit"), tuple(rows)),
        TableBlock(("joint", Formula(r"\dot{q}"), Formula(r"\ddot{q}"), "unit"), tuple(rates)),
    ]


def _torques(robot: Mechanism, state: tuple[Array, Array, Array], links: Sequence[WorkedLink]) -> list[Block]:
    """The torque of each joint: what goes along its axis, and what rotors, springs and friction add."""
    tau = np.asarray(inverse_dynamics(robot, *state), dtype=float)
    along = np.zeros(robot.nv)
    written: dict[int, tuple[list[str], list[str]]] = {k: ([], []) for k in range(robot.nv)}
    for link in links:
        i, n, f = link.body.index, link.steps["n"].value, link.steps["f"].value
        for k, S in link.body.S:
            for name, vector, axis in (("n", n, _vector(S.angular)), ("f", f, _vector(S.linear))):
                if np.any(axis):
                    written[k][0].append(rf"{link_quantity(name, i)} \cdot {vec(axis)}")
                    written[k][1].append(rf"{vec(vector)} \cdot {vec(axis)}")
                    along[k] += float(vector @ axis)
    blocks: list[Block] = [
        Paragraph("The motor supplies what goes along the axis of its joint; rotors, springs and friction add theirs.")
    ]
    for k, velocity in enumerate(robot.model.layout.velocities):
        formula, numbers = (" + ".join(parts) or "0" for parts in written[k])
        rest = tau[k] - along[k]
        if abs(rest) > 1e-12 * max(1.0, np.abs(tau).max(initial=0.0)):
            numbers += rf" + {num(rest)}"
            formula += r" + \tau_{\mathrm{rotor, spring, friction}}"
        sides = (Formula(rf"\tau_{{{k + 1}}}"), Formula(formula), Formula(numbers), Formula(num(tau[k])))
        blocks.append(Equation(sides, "N m" if velocity.unit == "rad" else "N"))
    return blocks


def num(x: float) -> str:
    """A number with few digits; one below zero is in brackets where it follows a sign."""
    if abs(x) < 1e-12:
        return "0"
    text = f"{x:.{DIGITS}g}"
    mantissa, _, exponent = text.partition("e")
    return mantissa if not exponent else rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def vec(v: Iterable[Any]) -> str:
    """A column of numbers in LaTeX."""
    return r"\left[\begin{matrix}" + r"\\".join(num(float(x)) for x in v) + r"\end{matrix}\right]"


def mat(rows: Iterable[Iterable[Any]]) -> str:
    """A matrix of numbers in LaTeX."""
    lines = r"\\".join("&".join(num(float(x)) for x in row) for row in rows)
    return r"\left[\begin{matrix}" + lines + r"\end{matrix}\right]"


def _vector(v: Iterable[Any]) -> Array:
    return np.array([float(x) for x in v])


def _rows(R: Any) -> Array:
    rows = R.matrix() if hasattr(R, "matrix") else R
    return np.array([[float(x) for x in row] for row in rows])


def _screws(body: PosedBody) -> Array:
    return np.array([[float(x) for x in S] for _, S in body.S]).reshape(-1, 6)
