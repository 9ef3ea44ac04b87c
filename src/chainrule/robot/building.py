"""Models of robots from files and from tables, and back: what `Robot.from_urdf`, `Robot.save` and others do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from chainrule.arguments import as_list, flag, placement, real_array, symmetric, vector, word
from chainrule.calls import explains_arguments
from chainrule.core.mechanism import Mechanism
from chainrule.core.problems import Check, check_mode
from chainrule.core.reading import find_link
from chainrule.core.validation import validate
from chainrule.errors import FormatError, ModelError, ModelWarning, ShapeError, UnknownNameError, quoted, warn_user
from chainrule.formats import packages, registry
from chainrule.formats.source import FilePath, content_of, path_of
from chainrule.model import Dof, Free, Joint, Link, Model, ModelProblem, edits
from chainrule.spatial import Vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from chainrule.formats.dh import DHTable
    from chainrule.formats.screws import ScrewTable


def from_urdf(
    path_or_text: str | PathLike[str],
    *,
    floating_base: bool = False,
    check: Check = "warn",
    repair: bool = False,
) -> Model:
    """Load a URDF file, or its text.

    floating_base: add a free joint between the world and the root link. check: "warn" loads a robot whose file has
    problems (misspelled elements, impossible inertias, moving links without mass, limits that cannot be) with one
    warning that lists them all, "strict" refuses it with the same list, False says nothing. repair: mend what can be
    mended, and say how.

    >>> from chainrule import Robot
    >>> text = '<robot name="rod"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/>'
    >>> text += '<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial></link>'
    >>> text += '<joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>'
    >>> Robot.from_urdf(text).joint_names
    ('hinge',)
    """
    from chainrule.formats import urdf

    model, form = urdf.from_urdf(path_or_text), registry.format_by_name("urdf")
    return complete(model, form, floating_base=floating_base, check=check, repair=repair)


def from_mjcf(
    path_or_text: str | PathLike[str], *, floating_base: bool = False, check: Check = "warn", repair: bool = False
) -> Model:
    """Load a MuJoCo XML file, or its text: MuJoCo's own compiler reads it, which needs the package mujoco.

    What is taken over is what `from_mujoco` takes over. Meshes that are missing weigh nothing, with a warning.
    """
    from chainrule.formats import mjcf

    model, form = mjcf.from_mjcf(path_or_text), registry.format_by_name("mjcf")
    return complete(model, form, floating_base=floating_base, check=check, repair=repair)


def from_mujoco(compiled: Any, *, floating_base: bool = False, check: Check = "warn", repair: bool = False) -> Model:
    """Take over a compiled model of MuJoCo, a mujoco.MjModel, or a mujoco.MjSpec, which is compiled.

    Bodies, joints, armature, damping, friction, springs, limits, equality constraints, sites (as frames), keyframes (as
    named configurations) and geoms. q is MuJoCo's qpos with the scalar of quaternions last; the velocity of a free
    joint is the body's twist in its own axes, angular part first.
    """
    from chainrule.formats import mujoco

    model, form = mujoco.from_mujoco(compiled), registry.format_by_name("mjcf")
    return complete(model, form, floating_base=floating_base, check=check, repair=repair)


def from_pinocchio(model: Any, *, floating_base: bool = False, check: Check = "warn", repair: bool = False) -> Model:
    """Take over a pinocchio.Model, or the model of a pinocchio.RobotWrapper.

    Joints of all kinds, inertias, limits, damping, friction, armature, frames, reference configurations. q means what
    it means to Pinocchio, but a joint that turns without end has its angle as coordinate, not its cosine and sine.
    """
    from chainrule.formats import pinocchio

    read, form = pinocchio.from_pinocchio(model), registry.format_by_name("urdf")
    return complete(read, form, floating_base=floating_base, check=check, repair=repair)


def from_yourdfpy(urdf: Any, *, floating_base: bool = False, check: Check = "warn", repair: bool = False) -> Model:
    """Take over a yourdfpy.URDF: the XML that it writes is read as URDF."""
    from chainrule.formats import urdf as reader
    from chainrule.formats.yourdfpy import text_of

    model, form = reader.from_urdf(text_of(urdf)), registry.format_by_name("urdf")
    return complete(model, form, floating_base=floating_base, check=check, repair=repair)


def from_sdf(
    path_or_text: str | PathLike[str],
    *,
    floating_base: bool = False,
    check: Check = "warn",
    repair: bool = False,
    search_paths: str | PathLike[str] | Iterable[str | PathLike[str]] = (),
    model: str | None = None,
) -> Model:
    """Load an SDF (SDFormat) file of Gazebo or Drake, or its text. Its base is the link "world".

    Parameters
    ----------
    path_or_text
        The file, or its text.
    floating_base
        Set the model free; otherwise it is fixed where the file puts it, unless a joint ties it to the world.
    check, repair
        As of `from_urdf`.
    search_paths
        Folders in which model:// addresses of <include> are looked for first.
    model
        The name of the model, where a world has several.
    """
    from chainrule.formats import sdf

    name = None if model is None else word(model, "model")
    read, form = sdf.from_sdf(path_or_text, packages.folders(search_paths), name), registry.format_by_name("sdf")
    return complete(read, form, floating_base=floating_base, check=check, repair=repair)


def from_native(
    path_or_text: str | PathLike[str], *, floating_base: bool = False, check: Check = "warn", repair: bool = False
) -> Model:
    """Load chainrule's own format, .toml or .json, from a file or text."""
    from chainrule.formats import native

    model, form = native.from_native(path_or_text), registry.format_by_name("native")
    return complete(model, form, floating_base=floating_base, check=check, repair=repair)


