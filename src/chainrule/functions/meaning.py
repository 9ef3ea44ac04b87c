"""Arguments and results of functions in words: quantity, order, unit and frame of each number.

Exported code says them in comments; the table has the sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from chainrule.algorithms.regressor import parameters
from chainrule.algorithms.terms import term_names
from chainrule.functions.table import Argument, entry_of
from chainrule.model import Model, Quantity

FRAME_WORDS = {
    "world": "in base axes, the linear part that of its origin",
    "body": "in its own axes, the linear part that of its origin",
    "space": "in base axes, the linear part at the origin of the base",
}
"""The frames of Jacobians, velocities and accelerations, in words."""

AXES_WORDS = {"world": "in base axes", "body": "in its own axes", "space": "in base axes"}
WRENCH_WORDS = {
    "world": "in base axes, about its origin",
    "body": "in its own axes, about its origin",
    "space": "in base axes, about the origin of the base",
}


def describe_arguments(function: str, model: Model, options: Mapping[str, Any]) -> list[str]:
    """A sentence for each argument, wrenches included.

    >>> import chainrule as cr
    >>> from chainrule.core.evaluation import options_of
    >>> arm = cr.load("planar_2r")
    >>> describe_arguments("inverse_dynamics", arm.model, options_of(arm, "inverse_dynamics", {}))[1]
    'qd: velocities of joint1, joint2 (rad/s)'
    """
    entry = entry_of(function)
    lines = [_describe_argument(argument, model) for argument in entry.takes]
    frame = WRENCH_WORDS[options.get("frame") or "world"] if entry.loaded else ""
    who = "that {} applies to its surroundings" if entry.acts else "that the world applies to {}"
    for link in options.get("loads", ()):
        lines.append(f"wrench: (moment, force) {who.format(link)}, {frame} (N m, N)")
    return lines


def describe_result(function: str, model: Model, options: Mapping[str, Any]) -> str:
    """A sentence for the result: what it is, its order, unit and frame.

    >>> import chainrule as cr
    >>> from chainrule.core.evaluation import options_of
    >>> arm = cr.load("planar_2r")
    >>> describe_result("inverse_dynamics", arm.model, options_of(arm, "inverse_dynamics", {}))
    'torques or forces of joint1, joint2 (N m)'
    """
    entry = entry_of(function)
    shape = entry.shape(model, options)
    by_rows = f"; ({', '.join(map(str, shape))}), row by row" if len(shape) > 1 else ""
    return entry.answer.format_map(_words(model, options)) + by_rows


def _describe_argument(argument: Argument, model: Model) -> str:
    words = {"position": "positions", "velocity": "velocities", "acceleration": "accelerations"}
    quantity = words.get(argument.quantity, "torques or forces")
    return f"{argument.name}: {quantity} of {_joints_with_units(model, argument.quantity)}"


def _joints_with_units(model: Model, quantity: Quantity) -> str:
    return names_with_units(zip(model.layout.names_of(quantity), model.layout.units_of(quantity), strict=True))


def _words(model: Model, options: Mapping[str, Any]) -> dict[str, str]:
    """The words for what a sentence leaves open."""
    velocities = model.layout.velocities
    words = {
        "coordinates": _joints_with_units(model, "position"),
        "velocities": _joints_with_units(model, "velocity"),
        "accelerations": _joints_with_units(model, "acceleration"),
        "torques": _joints_with_units(model, "effort"),
        "displacements": names_with_units((v.name, v.unit) for v in velocities),
        "columns": ", ".join(v.name for v in velocities),
        "links": ", ".join(link.name for link in model.links),
        "bodies": ", ".join(body.link.name for body in model.bodies),
        "constraints": ", ".join(constraint.name for constraint in model.constraints),
        "terms": ", ".join(term_names(model, loaded=bool(options.get("loads")))),
        "joints": ", ".join(options.get("joints", ())),
        "parameters": names_with_units((p.name, p.unit) for p in parameters(model, options.get("parts", ()))),
        "link": str(options.get("link")),
        "order": str(options.get("order")),
        "relative_to": str(options.get("relative_to") or "the base"),
        "half": "; on and below the diagonal, row by row" if options.get("half") else "",
        "gravity": ", with the base accelerating by -g" if options.get("gravity") else "",
    }
    frame = options.get("frame") or "world"
    return words | {"frame": FRAME_WORDS[frame], "axes": AXES_WORDS[frame]}


def names_with_units(named: Iterable[tuple[str, str]]) -> str:
    """Names in order with their units, a unit once for all names in a row that have it.

    >>> names_with_units([("shoulder", "rad"), ("elbow", "rad"), ("slide", "m")])
    'shoulder, elbow (rad); slide (m)'
    """
    groups = groupby(named, key=lambda pair: pair[1])
    return "; ".join(f"{', '.join(name for name, _ in group)} ({unit})" for unit, group in groups)
