"""Files from the page: robots and their meshes are unpacked, whatever is hostile is refused in a sentence."""

import io
import os
import stat
import struct
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr
from chainrule.errors import ChainruleError, FormatError
from chainrule.model.geometry import Mesh
from chainrule.studio import uploads as module
from chainrule.studio.uploads import Uploads, open_upload

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="{mesh}"/></geometry></visual></link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
</robot>"""

TRIANGLE = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"


@pytest.fixture
def uploads():
    kept = Uploads()
    yield kept
    kept.close()


def zipped(files, compression=zipfile.ZIP_DEFLATED):
    """A zip of names, or whole entries, and contents."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


def entry(name, mode):
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made


def meshes_of(robot):
    return [geometry.shape for geometry in robot.model.geometries if isinstance(geometry.shape, Mesh)]


# --- what is accepted ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur5.urdf", "ur5.toml", "ur5.json"])
def test_a_robot_file_is_the_robot(name, uploads, tmp_path):
    robot = cr.load("ur5")
    robot.save(tmp_path / name)
    opened = open_upload(uploads.add(name, (tmp_path / name).read_bytes()))
    q = np.linspace(-1, 1, 6)
    np.testing.assert_allclose(opened.robot.reference.gravity_torque(q), robot.reference.gravity_torque(q), atol=1e-9)


@pytest.mark.parametrize(
    ("mesh", "place"),
    [
        ("meshes/a.stl", "meshes/a.stl"),
        ("package://arm_description/meshes/a.stl", "arm_description/meshes/a.stl"),
        ("package://arm_description/meshes/a.stl", "meshes/a.stl"),
        ("../meshes/a.stl", "meshes/a.stl"),
    ],
)
def test_meshes_of_a_zip_are_found(mesh, place, uploads):
    top = "arm_description/" if place.startswith("arm") else ""
    urdf = f"{top}urdf/arm.urdf" if mesh.startswith(("package", "..")) else "arm.urdf"
    upload = uploads.add("arm.zip", zipped({urdf: ARM.format(mesh=mesh), place: TRIANGLE, "README.txt": "hello"}))
    opened = open_upload(upload)
    (shape,) = meshes_of(opened.robot)
    assert shape.path == "meshes/a.stl"
    assert (Path(shape.folder) / shape.path).read_bytes() == TRIANGLE
    assert opened.notes == ()
    assert not list(upload.folder.rglob("README.txt"))


def test_a_zip_with_several_robots_lets_one_be_chosen(uploads):
    upload = uploads.add("two.zip", zipped({"a.urdf": ARM.format(mesh="x.stl"), "b.urdf": ARM.replace("arm", "other")}))
    assert upload.robots == ("a.urdf", "b.urdf")
    assert open_upload(upload, "b.urdf").robot.name == "other"
    with pytest.raises(FormatError, match=r"two.zip has no robot file '\.\./c\.urdf'; there are: 'a.urdf', 'b.urdf'"):
        open_upload(upload, "../c.urdf")


def test_mjcf_and_sdf_with_includes_inside_the_zip(uploads):
    body = (
        '<mujoco><worldbody><body name="arm"><joint name="turn"/><geom size="1" mass="1"/></body></worldbody></mujoco>'
    )
    upload = uploads.add(
        "m.zip", zipped({"main.xml": '<mujoco model="m"><include file="arm.xml"/></mujoco>', "arm.xml": body})
    )
    assert open_upload(upload).robot.joint_names == ("turn",)


def test_missing_meshes_are_named_and_not_drawn(uploads):
    opened = open_upload(uploads.add("arm.urdf", ARM.format(mesh="package://arm/a.stl").encode()))
    assert meshes_of(opened.robot) == []
    assert opened.notes[-1] == "these meshes are not in the upload and are not drawn: 'package://arm/a.stl'"


def test_the_folder_is_private_and_goes_with_the_tab(uploads):
    upload = uploads.add("arm.urdf", ARM.encode())
    parent = upload.folder.parent
    assert stat.S_IMODE(parent.stat().st_mode) == 0o700 or os.name == "nt"
    uploads.close()
    assert not parent.exists()
    with pytest.raises(FormatError, match="reload the page"):
        uploads.add("arm.urdf", ARM.encode())


# --- what is refused ----------------------------------------------------------------------------------------------

URDF = ARM.format(mesh="a.stl")

