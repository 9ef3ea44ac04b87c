"""Problems about statics, inertia, Lagrange's equations, recursions and the matrix form."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.exercises.exercise import Problem, Question
from chainrule.exercises.givens import State, draw_state, link_blocks, number, numbers, robot_tables, state_tables
from chainrule.robot.bodies import rigid_body
from chainrule.robot.robot import Robot
from chainrule.symbolic.derivations.worked_newton_euler import worked_newton_euler
from chainrule.symbolic.documents.blocks import Block, Equation, Formula, Heading, Paragraph

TIME_STEP = 0.01
"""Step of Euler's method in forward dynamics, in s."""

NOT_TERMS = ("total",)


def statics(robot: Robot, rng: np.random.Generator) -> Problem:
    """The torques by which the end-effector pushes on its surroundings at rest, and those that also carry the robot."""
    state = draw_state(robot, rng)
    F = np.round(np.concatenate([rng.uniform(-3, 3, 3), rng.uniform(-20, 20, 3)]), 1)
    tau, g = robot.static_torque(state.q, F), robot.gravity_torque(state.q)
    law = Equation((Formula(r"\tau"), Formula("J^T F")))
    both = Equation((Formula(r"\tau"), Formula("g(q) + J^T F")))
    words = (
        f"Statics of {robot.name}: at rest, the end-effector applies the wrench {numbers(F)} to its surroundings: "
        "moment in N m about its origin, then force in N, in the axes of the base."
    )
    return Problem(
        words,
        (*robot_tables(robot, with_masses=True), *state_tables(robot, q=state.q)),
        (
            Question(
                "tau", "The torques of the joints for that wrench, without gravity.", tau, "N m or N", r"\tau", (law,)
            ),
            Question("g", "The torques that carry the robot itself.", g, "N m or N", "g"),
            Question(
                "hold",
                "All of them together.",
                g + tau,
                "N m or N",
                r"\tau",
                (both,),
                parts={"gravity": g, "the wrench": tau},
            ),
        ),
    )


def inertia(robot: None, rng: np.random.Generator) -> Problem:
    """A cylinder and a prism as one body: center of mass, and inertia about it by Steiner's theorem."""
    masses = np.round(rng.uniform(0.5, 4, 2), 1)
    radius, height = np.round(rng.uniform(0.05, 0.2, 2), 2)
    size, place = np.round(rng.uniform(0.05, 0.4, 3), 2), np.round(rng.uniform(-0.4, 0.4, 3), 2)
    point = np.round(rng.uniform(-0.5, 0.5, 3), 1)
    cylinder = rigid_body(masses[0], shape="cylinder", radius=float(radius), length=float(height))
    prism = rigid_body(masses[1], shape="box", size=tuple(map(float, size)), xyz=tuple(map(float, place)))
    body = cylinder + prism
    com, I = (np.asarray(x, dtype=float) for x in (body.com, body.inertia))
    about = np.asarray(body.about(com + point), dtype=float)
    offset = point @ point * np.eye(3) - np.outer(point, point)
    moments = np.linalg.eigvalsh(I)
    steiner = Equation((Formula("I_q"), Formula(r"I_b + m \left(q^T q \, 1 - q q^T\right)")))
    words = (
        f"A body is made of a cylinder of {masses[0]} kg, radius {radius} m and height {height} m along z, whose "
        f"center is the origin, and of a prism of {masses[1]} kg with the sides {numbers(size)} m along x, y and z, "
        f"whose center is at {numbers(place)} m. Both are of uniform density."
    )
    return Problem(
        words,
        (),
        (
            Question(
                "com",
                "The center of mass.",
                com,
                "m",
                "p_C",
                (Equation((Formula("p_C"), Formula(r"\frac{m_1 p_1 + m_2 p_2}{m_1 + m_2}"))),),
            ),
            Question("inertia", "The inertia matrix about it.", I, "kg m^2", "I_b", (steiner,)),
            Question(
                "about",
                f"The inertia matrix about the point that is {numbers(point)} m from the center of mass.",
                about,
                "kg m^2",
                "I_q",
                (steiner,),
                mistakes={"Steiner's term has the wrong sign": I - body.mass * offset},
            ),
            Question("principal", "The principal moments, smallest first.", moments, "kg m^2", r"\lambda"),
        ),
    )


