"""Files and things that are no robot's: what they look like, and what to do instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chainrule.errors import FormatError, short_repr
from chainrule.formats.xml import root_tag

EXPORT = "export the robot as URDF, SDF or MJCF from the program that wrote it"

BEGINNINGS: tuple[tuple[bytes, str, str], ...] = (
    (b"PK\x03\x04", "a zip archive", "unpack it, and load the robot file or the folder inside"),
    (b"\x1f\x8b", "a gzip archive", "unpack it, and load the robot file inside"),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it, and load the robot file inside"),
    (b"Rar!", "a rar archive", "unpack it, and load the robot file inside"),
    (b"ISO-10303-21", "a STEP file, which has shapes but no joints", EXPORT),
    (b"PXR-USDC", "a USD scene (binary)", "export the robot as URDF or MJCF, for example from Isaac Sim"),
    (b"#usda", "a USD scene", "export the robot as URDF or MJCF, for example from Isaac Sim"),
    (b"glTF", "a glTF scene, which has shapes but no masses", EXPORT),
    (b"%PDF", "a PDF document", "give the robot file itself"),
    (b"\x89PNG", "a picture", "give the robot file itself"),
    (b"\xff\xd8\xff", "a picture", "give the robot file itself"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself", "fetch the file with `git lfs pull`"),
    (b"solid ", "an STL mesh, which has a shape but no joints", "load the robot file that names this mesh"),
    (b"#VRML", "a VRML scene", EXPORT),
    (b"MATLAB 5.0", "a MATLAB data file", "export the robot as URDF with MATLAB's exportrobot"),
    (b"\x93NUMPY", "a NumPy array", "for a DH table use Robot.from_dh, for screws Robot.from_screws"),
    (b"\x80\x04", "a Python pickle", "load the robot in Python and save it with robot.save"),
    (b"\x80\x05", "a Python pickle", "load the robot in Python and save it with robot.save"),
    (b"\x7fELF", "a program", "give the robot file itself"),
)  # fmt: skip
"""First bytes of other files, what such a file is, and what to do."""

ROOTS: dict[str, tuple[str, str]] = {
    "html": ("a web page", "download the raw file; on GitHub, use the button Raw"),
    "COLLADA": ("a COLLADA (.dae) mesh, which has shapes but no joints", "load the robot file that names this mesh"),
    "SimscapeMultibodyImportXML": (
        "a Simscape Multibody import file", "import it with smimport in MATLAB, then write URDF with exportrobot",
    ),
    "launch": ("a ROS launch file", "load the URDF or xacro file that it names"),
    "package": ("a ROS package manifest", "load the folder, or the URDF or xacro file in it"),
    "X3D": ("an X3D scene", EXPORT),
    "svg": ("a picture", "give the robot file itself"),
    "skel": ("a DART skeleton", EXPORT),
    "OpenSimDocument": ("an OpenSim model", "convert it to URDF or MJCF first, for example with MyoConverter"),
    "KinBody": ("an OpenRAVE body", "convert it to URDF first"),
    "Robot": ("an OpenRAVE robot", "convert it to URDF first"),
    "gazebo": ("an SDF file older than 1.3", "bring it to a newer version with `gz sdf --convert`"),
    "mujocoinclude": ("a part of an MJCF model", "load the file that includes it"),
}  # fmt: skip
"""Root elements of other XML files, what such a file is, and what to do."""

SUFFIXES: dict[str, tuple[str, str]] = {
    ".stl": ("an STL mesh, which has a shape but no joints", "load the robot file that names this mesh"),
    ".dae": ("a COLLADA mesh, which has shapes but no joints", "load the robot file that names this mesh"),
    ".obj": ("an OBJ mesh, which has a shape but no joints", "load the robot file that names this mesh"),
    ".step": ("a STEP file, which has shapes but no joints", EXPORT),
    ".stp": ("a STEP file, which has shapes but no joints", EXPORT),
    ".usd": ("a USD scene", "export the robot as URDF or MJCF, for example from Isaac Sim"),
    ".usda": ("a USD scene", "export the robot as URDF or MJCF, for example from Isaac Sim"),
    ".usdc": ("a USD scene", "export the robot as URDF or MJCF, for example from Isaac Sim"),
    ".usdz": ("a USD scene", "export the robot as URDF or MJCF, for example from Isaac Sim"),
    ".sldasm": ("a SolidWorks assembly", "export it with the URDF exporter for SolidWorks"),
    ".slx": ("a Simulink model", "write URDF with MATLAB's exportrobot"),
    ".mat": ("a MATLAB data file", "write URDF with MATLAB's exportrobot"),
    ".mjb": (
        "a model compiled by MuJoCo",
        "load it with mujoco.MjModel.from_binary_path, and pass that to cr.load",
    ),
    ".srdf": ("an SRDF file, which adds groups and postures to a URDF", "load the URDF, with srdf=PATH"),
    ".zip": ("a zip archive", "unpack it, and load the robot file or the folder inside"),
    ".yaml": ("a YAML file", "load the URDF or xacro file that uses it"),
    ".yml": ("a YAML file", "load the URDF or xacro file that uses it"),
    ".csv": ("a table", "for a DH table use Robot.from_dh, for recorded motions Trajectory.from_samples"),
    ".npz": ("NumPy arrays", "for a recorded motion use Trajectory.load"),
}  # fmt: skip
"""Endings of other files, what such a file is, and what to do."""


def refuse_foreign(content: bytes, name: str, suffix: str = "") -> None:
    """Refuse content that is no robot's, by what it begins with."""
    known = look(content)
    if known is None and suffix in SUFFIXES:
        known = SUFFIXES[suffix]
    if known is not None:
        what, advice = known
        raise FormatError(f"{name} is not a robot file: it looks like {what}; {advice}")


