"""`cr.export`: a controller, a filter or an observer as source code that runs without this library."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chainrule.arguments import file_path, flag, one_of, positive
from chainrule.calls import explains_arguments
from chainrule.compile.codegen.c import identifier
from chainrule.compile.targets import write_files
from chainrule.control.tick import Tick
from chainrule.core.mechanism import Mechanism
from chainrule.errors import ShapeError, short_repr
from chainrule.realtime import c, javascript, python, rust
from chainrule.realtime.tick_code import TickCode
from chainrule.simulation.sampled import Sampled
from chainrule.simulation.sources import is_controller

if TYPE_CHECKING:
    from chainrule.control.laws.controller import Controller

LANGUAGES: Mapping[str, tuple[str, Callable[[TickCode, Path], Mapping[Path, str]]]] = {
    "c": (".c", c.files),
    "cpp": (".hpp", c.files_of_cpp),
    "rust": ("", rust.files),
    "javascript": (".mjs", javascript.files),
    "python": (".py", python.files),
}
"""The suffix of the main file, none for a folder, and the texts of all files from the code and the main file's path."""

MAX_OPERATIONS = 100_000
"""Operations of one tick, at most: a millisecond, and minutes for a compiler."""

RATE_HZ = 1000.0
"""The rate unless another is given."""


@explains_arguments
def export(
    law: Controller | Sampled | Callable[..., Any],
    target: str,
    path: str | PathLike[str],
    rate: float | None = None,
    *,
    robot: Mechanism | None = None,
    torque_limits: bool = True,
    overwrite: bool = False,
) -> list[Path]:
    """Write a controller as source code of one tick, with its memory and its motion, and return the files written.

    Beside the code are a text that says units, orders and rate, and a program that tests the code with recorded inputs
    and outputs and measures its times. The numbers are those of the simulation with `cr.Sampled(law, 1 / rate)`, to the
    last bit in all languages, where the law needs no other functions than square root, sine and cosine.

    Parameters
    ----------
    law
        A controller; `cr.Sampled(law, period)`; a plain function of (t, q, qd) as `cr.traceable` takes it, with
        `robot`; an observer, or any object with a method `tick(rate)` (`chainrule.control.tick`).
    target
        "c" for C99, "cpp" for C99 with a header of C++17, "rust" for a crate without std, "javascript", "python".
    path
        The main file (.c, .hpp, .mjs, .py; others have its name and an ending), or a folder for all. A crate is a
        folder.
    rate
        Ticks in a second: 1000, or that of a `Sampled` or an observer.
    robot
        The robot of a function.
    torque_limits
        Whether torques are cut off at the robot's effort limits, as in a simulation.
    overwrite
        Whether files that chainrule has not written are replaced too.

    Examples
    --------
    >>> import tempfile, chainrule as cr
    >>> arm = cr.load("planar_2r")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = cr.export(cr.PD(arm, [0.5, 0.5]), "c", f"{folder}/arm.c", rate=500)
    >>> [file.name for file in files]
    ['arm.c', 'arm.h', 'arm_recorded.h', 'arm_check.c', 'arm.md']
    """
    if isinstance(law, Mechanism):
        raise ShapeError("export: a robot's functions are written by robot.compiled.export(target, functions=[..])")
    if robot is not None and not isinstance(robot, Mechanism):
        raise ShapeError(f"export: robot must be a Robot, got {short_repr(robot)}")
    suffix, files = LANGUAGES[one_of(tuple(LANGUAGES), target, "target", "export")]
    place = _main_file(Path(file_path(path)), suffix)
    tick = _tick(law, rate, robot, flag(torque_limits, "export: torque_limits"))
    code = TickCode(tick, identifier(place.stem))
    if len(code.tape.instructions) > MAX_OPERATIONS:
        raise ShapeError(
            f"export: one tick of {tick.kind} takes {len(code.tape.instructions)} operations, and {MAX_OPERATIONS} are "
            f"allowed: robot {tick.robot.name!r} has many joints"
            + (", and closed loops whose equations are solved in each tick" if tick.robot.model.constraints else "")
        )
    texts = files(code, place)
    for folder in {file.parent for file in texts}:
        folder.mkdir(parents=True, exist_ok=True)
    return write_files(texts, overwrite=flag(overwrite, "export: overwrite"))


def _main_file(path: Path, suffix: str) -> Path:
    """The main file, refused where its name is none in the language."""
    if path.suffix not in ("", suffix):
        raise ShapeError(f"export: path must end in {suffix}, or be a folder, got {str(path)!r}" if suffix else
                         f"export: path of a crate is a folder, got {str(path)!r}")  # fmt: skip
    main = path if path.suffix or not suffix else path / f"{path.name}{suffix}"
    if main.stem != identifier(main.stem) or keyword.iskeyword(main.stem) or main.stem in ("core", "std", "test"):
        raise ShapeError(
            f"export: {main.stem!r} becomes a name in the code: take letters, digits and _, and no keyword"
        )
    return main


def _tick(law: Any, rate: float | None, robot: Mechanism | None, torque_limits: bool) -> Tick:
    """What is exported, as one tick."""
    given = None if rate is None else positive(rate, "export: rate", "a positive number of Hz", unit="Hz")
    if isinstance(law, Sampled) or is_controller(law) or not callable(getattr(law, "tick", None)):
        if not (callable(law) or is_controller(law)) or isinstance(law, type):
            raise ShapeError(
                "export: give a controller, cr.Sampled, a function of (t, q, qd), or an object with a method "
                f"tick(rate), got {short_repr(law)}"
            )
        sampled = law if isinstance(law, Sampled) else Sampled(law, 1 / (given or RATE_HZ))
        return sampled.tick(given, robot=robot, torque_limits=torque_limits)
    tick = law.tick(given)
    if not isinstance(tick, Tick):
        raise ShapeError(f"export: tick(rate) must return a chainrule.control.tick.Tick, got {short_repr(tick)}")
    return tick