def from_file(path_or_text: FilePath, **options: Any) -> Model:
    """A model from a file, text or content of any registered format, with the options of that format.

    The content decides what the format is, and the file's suffix where the content does not.
    """
    refuse_unknown_options(options)
    content = content_of(path_or_text)
    form = registry.reader_of(content)
    known = (*form.options, *form.reads_with, *registry.SURROUNDINGS)
    for option in options:
        if option not in known:
            taking = registry.either(tuple(other.name for other in registry.formats() if option in other.reads_with))
            raise FormatError(f"{content.name} is {form.name}, and the option {option!r} is for {taking} files")
    chosen = {name: value for name, value in options.items() if name in form.options}
    given = {name: value for name, value in options.items() if name in form.reads_with}
    return complete(form.read(content, **given), form, **chosen)


def refuse_unknown_options(options: Iterable[str]) -> None:
    """Refuse options that no format has."""
    for option in options:
        if option not in registry.all_options():
            raise UnknownNameError.of("option", option, registry.all_options(), "load")


PLAIN = registry.Format("", (), Model.build)
"""What holds for models of no particular format."""


def complete(
    model: Model,
    form: registry.Format = PLAIN,
    *,
    floating_base: bool = False,
    check: Check = "warn",
    repair: bool = False,
) -> Model:
    """A model from a file: its base is set free if asked for, and all its problems are told at once.

    Its notes are problems too where the format says so. The options are those of `from_urdf`.
    """
    check_mode(check)
    is_free, mends = flag(floating_base, "floating_base"), flag(repair, "repair")
    if form.has_notes:
        known = {str(problem) for problem in model.problems}
        noted = tuple(ModelProblem("", note, severity="doubt") for note in model.notes if note not in known)
        model = replace(model, problems=(*model.problems, *noted))
    if is_free:
        model = _with_free_base(model, form)
    return validate(model, check=check, repair=mends)


def _with_free_base(model: Model, form: registry.Format) -> Model:
    """The model with a free joint between the world and its base.

    Where the base of a format is the world itself, what is fixed to it is set free.
    """
    if not form.base_is_world:
        return edits.set_base_free(model)
    base = model.links[0].name
    mounts = [joint for joint in model.joints if joint.parent == base]
    free = [joint.name for joint in mounts if isinstance(joint.kind, Free)]
    if free:
        raise ModelError(
            f"robot {model.name!r} has a free base already, joint {free[0]!r}; leave out floating_base=True"
        )
    if len(mounts) != 1 or mounts[0].kind.nv:
        held = quoted(joint.child for joint in mounts)
        raise ModelError(
            f"robot {model.name!r}: floating_base=True sets free the one body that is fixed to the world, but those "
            f"on the world are {held}, not all of them fixed or more than one; give one a free joint in the file"
        )
    names = [joint.name for joint in model.joints]
    loose = Joint(edits.unused_name("floating_base", names), base, mounts[0].child, Free())
    return edits.rebuild(model, joints=tuple(loose if joint is mounts[0] else joint for joint in model.joints))


