"""Source code of a robot's functions, in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from chainrule.arguments import file_path, flag, names, word
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import options_of
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError
from chainrule.functions.meaning import describe_arguments, describe_result
from chainrule.functions.table import entry_of


def export(
    robot: Mechanism,
    target: str,
    *,
    functions: Sequence[str] = ("inverse_dynamics",),
    path: str | PathLike[str],
    overwrite: bool = False,
) -> list[Path]:
    """Write functions of this robot as source code, and return the files written.

    target "c": C99 without dependencies, `path` (.c) with a header and a small program beside it that reads
    arguments from its input and prints results. target "cuda": CUDA C (.cu), kernels for floats and doubles with
    functions that launch them, likewise. Functions are named as the methods are, prefixed with the file's
    name; end-effector and Jacobian frame are the defaults. Comments in the header say order, unit and frame of all
    numbers. Files that chainrule has not written are left alone, and an error says which, unless `overwrite`.
    """
    from chainrule.compile import targets
    from chainrule.compile.trace import trace

    chosen = targets.target_of(word(target, "target"))
    if not names(functions, "functions"):
        raise ShapeError(f"functions must be a list of names, such as ['mass_matrix'], got {functions!r}")
    place = targets.file_of(chosen, file_path(path))
    tapes = {}
    for name in functions:
        model, options = robot.model if entry_of(name).whole else merged_model(robot), options_of(robot, name, {})
        meanings = (*describe_arguments(name, model, options), describe_result(name, model, options))
        tapes[name] = replace(trace(model, name, **options), meanings=meanings)
    return targets.write(chosen, place, tapes, overwrite=flag(overwrite, "overwrite"))
