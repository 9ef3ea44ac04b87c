"""Torques of some rows of a batch: what differs from row to row, apart from what does not."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from chainrule.arguments import Array, is_lazy
from chainrule.core.mechanism import Mechanism
from chainrule.core.reading import read_joints
from chainrule.simulation.sampled import Sampled
from chainrule.simulation.sources import Samples, is_controller


def split_torque(robot: Mechanism, torque: Any) -> tuple[Any, Any]:
    """A torque without its parameters (..., k), which may differ by row, and those; None where there are none."""
    if is_lazy(torque):
        return None, torque
    if isinstance(torque, (list, np.ndarray)):
        return None, read_joints(robot, torque, "effort", "simulate: torque")
    law: Any = torque.law if isinstance(torque, Sampled) else torque
    if is_controller(law) and np.ndim(law.parameters) > 1:
        return torque, law.parameters
    return torque, None


def join_torque(law: Any, parameters: Array | None) -> Any:
    """The torque of the rows that have these parameters: what `split_torque` took apart."""
    if parameters is None:
        return law
    if law is None:
        return parameters
    changed = copy.copy(law)
    if isinstance(law, Sampled):
        changed.law = join_torque(law.law, parameters)
    else:
        changed.parameters = parameters
    return changed


def mixes_rows(torque: Any) -> bool:
    """Whether a torque has values for the rows of one batch, which its parts do not have: noise, samples for each."""
    if isinstance(torque, Sampled):
        return torque.noise is not None or mixes_rows(torque.law)
    return isinstance(torque, Samples) and bool(torque.batch)