def from_dh(
    rows: Sequence[Sequence[float] | Mapping[str, float]],
    *,
    convention: str,
    types: str | Sequence[str] | None = None,
    columns: Sequence[str] = ("a", "alpha", "d", "theta"),
    masses: ArrayLike | None = None,
    coms: ArrayLike | None = None,
    inertias: ArrayLike | Sequence[ArrayLike] | None = None,
    rotors: ArrayLike | None = None,
    gears: ArrayLike | None = None,
    viscous: ArrayLike | None = None,
    coulomb: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    base: ArrayLike | None = None,
    tool: ArrayLike | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    name: str = "dh_robot",
    degrees: bool = False,
    check: Check = "strict",
    repair: bool = False,
) -> Model:
    """A serial arm from Denavit-Hartenberg parameters.

    Parameters
    ----------
    rows
        For each joint (a, alpha, d, theta), in m and rad, in the order that `columns` says, or a table with those
        keys; theta (revolute) and d (prismatic) are offsets to the joint coordinate.
    convention
        "standard" (T = Rz Tz Tx Rx) or "modified" (T = Rx Tx Rz Tz).
    types
        A letter for each joint, "R" or "P"; all revolute if left out.
    columns
        The order of the parameters in a row.
    masses, coms, inertias
        Of the links: (n) in kg; (n, 3) in m, in the link frame; about the center of mass in kg m^2, each as
        (xx, yy, zz), (xx, yy, zz, xy, xz, yz) or 3-by-3.
    rotors, gears
        Rotor inertias on the motor side, in kg m^2, and gear ratios (n).
    viscous, coulomb
        Friction on the joint side; coulomb as (n) or as (n, 2) for the two directions, both positive.
    lower, upper
        Limits (n), in rad or m.
    base, tool
        4-by-4 transforms before the first and after the last frame.
    gravity
        In base axes, in m/s^2.
    name
        The robot's name.
    degrees
        Whether alpha, theta and the limits of revolute joints are in degrees. The robot's q is in rad all the same.
    check, repair
        As of `from_urdf`.

    >>> from chainrule import Robot
    >>> arm = Robot.from_dh([(1, 0, 0, 0), (1, 0, 0, 0)], convention="standard", masses=[1, 1], check=False)
    >>> arm.pose([0.0, 0.0])[:3, 3].tolist()
    [2.0, 0.0, 0.0]
    """
    from chainrule.formats import dh

    options = _read_options(check, repair)
    table = as_list(rows, "rows")
    n = len(table)
    if flag(degrees, "degrees"):
        turns = [letter == "R" for letter in dh.joint_types(types, n)]
        lower, upper = (_in_radians(limits, turns, what) for limits, what in ((lower, "lower"), (upper, "upper")))
    columns_of = {
        key: _per_joint(value, n, what)
        for key, what, value in (
            ("rotor", "rotors", rotors), ("gear", "gears", gears), ("viscous", "viscous", viscous),
            ("lower", "lower", lower), ("upper", "upper", upper),
        )
        if value is not None
    }  # fmt: skip
    if coulomb is not None:
        forward, backward = _coulomb_both_ways(coulomb, n)
        columns_of |= {"coulomb": forward, "coulomb_negative": backward}
    properties: list[dict[str, Any]] = [{key: column[i] for key, column in columns_of.items()} for i in range(n)]
    dofs = [Dof(**own) for own in properties]
    model = dh.from_dh(
        name, table, word(convention, "convention"), types, as_list(columns, "columns"),
        _links(n, masses, coms, inertias), dofs, placement(base, "base"), placement(tool, "tool"), bool(degrees),
    )  # fmt: skip
    model = edits.with_gravity(model, vector(gravity, "gravity", "m/s^2"))
    return validate(model, **options)


def from_screws(
    *,
    home: ArrayLike,
    screws: ArrayLike,
    frames: Sequence[ArrayLike] | None = None,
    inertias: Sequence[ArrayLike] | None = None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    axes: str = "space",
    normalize: bool | None = None,
    name: str = "screw_robot",
    check: Check = "strict",
    repair: bool = False,
) -> Model:
    """A serial robot as a product of exponentials, from Lynch & Park's lists.

    Parameters
    ----------
    home
        The end-effector's pose at q = 0.
    screws
        (6, n), a column (omega, v) for each joint, in the base frame at home, or in the end-effector's with
        axes="body".
    frames
        M01, M12, .. Mn,n+1, each link frame in the one before at home.
    inertias
        The 6-by-6 G of each link.
    gravity
        In base axes, in m/s^2.
    axes
        "space" or "body": the frame of the screws.
    normalize
        Whether screws are divided by the length of their axes (of their linear parts, where a joint slides). None
        refuses lengths other than 1; False uses them as given, as some printed examples need it.
    name
        The robot's name.
    check, repair
        As of `from_urdf`.
    """
    from chainrule.formats import screws as screw_tables

    g, options = vector(gravity, "gravity", "m/s^2"), _read_options(check, repair)
    scale = None if normalize is None else flag(normalize, "normalize")
    model = screw_tables.from_screws(name, home, screws, frames, inertias, g, word(axes, "axes"), scale)
    return validate(model, **options)


