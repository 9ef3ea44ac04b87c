"""Problems about poses, velocities, Jacobians, singularities, inverse kinematics and wheels."""

from __future__ import annotations

import numpy as np

from chainrule.arguments import Array
from chainrule.core.reading import find_link
from chainrule.exercises.exercise import Problem, Question
from chainrule.exercises.givens import draw_state, link_blocks, number, numbers, robot_tables, state_tables
from chainrule.kinematics.textbook import velocity_table
from chainrule.robot.robot import Robot
from chainrule.symbolic.documents.blocks import Equation, Formula, Paragraph
from chainrule.wheels.bases import DifferentialDrive
from chainrule.wheels.odometry import odometry

REACHED = 1e-2
"""Distance from the target, as a fraction of its own, at which joint positions to three digits have reached it."""


def pose(robot: Robot, rng: np.random.Generator) -> Problem:
    """The pose of the end-effector, as a matrix, and its position and angles."""
    state = draw_state(robot, rng)
    T = robot.pose(state.q)
    turned = _in_degrees(robot, state.q)
    angles = robot.textbook.pose_vector(state.q)[3:]
    return Problem(
        f"Forward kinematics of {robot.name}: find the pose of the end-effector.",
        (*robot_tables(robot, with_masses=False), *state_tables(robot, q=state.q)),
        (
            Question(
                "T",
                "The pose of the end-effector in the base, 4 by 4.",
                T,
                letter="T",
                mistakes={"angles were taken for degrees": robot.pose(turned), "it is the inverse": np.linalg.inv(T)},
            ),
            Question("position", "The position of its origin.", T[:3, 3], "m", "p"),
            Question("angles", "Its angles roll, pitch and yaw about fixed axes.", angles, "rad", r"\phi"),
        ),
    )


def velocities(robot: Robot, rng: np.random.Generator) -> Problem:
    """The velocities of all links, outward, and those of the end-effector."""
    state = draw_state(robot, rng)
    V = robot.velocity(state.q, state.qd)
    table = velocity_table(robot, state.q, state.qd)
    last = table.links[-1]
    steps = (
        Equation((Formula(r"\omega_i"), Formula(r"R_i^T \omega_p + \hat{z}_i \dot{q}_i"))),
        Equation((Formula("v_i"), Formula(r"R_i^T \left(v_p + \omega_p \times P_i\right)"))),
        Paragraph("for a joint that turns; one that slides adds its velocity to the second instead of the first."),
        *link_blocks(table, ("omega", "v")),
    )
    return Problem(
        f"Velocities of {robot.name} from link to link, outward from the base.",
        (*robot_tables(robot, with_masses=False), *state_tables(robot, q=state.q, qd=state.qd)),
        (
            Question(
                "omega_last",
                f"The angular velocity of link {last}, in its own axes.",
                table.omega[-1],
                "rad/s",
                r"\omega",
                steps,
            ),
            Question("v_last", f"The velocity of the origin of link {last}, in its own axes.", table.v[-1], "m/s", "v"),
            Question(
                "omega",
                "The angular velocity of the end-effector, in the axes of the base.",
                V[:3],
                "rad/s",
                r"\omega_0",
            ),
            Question("v", "The velocity of the end-effector's origin, in the axes of the base.", V[3:], "m/s", "v_0"),
        ),
    )


def jacobian(robot: Robot, rng: np.random.Generator) -> Problem:
    """The Jacobian, and the velocity of the end-effector by it."""
    state = draw_state(robot, rng)
    J = robot.jacobian(state.q)
    others = {
        'it is in the frame "space"': robot.jacobian(state.q, frame="space"),
        'it is in the frame "body"': robot.jacobian(state.q, frame="body"),
    }
    return Problem(
        f"The Jacobian of the end-effector of {robot.name}: angular rows first, in the axes of the base.",
        (*robot_tables(robot, with_masses=False), *state_tables(robot, q=state.q, qd=state.qd)),
        (
            Question("J", "The Jacobian, 6 by n, of the end-effector's origin.", J, "", "J", mistakes=others),
            Question(
                "V",
                ("The velocity ", Formula(r"J \dot{q}"), " of the end-effector."),
                J @ state.qd,
                "rad/s, m/s",
                r"J \dot{q}",
            ),
        ),
    )


def singularities(robot: Robot, rng: np.random.Generator) -> Problem:
    """Manipulability and singular values at a posture, and the directions that are lost where one is singular."""
    state = draw_state(robot, rng)
    J = robot.jacobian(state.q)
    s, w = robot.singular_values(state.q), float(robot.manipulability(state.q))
    rank = int(np.linalg.matrix_rank(J, tol=1e-9))
    law = Equation((Formula("w"), Formula(r"\sqrt{\det\left(J J^T\right)}"), Formula(r"\sigma_1 \sigma_2 \cdots")))
    return Problem(
        f"How far {robot.name} is from a singularity.",
        (*robot_tables(robot, with_masses=False), *state_tables(robot, q=state.q)),
        (
            Question(
                "singular_values",
                "The singular values of the Jacobian of what its joints move, largest first.",
                s,
                "",
                r"\sigma",
            ),
            Question("w", "Yoshikawa's manipulability.", w, "", "w", (law,)),
            Question("rank", "The rank of the Jacobian, 6 by n.", rank, "", r"\mathrm{rank}"),
        ),
    )


