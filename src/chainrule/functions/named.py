"""Named results of the functions whose answers have several parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of the torques of inverse dynamics, each (..., n, n): row i is that of torque i."""

    dq: Array
    """d tau/dq, along the velocities of the joints."""
    dqd: Array
    """d tau/dqd."""
    dqdd: Array
    """d tau/dqdd: the mass matrix M."""


T = TypeVar("T")


def split(named: Callable[..., T], answer: Array) -> T:
    """A named result of an answer (..., parts, n, m), whose parts are views of it."""
    return named(*(answer[..., k, :, :] for k in range(answer.shape[-3])))
