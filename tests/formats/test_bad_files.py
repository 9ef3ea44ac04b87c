"""A file that holds no robot is refused by name; nothing hangs, and nothing outside the file is read."""

import os
from pathlib import Path

import pytest
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelError, Robot, UnknownNameError

from .samples import DOCUMENT_TOML, URDF

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

BOMB = (
    '<!DOCTYPE b [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
    + ']><robot name="&a9;"><link name="l"/></robot>'
)

FILES = [
    ("empty.urdf", b"", r"empty.urdf is not well-formed XML: Document is empty"),
    ("empty.toml", b"", r"empty.toml is not a chainrule robot: it should say format = 'chainrule 1'"),
    ("empty.json", b"", r"empty.json is not valid JSON"),
    ("garbage.urdf", bytes(range(256)) * 9, r"garbage.urdf is not well-formed XML: .*no XML at all"),
    ("garbage.toml", bytes(range(256)) * 9, r"garbage.toml is not UTF-8 text .*save it as UTF-8"),
    ("utf16.toml", 'format = "chainrule 1"'.encode("utf-16"), r"utf16.toml is not UTF-8 text"),
    ("list.json", b"[]", r"list.json should hold a table, in braces, and holds a list"),
    ("nested.json", b'{"a":' * 100_000, r"nested.json nests its tables too deeply"),
    ("nested.toml", b"a=" + b"[" * 100_000, r"nested.toml nests its tables too deeply"),
    ("digits.json", b'{"format": ' + b"1" * 5000 + b"}", r"digits.json cannot be read: .*5000 digits"),
    ("digits.toml", b"format = " + b"1" * 5000, r"digits.toml cannot be read: .*5000 digits"),
    ("twice.json", b'{"name": 1, "name": 2}', r"twice.json cannot be read: the key 'name' is given twice; keep one"),
    ("twice.toml", b"name = 1\nname = 2", r"twice.toml is not valid TOML: Cannot overwrite a value"),
    ("bomb.urdf", BOMB.encode(), r"bomb.urdf .*amplification|document type declaration"),
    ("deep.urdf", b"<robot>" + b"<a>" * 5000, r"deep.urdf is not well-formed XML: .*256 levels"),
    (
        "long.urdf",
        b'<robot name="' + b"a" * 20_000_000,
        r"long.urdf is not well-formed XML: .*no robot file needs texts of 10 MB",
    ),
    ("other.urdf", b"<other/>", r"other.urdf is not URDF: its root element is <other>, not <robot>"),
    ("page.urdf", b"<html/>", r"page.urdf is not a robot file: it looks like a web page; download the raw file"),
    ("other.xml", b"<other/>", r"other.xml is not URDF"),
    ("robot.step", b"", r"robot.step is not a robot file: it looks like a STEP file, .*export the robot as URDF"),
    ("robot.xyz", b"", r"cannot tell the format of '.*robot.xyz': robots come as .urdf, .xml, .toml"),
]


@pytest.mark.parametrize(("name", "content", "pattern"), FILES, ids=[f[0] for f in FILES])
def test_a_file_that_holds_no_robot_is_refused_by_name(tmp_path, name, content, pattern):
    path = tmp_path / name
    path.write_bytes(content)
    assert len(refused(lambda: cr.load(path), FormatError, pattern)) < 500


def test_files_in_other_encodings_are_read_as_they_say(tmp_path):
    for encoding in ("utf-16", "utf-8-sig"):
        (tmp_path / "r.urdf").write_bytes(URDF.encode(encoding))
        assert cr.load(tmp_path / "r.urdf") == Robot.from_urdf(URDF)
    (tmp_path / "r.toml").write_bytes(b"\xef\xbb\xbf" + DOCUMENT_TOML.encode())
    assert cr.load(tmp_path / "r.toml") == cr.load(DOCUMENT_TOML)


def test_external_entities_are_not_read(tmp_path):
    (tmp_path / "secret").write_text("SECRET")
    for entity in ("a", "% a"):
        text = f'<!DOCTYPE r [<!ENTITY {entity} SYSTEM "file://{tmp_path}/secret">]><robot name="r"><link name="&a;"/></robot>'
        message = refused(
            lambda text=text: Robot.from_urdf(text), FormatError, r"document type declaration|not well-formed"
        )
        assert "SECRET" not in message


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path):
    refused(lambda: cr.load(tmp_path / "none.urdf"), FormatError, r"cannot read '.*none.urdf': No such file")
    (tmp_path / "folder.urdf").mkdir()
    refused(
        lambda: cr.load(tmp_path / "folder.urdf"), FormatError, r"is a folder without a robot file; .*give the path"
    )
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.urdf")
        refused(lambda: cr.load(tmp_path / "pipe.urdf"), FormatError, r"pipe.urdf' is not a regular file")
    (tmp_path / "loop.urdf").symlink_to(tmp_path / "loop.urdf")
    refused(lambda: cr.load(tmp_path / "loop.urdf"), FormatError, r"cannot read '.*loop.urdf'")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read anything")
def test_a_file_that_may_not_be_read_is_refused_by_name(tmp_path):
    path = tmp_path / "locked.urdf"
    path.write_text(URDF)
    path.chmod(0)
    refused(lambda: cr.load(path), FormatError, r"cannot read '.*locked.urdf': Permission denied")


LOADS = [
    (None, {}, FormatError, r"load takes .*got nothing, None; the call that should have given a robot"),
    (5, {}, FormatError, r"load takes .*got a number, 5; give a robot's name or a path"),
    (b"panda", {}, FormatError, r"the given text is no robot that can be read: it begins with 'panda'"),
    ("pandaa", {}, UnknownNameError, r"chainrule has no robot named 'pandaa'; did you mean 'panda'\?"),
    (Path("panda"), {}, FormatError, r"cannot read 'panda': No such file"),
    ("", {}, UnknownNameError, r"no robot named ''; there are: 'cartesian_3p'"),
    ("a\0.urdf", {}, FormatError, r"cannot read 'a\\x00.urdf': embedded null"),
    ("<robot/>", {}, ModelError, r"robot 'robot' has no links"),
    ("human_arm", {"floating_base": True}, FormatError, r"human_arm is no file and takes no options .* floating_base"),
    ("x.urdf", {"chek": False}, UnknownNameError, r"load has no option named 'chek'; did you mean 'check'"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "options", "error", "pattern"), LOADS, ids=[repr(l[0]) for l in LOADS])
def test_what_cannot_be_loaded_is_refused_by_name(what, options, error, pattern):
    refused(lambda: cr.load(what, **options), error, pattern)


@pytest.mark.parametrize("make", [Robot.from_urdf, Robot.from_sdf, Robot.from_mjcf])
def test_constructors_refuse_what_is_neither_path_nor_text(make):
    for what in (None, 5, b"<robot/>", ["robot.urdf"]):
        refused(lambda what=what: make(what), FormatError, r"expected the path of a robot file")
    refused(lambda: make(""), FormatError, r"path or text of the robot is empty; give")
    refused(lambda: make("<a>\ud800</a>"), FormatError, r"not Unicode: surrogates not allowed at character 3")