HOSTILE_ZIPS = {
    "traversal": ({"../evil.urdf": URDF}, "'../evil.urdf' in the upload leads out of its folder"),
    "traversal inside": ({"a/../../evil.urdf": URDF}, "leads out of its folder"),
    "absolute": ({"/etc/cron.d/evil": URDF}, "is a place on a disk"),
    "drive": ({"C:/evil.urdf": URDF}, "is a place on a disk"),
    "backslash": ({"..\\evil.urdf": URDF}, "is a place on a disk"),
    "dot": ({"./a.urdf": URDF}, "not a plain name"),
    "control": ({"a\x1b[2J.urdf": URDF}, "is no name of a file that is accepted"),
    "long": ({"a" * 300 + ".urdf": URDF}, "at most 200 letters"),
    "deep": ({"a/" * 20 + "a.urdf": URDF}, "lies 21 folders deep; at most 12"),
    "link": ({"a.urdf": URDF, entry("a.stl", stat.S_IFLNK | 0o777): "/etc/passwd"}, "'a.stl' in the zip is a link"),
    "device": ({"a.urdf": URDF, entry("a.stl", stat.S_IFCHR | 0o666): ""}, "'a.stl' in the zip is a special file"),
    "nested": ({"a.urdf": URDF, "b.zip": b"PK"}, "the zip has another archive in it, 'b.zip'"),
    "twice": ({"a.urdf": URDF, "A.urdf": URDF}, "has 2 files named 'a.urdf'"),
    "under a file": ({"a.urdf": URDF, "a.urdf/b.stl": b"x"}, "cannot unpack"),
    "no robot": ({"a.stl": TRIANGLE}, "there is no robot in 'x.zip'; robots come as"),
    "nothing": ({}, "there is no robot in 'x.zip'"),
    "xacro": ({"a.xacro": '<robot name="a" xmlns:xacro="x"><xacro:include filename="/etc/passwd"/></robot>'}, "is a xacro file, a program"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE_ZIPS)
def test_hostile_zips_are_refused(kind, uploads, tmp_path):
    files, message = HOSTILE_ZIPS[kind]
    before = sorted(Path(tmp_path.parent).iterdir())
    with pytest.raises(FormatError) as refused:
        open_upload(uploads.add("x.zip", zipped(files)))
    assert message in str(refused.value)
    assert sorted(Path(tmp_path.parent).iterdir()) == before
    assert kind == "xacro" or uploads._folder is None or not list(Path(uploads._folder.name).rglob("*.*"))


def test_bombs_are_refused_before_they_are_unpacked(uploads, monkeypatch):
    bomb = zipped({"a.urdf": URDF, "a.stl": bytes(8 * 2**20)})
    assert len(bomb) < 2**17
    with pytest.raises(FormatError, match=r"grows \d+ times when unpacked, as no robot does"):
        uploads.add("bomb.zip", bomb)
    with pytest.raises(FormatError, match="has 300 MiB when unpacked; at most 256"):
        uploads.add("bomb.zip", _with_declared_size(bomb, 300 * 2**20))
    monkeypatch.setattr(module, "MAX_FILES", 3)
    with pytest.raises(FormatError, match="has 4 files; at most 3"):
        uploads.add("many.zip", zipped({f"{k}.stl": b"x" for k in range(4)}))
    monkeypatch.setattr(module, "MAX_DIRECTORY_BYTES", 100)
    with pytest.raises(FormatError, match="lists too many files; at most 3"):
        uploads.add("many.zip", zipped({f"{k}.stl": b"x" for k in range(4)}))


def _with_declared_size(content, size):
    """The zip, whose list of files says another size for the last of them."""
    place = content.rfind(b"PK\x01\x02") + 24
    return content[:place] + struct.pack("<I", size) + content[place + 4 :]


def test_a_zip_that_lies_about_its_sizes_is_refused(uploads):
    honest = zipped({"a.urdf": URDF, "a.stl": TRIANGLE * 1000})
    with pytest.raises(FormatError, match=r"'a.stl' in the zip is damaged"):
        uploads.add("lie.zip", _with_declared_size(honest, 10))
    damaged = bytearray(honest)
    damaged[honest.find(b"a.stl") + 40] ^= 0xFF
    with pytest.raises(FormatError, match=r"'a.stl' in the zip is damaged"):
        uploads.add("damaged.zip", bytes(damaged))


def test_encrypted_and_unusual_zips_are_refused(uploads):
    content = bytearray(zipped({"a.urdf": URDF}))
    content[content.rfind(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(FormatError, match=r"'a.urdf' in the zip is encrypted"):
        uploads.add("x.zip", bytes(content))
    with pytest.raises(FormatError, match="compressed in an unusual way"):
        uploads.add("x.zip", zipped({"a.urdf": URDF}, zipfile.ZIP_LZMA))
    for content in (b"PK\x03\x04", b"PK\x03\x04" + bytes(100), b"nothing", zipped({"a.urdf": URDF})[:-30]):
        with pytest.raises(FormatError, match="is not a zip that can be read"):
            uploads.add("x.zip", content)


def test_limits_on_size_and_count(uploads, monkeypatch):
    monkeypatch.setattr(module, "MAX_UPLOAD_BYTES", 2**20)
    with pytest.raises(FormatError, match=r"'big.urdf' has 2 MiB; at most 1 MiB"):
        uploads.add("big.urdf", bytes(2**21))
    with pytest.raises(FormatError, match=r"'no.urdf' is empty"):
        uploads.add("no.urdf", b"")
    with pytest.raises(FormatError, match=r"'run.sh' is no robot file; robots come as"):
        uploads.add("run.sh", b"#!/bin/sh")
    monkeypatch.setattr(module, "MAX_EXPANDED_BYTES", 2 * len(URDF))
    monkeypatch.setattr(module, "MAX_UPLOADS", 4)
    uploads.add("a.urdf", URDF.encode())
    uploads.add("../../a.urdf", URDF.encode())
    with pytest.raises(FormatError, match="the uploads of this tab have over 0 MiB when unpacked"):
        uploads.add("a.urdf", URDF.encode())
    uploads._count = 4
    with pytest.raises(FormatError, match="this tab has had 4 uploads"):
        uploads.add("a.urdf", URDF.encode())


ENTITIES = b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"><link name="a"/></robot>'
LAUGHS = b'<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><robot name="&b;"><link name="a"/></robot>'


@pytest.mark.parametrize("text", [ENTITIES, LAUGHS])
def test_entities_are_off(text, uploads):
    with pytest.raises(FormatError) as refused:
        open_upload(uploads.add("a.urdf", text))
    assert "root:" not in str(refused.value)


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """A package outside of all uploads, which the environment names."""
    folder = tmp_path / "secret_package"
    folder.mkdir()
    (folder / "package.xml").write_text("<package><name>secret_package</name></package>")
    (folder / "part.xml").write_text(
        '<mujoco><worldbody><body><joint name="secret"/><geom size="1" mass="1"/></body></worldbody></mujoco>'
    )
    (folder / "model.sdf").write_text('<sdf version="1.9"><model name="secret"><link name="secret"/></model></sdf>')
    (folder / "a.stl").write_bytes(TRIANGLE)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path))
    return folder


def test_a_robot_reaches_no_file_of_the_server(secret, uploads):
    climb = "../" * 20 + str(secret).lstrip("/")
    for mesh in (f"{secret}/a.stl", f"file://{secret}/a.stl", "package://secret_package/a.stl", f"{climb}/a.stl",
                 f"package://arm/{climb}/a.stl", "package://../../a.stl"):  # fmt: skip
        opened = open_upload(uploads.add("arm.urdf", ARM.format(mesh=mesh).encode()))
        assert meshes_of(opened.robot) == []
    inside = '<mujoco><include file="{}"/></mujoco>'
    for file in (f"{secret}/part.xml", f"{climb}/part.xml", "/etc/passwd", "/no/such/file"):
        with pytest.raises(FormatError, match="is not read: it is outside the folder") as refused:
            open_upload(uploads.add("main.xml", inside.format(file).encode()))
        assert "chainrule-studio-" not in str(refused.value)
    geom = '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
    for file in (f"{secret}/a.stl", f"{climb}/a.stl"):
        opened = open_upload(uploads.add("main.xml", geom.format(file).encode()))
        assert meshes_of(opened.robot) == []
        assert opened.robot.model.links[1].mass == 0
        assert opened.notes[0] == f"the mesh file {file!r} cannot be found"
    sdf = '<sdf version="1.9"><model name="m"><include><uri>{}</uri></include></model></sdf>'
    for uri in (
        "model://secret_package",
        f"file://{secret}/model.sdf",
        f"{secret}/model.sdf",
        "model://etc",
        "package://tmp/x",
    ):
        with pytest.raises(FormatError) as refused:
            open_upload(uploads.add("m.sdf", sdf.format(uri).encode()))
        assert f"is in {secret}" not in str(refused.value)
        assert " is in /" not in str(refused.value)
    config = zipped({"model.config": f"<model><sdf>{climb}/model.sdf</sdf></model>", "a.txt": ""})
    with pytest.raises(FormatError, match="which is not there"):
        uploads.add("m.zip", config)


def test_the_same_robot_is_found_by_whoever_owns_the_machine(secret):
    robot = cr.Robot.from_mjcf(f'<mujoco><include file="{secret}/part.xml"/></mujoco>')
    assert robot.joint_names == ("secret",)


@pytest.mark.parametrize("seed", range(30))
def test_damaged_zips_are_opened_or_refused_in_words(seed, uploads):
    rng = np.random.default_rng(seed)
    content = bytearray(zipped({"arm/a.urdf": ARM.format(mesh="a.stl"), "arm/a.stl": TRIANGLE * 3}))
    for place in rng.integers(0, len(content), rng.integers(1, 6)):
        content[place] = rng.integers(0, 256)
    with suppress(ChainruleError):
        open_upload(uploads.add("x.zip", bytes(content)))