def inverse_kinematics(robot: Robot, rng: np.random.Generator) -> Problem:
    """Joint positions for a target, and one step of Newton's method toward it."""
    goal = draw_state(robot, rng).q
    start = np.round(goal + rng.uniform(-0.3, 0.3, robot.nq), 2) if robot.nq == robot.nv else robot.home()
    target = np.round(robot.pose(goal)[:3, 3], 4)
    error = target - robot.pose(start)[:3, 3]
    step = np.linalg.pinv(robot.jacobian(start)[3:]) @ error
    reach = max(float(np.linalg.norm(target)), 0.1)

    def reaches(q: Array) -> str:
        away = float(np.linalg.norm(robot.pose(q)[:3, 3] - target))
        if away <= REACHED * reach:
            return ""
        degrees = float(np.linalg.norm(robot.pose(_in_degrees(robot, q))[:3, 3] - target)) <= REACHED * reach
        return f"the end-effector is {away:.4g} m from the target" + (": angles are in radians" if degrees else "")

    return Problem(
        f"Inverse kinematics of {robot.name}: the origin {find_link(robot)} is to reach {numbers(target)} m.",
        (
            *robot_tables(robot, with_masses=False),
            Paragraph("An approximation to start from:"),
            *state_tables(robot, q=start),
        ),
        (
            Question(
                "error",
                "The error of the position at that start: target less position.",
                error,
                "m",
                r"\epsilon_X",
                mistakes={"it has the wrong sign: target less position": -error},
            ),
            Question(
                "step",
                "The first step of Newton's method, with the pseudo-inverse of the linear rows of J.",
                step,
                "rad or m",
                r"\epsilon_\theta",
                (Equation((Formula(r"\epsilon_\theta"), Formula(r"J^{+} \epsilon_X"))),),
            ),
            Question(
                "q",
                "Joint positions that reach the target; any that do are right.",
                goal,
                "rad or m",
                "q",
                accepts=reaches,
            ),
        ),
    )


def differential_drive(robot: None, rng: np.random.Generator) -> Problem:
    """A vacuum cleaner on two wheels: speeds from encoders, and where it is after some time."""
    radius, separation = round(rng.uniform(0.03, 0.1), 3), round(rng.uniform(0.2, 0.5), 2)
    ticks, period = int(rng.integers(4, 33) * 64), round(float(rng.choice([0.05, 0.1, 0.2])), 2)
    counts = rng.integers(20, 200, 2)
    duration = round(float(rng.uniform(1, 4)), 1)
    drive = DifferentialDrive(radius=radius, separation=separation)
    wheels = 2 * np.pi * counts / ticks / period
    v, omega = drive.velocity(wheels)
    end = odometry(drive, wheels[None], duration).pose[-1]
    b = separation / 2
    rows = (
        Equation((Formula("v_{wi}"), Formula(r"\frac{2 \pi r f \Delta_{\mathrm{enc}}}{\mathrm{ticks}}")), "m/s"),
        Equation((Formula("v"), Formula(r"\frac{v_{w1} + v_{w2}}{2}")), "m/s"),
        Equation((Formula(r"\omega"), Formula(r"\frac{v_{w2} - v_{w1}}{2 b}")), "rad/s"),
    )
    words = (
        f"A robot on two wheels of the radius r = {radius} m, {separation} m apart (b = {number(b)} m). In each period "
        f"of {period} s the encoders count {counts[0]} ticks of the left wheel and {counts[1]} of the right one, of "
        f"{ticks} for a turn. It starts at x = y = 0 with the heading 0, and goes on so for {duration} s."
    )
    return Problem(
        words,
        (),
        (
            Question(
                "wheels",
                "The speeds of the left and the right wheel over the ground.",
                radius * wheels,
                "m/s",
                "v_w",
                rows[:1],
            ),
            Question("v", "The speed of the middle of the axle.", float(v), "m/s", "v", rows[1:2]),
            Question("omega", "The angular velocity.", float(omega), "rad/s", r"\omega", rows[2:]),
            Question("pose", "x, y and the heading at the end.", end, "m, m, rad", "x"),
        ),
    )


def _in_degrees(robot: Robot, q: Array) -> Array:
    """The configuration of someone who takes radians for degrees."""
    return np.array(
        [np.deg2rad(x) if c.unit == "rad" else x for x, c in zip(q, robot.model.layout.coordinates, strict=True)]
    )