def save(robot: Mechanism, path: str | PathLike[str], *, lossy: bool = False) -> None:
    """Write the robot to a .toml or .json file (exactly), or to .urdf, .xml (MJCF) or .sdf where these can express it.

    With lossy=True, what the format cannot express (rotors, springs and loops in URDF) is left out, and a warning lists
    it; otherwise it is an error. In MJCF and SDF the base is the link "world".
    """
    model = robot.model
    if flag(lossy, "lossy"):
        model, lost = registry.without_inexpressible(model, path)
        if lost:
            warn_user(f"robot {model.name!r}: {path_of(path)!r} cannot hold all of it: {'; '.join(lost)}", ModelWarning)
    registry.write(model, path)


def to_urdf(robot: Mechanism) -> str:
    """The robot as URDF text; what URDF cannot express (rotors, springs, some joints) is an error."""
    from chainrule.formats.urdf import to_urdf

    return to_urdf(robot.model)


@explains_arguments
def to_dh(robot: Mechanism, link: str | None = None, *, convention: str) -> DHTable:
    """Denavit-Hartenberg parameters of the chain from the base to a link: the same poses at the same q."""
    from chainrule.formats.dh import to_dh

    return to_dh(robot.model, find_link(robot, link), word(convention, "convention"))


def to_screws(robot: Mechanism, link: str | None = None, *, axes: str = "space") -> ScrewTable:
    """Home pose, screws, link frames and inertias of the chain from the base to a link."""
    from chainrule.formats.screws import to_screws

    return to_screws(robot.model, find_link(robot, link), word(axes, "axes"))


def _read_options(check: Check, repair: bool) -> dict[str, Any]:
    """The options of `validate`, refused before the robot is built if they are no such options."""
    check_mode(check)
    return {"check": check, "repair": flag(repair, "repair")}


def _per_joint(value: Any, n: int, what: str, unit: str | None = None) -> list[float]:
    array = real_array(value, what, unit)
    if array.shape != (n,):
        raise ShapeError(f"{what} must have {n} numbers, one for each joint, got shape {array.shape}")
    return [float(x) for x in array]


def _in_radians(limits: Any, turns: Sequence[bool], what: str) -> list[float] | None:
    """Limits in degrees as radians, for the joints that turn; those that slide have theirs in m."""
    if limits is None:
        return None
    numbers = _per_joint(limits, len(turns), what)
    return [math.radians(x) if is_angle else x for x, is_angle in zip(numbers, turns, strict=True)]


def _coulomb_both_ways(coulomb: Any, n: int) -> tuple[list[float], list[float]]:
    array = real_array(coulomb, "coulomb")
    if array.shape == (n, 2):
        return array[:, 0].tolist(), array[:, 1].tolist()
    both = _per_joint(coulomb, n, "coulomb")
    return both, both


def _links(n: int, masses: Any, coms: Any, inertias: Any) -> list[Link]:
    if masses is None and (coms is not None or inertias is not None):
        raise ShapeError("coms and inertias need masses too; give masses=[...], one for each link")
    if masses is None:
        return [Link(f"link{i + 1}") for i in range(n)]
    weights = _per_joint(masses, n, "masses", "kg")
    centers = [Vector(0.0, 0.0, 0.0)] * n
    if coms is not None:
        array = real_array(coms, "coms", "m")
        if array.shape != (n, 3):
            raise ShapeError(f"coms must have shape ({n}, 3), a point for each link, got {array.shape}")
        centers = [Vector(*row) for row in array.tolist()]
    if inertias is None:
        return [Link(f"link{i + 1}", m, c) for i, (m, c) in enumerate(zip(weights, centers, strict=True))]
    given = as_list(inertias, "inertias")
    if len(given) != n:
        raise ShapeError(f"inertias must have an entry for each of the {n} links, got {len(given)}")
    return [
        Link(f"link{i + 1}", m, c, symmetric(I, f"inertias[{i}]"))
        for i, (m, c, I) in enumerate(zip(weights, centers, given, strict=True))
    ]
