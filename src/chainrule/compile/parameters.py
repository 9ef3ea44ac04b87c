"""Parameters: numbers of a robot that stay open when its code is made, so that one kernel serves a family of robots.

A parameter is named by a string, and becomes an argument of the kernel after the state:

- "gravity": the gravity vector, 3 numbers;
- "link:NAME": a link's mass, center of mass (3) and inertia about it (xx, yy, zz, xy, xz, yz), 10 numbers, in place of
  its own;
- "payload:NAME": the same 10 numbers of a body welded to a link or frame, in its frame, besides what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from chainrule.errors import ShapeError
from chainrule.model import Link, Model, edits
from chainrule.spatial import Inertia, Scalar, Symmetric, Vector


def parameter_length(model: Model, parameter: str) -> int:
    """The number of numbers that a parameter has; an error if there is no such parameter."""
    kind, _, name = parameter.partition(":") if isinstance(parameter, str) else ("", "", "")
    if kind == "gravity" and not name:
        return 3
    if kind not in ("link", "payload") or not name:
        raise ShapeError(f"a parameter is 'gravity', 'link:NAME' or 'payload:NAME', got {parameter!r}")
    index, _ = model.locate(name)
    if kind == "link" and model.links[index].name != name:
        raise ShapeError(f"{name!r} is welded to link {model.links[index].name!r}; use 'payload:{name}', or that link")
    return 10


def with_parameters(model: Model, parameters: Sequence[str], values: Sequence[Sequence[Scalar]]) -> Model:
    """The model with the parameters' numbers in place."""
    for parameter, numbers in zip(parameters, values, strict=True):
        kind, _, name = parameter.partition(":")
        if kind == "gravity":
            model = edits.with_gravity(model, Vector(*numbers))
            continue
        mass, com, inertia = numbers[0], Vector(*numbers[1:4]), Symmetric(*numbers[4:])
        if kind == "payload":
            model = edits.add_payload(model, name, Inertia.from_com(mass, com, inertia))
        else:
            index, _ = model.locate(name)
            links = (*model.links[:index], Link(name, mass, com, inertia), *model.links[index + 1 :])
            model = replace(model, links=links)
    return model
