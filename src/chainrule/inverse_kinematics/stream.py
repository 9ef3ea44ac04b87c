"""Inverse kinematics of targets that come one after another, each solved from the configuration before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from chainrule.core.at import unbind
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, short_repr
from chainrule.inverse_kinematics.request import SearchRequest, target_numbers
from chainrule.inverse_kinematics.solve import inverse_kinematics, solve
from chainrule.kinematics.configurations import home

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.inverse_kinematics.result import InverseKinematics


def stream(
    robot: Mechanism,
    /,
    targets: Iterable[Any],
    q0: ArrayLike | None = None,
    link: str | None = None,
    *,
    restarts: int = 0,
    **options: Any,
) -> Iterator[InverseKinematics]:
    """The solutions of targets as they come, such as those of a hand that is led: one result for each.

    Each search starts where the last one ended, also where that did not reach its target. Without restarts, a solution
    never jumps to another branch; a target that cannot be reached has `success` False and the nearest configuration.

    Parameters
    ----------
    targets
        Anything that gives one target after another, each as `inverse_kinematics` takes it.
    q0
        The configuration (nq,) to start from, the home configuration unless given.
    link, restarts, options
        As of `inverse_kinematics`.

    >>> import chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> targets = ([1.0, 1.0 - 0.01 * k, 0.0] for k in range(3))
    >>> [result.success.item() for result in arm.ik.stream(targets, [0.1, 1.0], task="position")]
    [True, True, True]
    """
    try:
        each = iter(targets)
    except Exception:  # what is no Iterable, arrays without a dimension, and objects that refuse
        raise ShapeError(
            f"stream: targets must be a sequence or an iterator of targets, got {short_repr(targets)}"
        ) from None
    q = home(robot) if q0 is None else q0
    request: SearchRequest | None = None
    for target in each:
        if request is not None and type(target) is np.ndarray:
            numbers = target_numbers(request.problem.goals[0], target, "inverse_kinematics: target")
            result = solve(robot, request, numbers, np.asarray(q))
        else:
            result = inverse_kinematics(robot, target, q, link, restarts=restarts, **options)
            if type(target) is np.ndarray and not PER_CALL & options.keys() and unbind(robot)[1] is None:
                request = SearchRequest.read(robot, "stream", target, link, restarts=restarts, **options)[0]
        q = result.q
        yield result


PER_CALL = {"order", "history", "device", "parameters"}
"""Options that are not part of a request, which is read once for a stream."""