def newton_euler(robot: Robot, rng: np.random.Generator) -> Problem:
    """Craig's recursion outward and inward, in vectors."""
    state = draw_state(robot, rng)
    table = robot.textbook.newton_euler_table(*state)
    last, first = table.links[-1], table.links[0]
    return Problem(
        f"The torques of {robot.name} by the recursion of Newton and Euler, outward and inward.",
        _dynamic(robot, state._asdict()),
        (
            Question(
                "omega", f"The angular velocity of link {last}, in its axes.", table.omega[-1], "rad/s", r"\omega"
            ),
            Question(
                "v_dot_com",
                "The acceleration of its center of mass, with gravity as one of the base.",
                table.v_dot_com[-1],
                "m/s^2",
                r"\dot{v}_C",
            ),
            Question("F", "The force on it.", table.F[-1], "N", "F"),
            Question("N", "The moment on it.", table.N[-1], "N m", "N"),
            Question("f", f"The force through the joint of link {first}.", table.f[0], "N", "f"),
            Question("n", "The moment there.", table.n[0], "N m", "n"),
            _torque(robot, state),
        ),
        tuple(worked_newton_euler(robot, (state.q, state.qd, state.qdd))),
    )


def rnea(robot: Robot, rng: np.random.Generator) -> Problem:
    """The recursion in twists and wrenches."""
    state = draw_state(robot, rng)
    table = robot.textbook.rnea_table(*state)
    last, first = table.links[-1], table.links[0]
    rules: tuple[Block, ...] = (
        Equation((Formula("V_i"), Formula(r"\mathrm{Ad}_{T_{i,p}} V_p + A_i \dot{q}_i")), "rad/s, m/s"),
        Equation(
            (
                Formula(r"\dot{V}_i"),
                Formula(r"\mathrm{Ad}_{T_{i,p}} \dot{V}_p + \mathrm{ad}_{V_i} A_i \dot{q}_i + A_i \ddot{q}_i"),
            ),
            "rad/s^2, m/s^2",
        ),
        Equation(
            (
                Formula("F_i"),
                Formula(r"\sum_k \mathrm{Ad}_{T_{k,i}}^T F_k + G_i \dot{V}_i - \mathrm{ad}_{V_i}^T G_i V_i"),
            ),
            "N m, N",
        ),
        Equation((Formula(r"\tau_i"), Formula("F_i^T A_i")), "N m or N"),
    )
    return Problem(
        f"The torques of {robot.name} by the recursion in twists and wrenches, angular part and moment first.",
        _dynamic(robot, state._asdict()),
        (
            Question("V", f"The twist of link {last}, in its own frame.", table.V[-1], "rad/s, m/s", "V"),
            Question(
                "V_dot",
                "Its rate, with gravity as an acceleration of the base.",
                table.V_dot[-1],
                "rad/s^2, m/s^2",
                r"\dot{V}",
            ),
            Question("F", f"The wrench through the joint of link {first}, in its frame.", table.F[0], "N m, N", "F"),
            _torque(robot, state),
        ),
        (Heading("The recursion"), *rules, *link_blocks(table)),
    )


def lagrange(robot: Robot, rng: np.random.Generator) -> Problem:
    """Energies and the terms of Lagrange's equations."""
    state = draw_state(robot, rng)
    q, qd, _ = state
    K, P = float(robot.kinetic_energy(q, qd)), float(robot.potential_energy(q))
    M, C = robot.mass_matrix(q), robot.coriolis_matrix(q, qd)
    law = Equation(
        (
            Formula(r"\tau"),
            Formula(
                r"\frac{\mathrm{d}}{\mathrm{d} t} \, \frac{\partial L}{\partial \dot{q}} - "
                r"\frac{\partial L}{\partial q}"
            ),
        )
    )
    return Problem(
        f"Lagrange's equations of {robot.name}: energies first, then their derivatives.",
        _dynamic(robot, state._asdict()),
        (
            Question(
                "K",
                "The kinetic energy.",
                K,
                "J",
                "K",
                (Equation((Formula("K"), Formula(r"\frac{1}{2} \dot{q}^T M \dot{q}"))),),
            ),
            Question("P", "The potential energy, zero at the height of the base's origin.", P, "J", "P"),
            Question("M", "The mass matrix.", M, "", "M", mistakes={"the kinetic energy lacks its 1/2": 2 * M}),
            Question("c", "The torques of velocities, centrifugal and Coriolis.", C @ qd, "N m or N", r"C \dot{q}"),
            Question("g", "The torques of gravity.", robot.gravity_torque(q), "N m or N", "g"),
            _torque(robot, state, (law,)),
        ),
    )


