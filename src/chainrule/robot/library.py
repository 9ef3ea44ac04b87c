"""Robots by name, by file, by text, and from the objects of other packages: the bundled ones, and the user's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from chainrule.arguments import flag
from chainrule.calls import explains_arguments, listing
from chainrule.core.mechanism import Mechanism
from chainrule.core.problems import Check
from chainrule.core.validation import validate
from chainrule.display.words import plain
from chainrule.errors import MAX_COMPARED, FormatError, UnknownNameError, nearest, quoted, short_repr
from chainrule.formats import native, packages, registry
from chainrule.formats.recognition import refuse_thing
from chainrule.formats.source import MAX_FILE_BYTES, Content, content_of, is_text
from chainrule.model import Model
from chainrule.robot import building, descriptions
from chainrule.robot.building import from_file, refuse_unknown_options
from chainrule.robot.robot import Robot

_BUNDLED = files("chainrule").joinpath("robot", "models")

MAKERS: Mapping[str, tuple[str, ...]] = {
    "franka": ("panda", "panda_hand", "fr3"), "kuka": ("iiwa14",), "kinova": ("gen3",), "ufactory": ("xarm7",),
    "unitree": ("go2", "g1"), "trossen": ("wx250s",), "widowx": ("wx250s",), "lerobot": ("so101",),
    "universalrobot": ("ur3e", "ur5", "ur5e", "ur10e", "ur16e"), "unimation": ("puma560", "puma560_craig"),
}  # fmt: skip
"""The makers of bundled robots, which people load robots by."""

ELSEWHERE = "Other robots are loaded from a file (URDF, MJCF, SDF), or by name from the package robot_descriptions"

ALIKE = 0.6
"""How like its name another one is that is proposed: pandaa and panda, not anymal and panda."""

_TAKEN_OVER: dict[tuple[str, str], Callable[..., Model]] = {
    ("mujoco", "MjModel"): building.from_mujoco,
    ("mujoco", "MjSpec"): building.from_mujoco,
    ("pinocchio", "Model"): building.from_pinocchio,
    ("pinocchio", "RobotWrapper"): building.from_pinocchio,
    ("yourdfpy", "URDF"): building.from_yourdfpy,
}
"""Objects of other packages, by package and class, and what makes a model of each."""


@listing
def robots() -> tuple[str, ...]:
    """Names of the bundled robots.

    >>> "panda" in robots()
    True
    """
    stored = (entry.name.removesuffix(".toml") for entry in _BUNDLED.iterdir() if entry.name.endswith(".toml"))
    return tuple(sorted([*stored, "human_arm"]))


@explains_arguments
def load(
    thing: object,
    *,
    floating_base: bool = False,
    check: Check = "warn",
    repair: bool = False,
    search_paths: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    args: Mapping[str, object] | None = None,
    xacro: bool | None = None,
    srdf: str | PathLike[str] | None = None,
    **options: Any,
) -> Robot:
    """A robot from whatever describes it.

    Parameters
    ----------
    thing
        A bundled robot's name, or one of the package robot_descriptions such as "ur10e_description" if that is
        installed; the path of a file (.urdf, .xacro, .sdf, .xml, .toml, .json); a folder with one robot file in it;
        a package:// address; the text of such a file, as a string or as bytes; an open file; a mujoco.MjModel or
        MjSpec, a pinocchio.Model, a yourdfpy.URDF.
    floating_base
        Add a free joint between the world and the base.
    check, repair
        As of `Robot.from_urdf`.
    search_paths
        Folders in which package:// and model:// addresses are looked for first; then come ROS_PACKAGE_PATH,
        AMENT_PREFIX_PATH and the folders above the file.
    args
        Arguments of a xacro file, such as {"hand": "true"}.
    xacro
        Whether content that is xacro, a program, is run: only in a file whose name ends in .xacro (None), whatever its
        name (True), or never (False).
    srdf
        The path of an SRDF file, or its text, whose group states become named configurations, as by `Robot.with_srdf`.
    options
        Further options of a format: model="name" chooses a model of an SDF world.

    >>> load("pendulum").nv
    1
    """
    chosen: dict[str, Any] = dict(options)
    chosen |= {"floating_base": floating_base} if floating_base is not False else {}
    chosen |= {} if isinstance(check, str) and check == "warn" else {"check": check}
    chosen |= {"repair": repair} if repair is not False else {}
    chosen |= {"args": args} if args is not None else {}
    chosen |= {"xacro": flag(xacro, "xacro")} if xacro is not None else {}
    if not isinstance(search_paths, tuple) or search_paths:
        chosen["search_paths"] = packages.folders(search_paths)
    robot = _load(thing, chosen)
    return robot if srdf is None else robot.with_srdf(srdf, check=check)


def _load(thing: object, chosen: dict[str, Any]) -> Robot:
    """A robot from whatever describes it, with the options that were given."""
    if isinstance(thing, str) and thing in robots():
        return _load_bundled(thing, chosen)
    refuse_unknown_options(chosen)
    if isinstance(thing, str) and not _exists(Path(thing)):
        described = descriptions.find(thing)
        if described is not None:
            thing = described.path
            chosen["search_paths"] = (*chosen.get("search_paths", ()), *described.search_paths)
            args = {**described.args, **chosen.get("args", {})}
            chosen |= {"args": args} if args else {}
    taken_over = _take_over(thing, chosen)
    if taken_over is not None:
        return Robot(taken_over)
    return Robot(from_file(_find(thing, chosen.get("search_paths", ())), **chosen))


def _unknown_robot(name: str) -> UnknownNameError:
    """The error for a robot that there is not. One with another number in its name is another robot."""
    bundled, described, wanted = robots(), descriptions.names(), plain(name)
    unknown = f"chainrule has no robot named {short_repr(name, MAX_COMPARED)}"
    made = next((robots for maker, robots in MAKERS.items() if maker in wanted), None)
    if made is not None:
        return UnknownNameError(f"{unknown}; of that maker there {'is' if len(made) == 1 else 'are'} {quoted(made)}")
    known = [other for other in (*bundled, *described) if _may_be(name, other)]
    same = [other for other in known if plain(other) == wanted]
    longer = [other for other in known if len(wanted) > 1 and plain(other).startswith(wanted)]
    close, any_close = (nearest(name, names, cutoff=ALIKE) for names in (known, (*bundled, *described)))
    shorter = [other for other in known if wanted.startswith(plain(other))]
    nearby = [close] if close else shorter
    meant = same or [other for other in longer if other in bundled] or longer[:3] or nearby
    if meant:
        where = "" if meant[0] in bundled else ", which robot_descriptions has"
        return UnknownNameError(f"{unknown}; did you mean {' or '.join(map(repr, meant))}{where}?")
    if any_close:
        return UnknownNameError(f"{unknown}; the nearest name, {any_close!r}, is that of another robot. {ELSEWHERE}")
    return UnknownNameError(f"{unknown}; there are: {quoted(bundled, len(bundled))}. {ELSEWHERE}")


def _may_be(name: str, other: str) -> bool:
    """Whether a name may stand for another one: where it has numbers, they are the same."""
    numbers, others = (re.findall(r"\d+[a-z]?", word.casefold()) for word in (name, other))
    return not numbers or numbers == others


def _take_over(thing: object, options: dict[str, Any]) -> Model | None:
    """The model of an object of another package; None for other things."""
    kind = type(thing)
    take = _TAKEN_OVER.get((kind.__module__.partition(".")[0], kind.__name__))
    if take is None:
        return None
    given = {name: value for name, value in options.items() if name not in registry.SURROUNDINGS}
    refused = [option for option in given if option not in registry.LOADING_OPTIONS]
    if refused:
        raise FormatError(f"{take.__name__} takes no option {refused[0]!r}: the robot is read already")
    return take(thing, **given)


def _find(thing: object, search_paths: tuple[Path, ...]) -> Content:
    """The content of the robot file that is meant."""
    if isinstance(thing, (bytes, bytearray, memoryview)):
        return Content(bytes(thing), "the given text")
    if hasattr(thing, "read") and not isinstance(thing, (PathLike, Mechanism, type)):
        return _read_open_file(thing)
    if isinstance(thing, str):
        if is_text(thing):
            return content_of(thing)
        if packages.is_address(thing):
            return _read_path(_resolve(thing, search_paths))
        path = Path(thing)
        if not (path.suffix or "/" in thing) and not (thing and _exists(path)):
            raise _unknown_robot(thing)
        return _read_path(path)
    if isinstance(thing, PathLike):
        try:
            place = fspath(thing)
        except Exception:
            place = b""
        if isinstance(place, str):
            return _read_path(Path(place))
    raise refuse_thing(thing)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _resolve(address: str, search_paths: tuple[Path, ...]) -> Path:
    path = packages.resolve(address, Path.cwd(), search_paths)
    if path is None:
        raise packages.not_found(address, Path.cwd(), search_paths)
    return path


def _read_path(path: Path) -> Content:
    """The content of a file, or of the one robot file in a folder."""
    from chainrule.formats.folder import robot_file

    is_folder = _exists(path) and path.is_dir()
    return content_of(robot_file(path) if is_folder else path)


def _read_open_file(file: Any) -> Content:
    """The rest of an open file; its name tells where files that it names are looked for."""
    name = getattr(file, "name", None)
    path = Path(name) if isinstance(name, str) and _exists(Path(name)) else None
    label = path.name if path else "the open file"
    try:
        content = file.read(MAX_FILE_BYTES + 1)
    except Exception as error:
        raise FormatError(f"cannot read {label}: {error}") from error
    if isinstance(content, str):
        content = content_of(content if is_text(content) else f"{content}\n").data if content.strip() else b""
    if not isinstance(content, bytes):
        raise FormatError(f"cannot read {label}: its read() gives {type(content).__name__}, not text or bytes")
    if len(content) > MAX_FILE_BYTES:
        raise FormatError(f"{label} has over {MAX_FILE_BYTES >> 20} MiB; files so large are not read")
    if not content.strip():
        raise FormatError(f"{label} is empty, or was read to its end before")
    return Content(content, label, path)


def _load_bundled(name: str, options: Mapping[str, Any]) -> Robot:
    """A bundled robot; with options, it is treated as a file would be."""
    if name == "human_arm":
        from chainrule.robot.human_arm import human_arm

        if options:
            raise FormatError(f"human_arm is no file and takes no options of loading, got {', '.join(options)}")
        return human_arm()
    text = _BUNDLED.joinpath(f"{name}.toml").read_text(encoding="utf-8")
    if options:
        return Robot(from_file(Content(text.encode(), f"{name}.toml"), **{"check": False, **options}))
    return Robot(_as_published(text))


def _as_published(text: str) -> Model:
    return validate(native.from_native(text), check=False)  # the tests check them
