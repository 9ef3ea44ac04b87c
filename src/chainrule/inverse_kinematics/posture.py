"""What a redundant arm does with the freedom that its goals leave: come near a posture.

Of all steps that reduce the error, the one nearest to z = posture - q solves (J^T J + damping 1) d = J^T e + damping z:
for a small damping, the pseudo-inverse of the error plus z projected on the null space of J.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainrule.inverse_kinematics.iterate import Iterate, iterating
from chainrule.inverse_kinematics.methods import Problem, damped, free_to_move, seen
from chainrule.spatial import Scalar
from chainrule.spatial.linear import dot, transpose
from chainrule.spatial.scalar import where

Scalars = Sequence[Scalar]

DAMPING = 1e-5
"""Small against J^T J, so that the posture gives way to the goals."""
LONGEST = 0.2
"""The farthest that a joint is pulled in one step, in rad or m."""
STEPS = 60
"""Steps towards a posture."""


def settling(problem: Problem, q: Scalars, parameters: Scalars) -> list[Scalar]:
    """A configuration after one step; the parameters are those of an iteration, a posture, and whether each counts."""
    nq = problem.model.nq
    own, posture, counts = parameters[: -2 * nq], parameters[-2 * nq : -nq], parameters[-nq:]
    tolerances, lower, upper, targets = problem.taken_apart(own)
    here = seen(problem, q, tolerances, targets)
    columns = transpose(here.rows)
    pull: list[Scalar] = []
    for i in problem.moves:
        z = (posture[problem.flat[i]] - q[problem.flat[i]]) * counts[problem.flat[i]] if i in problem.flat else 0.0
        pull.append(where(z > LONGEST, LONGEST, where(z < -LONGEST, -LONGEST, z)) if i in problem.flat else z)
    g = [dot(column, here.error) + DAMPING * z for column, z in zip(columns, pull, strict=True)]
    H = [dot(columns[i], columns[j]) for i in range(problem.n) for j in range(i + 1)]
    step = damped(H, g, free_to_move(problem, q, g, lower, upper), DAMPING)
    return problem.moved(q, step, lower, upper)


def settler(problem: Problem, print_: str | None) -> Iterate:
    """What takes such steps."""
    nq = problem.model.nq

    def text(q: Scalars, parameters: Scalars) -> list[Scalar]:
        return settling(problem, q, parameters)

    return iterating(problem, text, nq, problem.parameters + 2 * nq, "posture", print_)
