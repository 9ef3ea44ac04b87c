"""Source code of a robot's functions, in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.arguments import file_path, flag, names, word
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import options_of, require
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ModelError, ShapeError
from chainrule.functions.meaning import describe_arguments, describe_result
from chainrule.functions.table import entry_of
from chainrule.model import Model, Quantity

if TYPE_CHECKING:
    from chainrule.compile.tape import Tape


def export(
    robot: Mechanism,
    target: str,
    *,
    functions: Sequence[str] = ("inverse_dynamics",),
    path: str | PathLike[str],
    overwrite: bool = False,
) -> list[Path]:
    """Write functions of this robot as source code, and return the files written.

    Target "c": C99 without dependencies, `path` (.c) with a header and a small program beside it that reads arguments
    from its input and prints results. Target "cuda": CUDA C (.cu), kernels for floats and doubles with functions that
    launch them, likewise. Target "javascript": a module (.mjs) for browsers and Node.

    Functions are named as the methods are, in C and CUDA prefixed with the file's name; end-effector and Jacobian frame
    are the defaults. Comments in the header, or `about` of the module, say order, unit and frame of all numbers. Files
    that chainrule has not written are left alone, and an error says which, unless `overwrite`.
    """
    from chainrule.compile import targets

    chosen = targets.target_of(word(target, "target"))
    if not names(functions, "functions"):
        raise ShapeError(f"functions must be a list of names, such as ['mass_matrix'], got {functions!r}")
    place = targets.file_of(chosen, file_path(path))
    tapes, about = trace_functions(robot, {name: (name, {}) for name in functions})
    return targets.write(chosen, place, tapes, about, overwrite=flag(overwrite, "overwrite"))


def trace_functions(
    robot: Mechanism, wanted: Mapping[str, tuple[str, Mapping[str, Any]]]
) -> tuple[dict[str, Tape], dict[str, Any]]:
    """Tapes by the names they are to have, of functions with options; and what is known of the robot and of them."""
    from chainrule.compile.trace import trace

    tapes, described = {}, {}
    for name, (function, given) in wanted.items():
        model = robot.model if entry_of(function).whole else merged_model(robot)
        require(robot, function)
        options = options_of(robot, function, given)
        if entry_of(function).is_surrounded and not options["bodies"].pairs:
            raise ModelError(f"{name}: robot {robot.name!r} has no pair of bodies that is checked against each other")
        described[name] = _describe(function, model, options)
        meanings = (*(argument["meaning"] for argument in described[name]["arguments"]), described[name]["meaning"])
        tapes[name] = replace(trace(model, function, **options), meanings=meanings)
    return tapes, {"robot": robot.model.name, **_joints(robot.model), "functions": described}


def _joints(model: Model) -> dict[str, Any]:
    """The joints of a robot, and the names and units of its coordinates and velocities, in their order."""
    layout = model.layout

    def names_and_units(quantity: Quantity) -> list[dict[str, str]]:
        pairs = zip(layout.names_of(quantity), layout.units_of(quantity), strict=True)
        return [{"name": name, "unit": unit} for name, unit in pairs]

    joints = [body.joint.name for body in model.bodies if body.joint.kind.nv]
    return {
        "joints": joints,
        "coordinates": names_and_units("position"),
        "velocities": names_and_units("velocity"),
        "efforts": names_and_units("effort"),
    }


def _describe(function: str, model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a function, the shape of its result, row by row, and what they mean."""
    entry = entry_of(function)
    names = (*entry.arguments, *(f"wrench_{k}" if k else "wrench" for k in range(len(options.get("loads", ())))))
    parts = zip(
        names,
        entry.argument_lengths(model, options),
        describe_arguments(function, model, options),
        strict=True,
    )
    return {
        "arguments": [{"name": name, "length": length, "meaning": meaning} for name, length, meaning in parts],
        "shape": list(entry.shape(model, options)),
        "meaning": describe_result(function, model, options),
    }