def matrix_form(robot: Robot, rng: np.random.Generator) -> Problem:
    """The closed matrix form, forward dynamics, and one step of Euler's method."""
    state = draw_state(robot, rng)
    q, qd, _ = state
    M, h = robot.mass_matrix(q), robot.bias(q, qd)
    tau = np.round(h + M @ rng.uniform(-1, 1, robot.nv), 2)
    qdd = robot.forward_dynamics(q, qd, tau)
    form = robot.textbook.matrix_form(q, qd)
    stacked = Equation((Formula("M"), Formula(r"S^T L^T G L S"), Formula(r"J^T G J")))
    law = Equation((Formula(r"\ddot{q}"), Formula(r"M^{-1} \left(\tau - h\right)")))
    return Problem(
        f"Forward dynamics of {robot.name} in matrix form: the accelerations that given torques make.",
        (*robot_tables(robot, with_masses=True), *_friction(robot), *state_tables(robot, q=q, qd=qd, tau=tau)),
        (
            Question("J", "The Jacobians of all links, each in its own frame, one below the other.", form.J, "", "J"),
            Question("M", "The mass matrix.", M, "", "M", (stacked,)),
            Question(
                "h",
                "All torques but those of accelerations.",
                h,
                "N m or N",
                "h",
                parts={"gravity": robot.gravity_torque(q)},
            ),
            Question(
                "qdd",
                "The accelerations.",
                qdd,
                "rad/s^2 or m/s^2",
                r"\ddot{q}",
                (law,),
                mistakes={
                    "h is left out": np.linalg.solve(M, tau),
                    "h has the wrong sign": np.linalg.solve(M, tau + h),
                },
            ),
            Question(
                "qd_next",
                f"The velocities after {TIME_STEP} s, by one step of Euler's method.",
                qd + TIME_STEP * qdd,
                "rad/s or m/s",
                r"\dot{q}(t + \delta t)",
            ),
        ),
    )


def _torque(robot: Robot, state: State, steps: tuple[Block, ...] = ()) -> Question:
    """The question for the torques, whose causes are known."""
    q, qd, qdd = state
    terms = robot.torque_terms(q, qd, qdd)
    parts = {name: values for name, values in terms.items() if name not in NOT_TERMS and np.any(values)}
    return Question(
        "tau",
        "The torques and forces of the joints.",
        robot.inverse_dynamics(q, qd, qdd),
        "N m or N",
        r"\tau",
        steps,
        parts=parts,
    )


def _dynamic(robot: Robot, state: dict[str, Array]) -> tuple[Block, ...]:
    return (*robot_tables(robot, with_masses=True), *_friction(robot), *state_tables(robot, **state))


def _friction(robot: Robot) -> tuple[Block, ...]:
    """What joints have beside their axes: friction, rotors and springs, in a sentence each."""
    words = []
    for velocity, dof in zip(
        robot.model.layout.velocities, (d for j in robot.model.moving for d in j.dofs), strict=False
    ):
        parts = [
            f"{label} {number(float(value))} {unit}"
            for label, value, unit in (
                ("viscous friction", dof.viscous, "N m s/rad or N s/m"),
                ("Coulomb friction", dof.coulomb, "N m or N"),
                ("rotor inertia on the joint's side", dof.armature, "kg m² or kg"),
                ("a spring of", dof.stiffness, "N m/rad or N/m"),
            )
            if value
        ]
        if parts:
            words.append(f"{velocity.name}: {', '.join(parts)}")
    return (Paragraph("Joints have beside that " + "; ".join(words) + "."),) if words else ()
