"""Postures: what a redundant arm does with the freedom that its goals leave.

Of all steps that reduce the error, the one nearest to z = posture - q solves (J^T J + damping 1) d = J^T e + damping z:
for a small damping, the pseudo-inverse of the error plus z projected on the null space of J.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chainrule.inverse_kinematics.iterate import Iterate, iterations
from chainrule.inverse_kinematics.methods import SearchProblem, free_to_move, residual, solve_damped
from chainrule.spatial import Scalar
from chainrule.spatial.linear import dot, transpose
from chainrule.spatial.scalar import where

if TYPE_CHECKING:
    from chainrule.core.mechanism import Mechanism

Scalars = Sequence[Scalar]

POSTURE_DAMPING = 1e-5
"""Small against J^T J, so that the posture gives way to the goals."""
MAX_POSTURE_STEP = 0.2
"""The longest step of a joint towards its posture, in rad or m."""
POSTURE_ITERATIONS = 60
"""Steps towards a posture."""


def posture_step(problem: SearchProblem, q: Scalars, parameters: Scalars) -> list[Scalar]:
    """The configuration after one step towards a posture.

    The parameters are those of an iteration, the posture, and 1 or 0 for each coordinate that counts or does not.
    """
    nq = problem.model.nq
    own, posture, counts = parameters[: -2 * nq], parameters[-2 * nq : -nq], parameters[-nq:]
    problem = problem.at(own)
    tolerances, lower, upper, targets = problem.split_parameters(own)
    here = residual(problem, q, tolerances, targets)
    columns = transpose(here.rows)
    displacements = [_towards(problem, i, q, posture, counts) for i in problem.velocities]
    g = [dot(column, here.error) + POSTURE_DAMPING * z for column, z in zip(columns, displacements, strict=True)]
    H = [dot(columns[i], columns[j]) for i in range(problem.n) for j in range(i + 1)]
    step = solve_damped(H, g, free_to_move(problem, q, g, lower, upper), POSTURE_DAMPING)
    return problem.step(q, step, lower, upper)


def _towards(problem: SearchProblem, velocity: int, q: Scalars, posture: Scalars, counts: Scalars) -> Scalar:
    """The displacement from q to the posture along one velocity, cut off; zero for joints with a quaternion."""
    if velocity not in problem.coordinate_of:
        return 0.0
    k = problem.coordinate_of[velocity]
    z = (posture[k] - q[k]) * counts[k]
    return where(z > MAX_POSTURE_STEP, MAX_POSTURE_STEP, where(z < -MAX_POSTURE_STEP, -MAX_POSTURE_STEP, z))


def posture_loop(problem: SearchProblem, robot: Mechanism) -> Iterate:
    """The loop of steps towards a posture."""
    nq = problem.model.nq

    def text(q: Scalars, parameters: Scalars) -> list[Scalar]:
        return posture_step(problem, q, parameters)

    return iterations(problem, text, nq, problem.parameter_size + 2 * nq, "posture", robot)