def look(content: bytes) -> tuple[str, str] | None:
    """Looks of content of another kind, and what to do with it; None for content that is not known here."""
    head = content[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    for beginning, what, advice in BEGINNINGS:
        if head.startswith(beginning) and (beginning != b"solid " or b"=" not in head.splitlines()[0]):
            return what, advice
    if head[:15].lower().startswith((b"<!doctype html", b"<html")):
        return ROOTS["html"]
    return ROOTS.get(root_tag(content) or "")


def _is_number(thing: Any) -> bool:
    return isinstance(thing, (int, float, complex))


def _is_array(thing: Any) -> bool:
    return hasattr(thing, "shape") and hasattr(thing, "dtype")


def _is_table(thing: Any) -> bool:
    return (
        isinstance(thing, (list, tuple)) and bool(thing) and all(isinstance(row, (list, tuple, dict)) for row in thing)
    )


def _is_element(thing: Any) -> bool:
    return hasattr(thing, "tag") and hasattr(thing, "attrib")


def _comes_from(*packages: str) -> Callable[[Any], bool]:
    def test(thing: Any) -> bool:
        return type(thing).__module__.partition(".")[0] in packages

    return test


TABLES = "for a Denavit-Hartenberg table use Robot.from_dh(rows, convention=...), for screws Robot.from_screws(...)"
THINGS: tuple[tuple[Callable[[Any], bool], str, str], ...] = (
    (lambda thing: isinstance(thing, type), "a class", "pass an object of it"),
    (lambda thing: thing is None, "nothing", "the call that should have given a robot may have returned nothing"),
    (lambda thing: hasattr(thing, "inverse_dynamics"), "a robot", "it is loaded already"),
    (_is_number, "a number", "give a robot's name or a path"),
    (_is_array, "an array of numbers", TABLES),
    (_is_table, "a table", TABLES),
    (lambda thing: isinstance(thing, dict), "a dictionary",
     "for a document of chainrule's own format pass its text, made with json.dumps"),
    (lambda thing: isinstance(thing, (list, tuple, set)), "a list", "load robots one by one"),
    (_is_element, "an XML element", "pass its text, made with the tostring of its package"),
    (lambda thing: hasattr(thing, "URDF_PATH") or hasattr(thing, "MJCF_PATH"), "a robot description module",
     "pass its URDF_PATH or MJCF_PATH, or its name as a string"),
    (_comes_from("pydrake"), "an object of Drake", "load the file that it was parsed from"),
    (_comes_from("roboticstoolbox"), "a robot of the Robotics Toolbox",
     "load its URDF file, or hand its DH table to Robot.from_dh"),
    (_comes_from("trimesh"), "a mesh", "load the robot file that names it"),
    (_comes_from("urdfpy", "urchin", "urdf_parser_py"), "a URDF that another package has read",
     "load the URDF file itself"),
    (_comes_from("dm_control"), "an MJCF model of dm_control", "pass the text that its to_xml_string() gives"),
    (callable, "a function", "call it, and load what it returns"),
)  # fmt: skip
"""Tests for things that are no robots, what they are, and what to do."""


def refuse_thing(thing: object) -> FormatError:
    """The error for a thing that no robot can be made of."""
    kinds = "a bundled robot's name, a path, a folder, a package:// address, text, bytes or an open file"
    for test, what, advice in THINGS:
        if test(thing):
            return FormatError(f"load takes {kinds}, got {what}, {short_repr(thing)}; {advice}")
    return FormatError(f"load takes {kinds}, got {short_repr(thing)}, a {type(thing).__name__}")
