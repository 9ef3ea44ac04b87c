"""The recipe of `chainrule.formats.registry`, followed from outside the package: pendulums in a line of text."""

import pytest

import chainrule as cr
from chainrule.errors import FormatError
from chainrule.formats import registry, source
from chainrule.model import Joint, Link, Model, Screw
from chainrule.spatial import Transform, Vector

pytestmark = pytest.mark.interpreted


def read(path):  # step 1
    """A line such as "pendulum: 1.5 2.0": lengths in m of rods that end in 1 kg."""
    content, name, _ = source.read(path)
    title, _, numbers = content.decode().partition(":")
    try:
        lengths = [float(word) for word in numbers.split()]
    except ValueError as error:
        raise FormatError(f"{name} should be a name and lengths, such as 'pendulum: 1.5 2.0': {error}") from error
    links, joints, parent, origin = [Link("base")], [], "base", Transform.identity()
    for i, length in enumerate(lengths, 1):
        links.append(Link(f"link{i}", 1.0, Vector(0.0, 0.0, -length)))
        joints.append(
            Joint(f"joint{i}", parent, f"link{i}", Screw.revolute(Vector(0.0, 1.0, 0.0), name="continuous"), origin)
        )
        parent, origin = f"link{i}", Transform.from_xyz_rpy((0.0, 0.0, -length))
    return Model.build(title.strip(), links, joints)


def write(model, path):  # step 2
    source.write(path, f"{model.name}: {' '.join(repr(-link.com.z) for link in model.links[1:])}\n")


@pytest.fixture(autouse=True)
def pendulums(monkeypatch):
    monkeypatch.setattr(registry, "_FORMATS", dict(registry._FORMATS))
    registry.register(registry.Format("pendulums", (".pendulum",), read, write))  # step 3


def test_a_file_is_loaded_and_saved_by_its_suffix(tmp_path):
    (tmp_path / "two.pendulum").write_text("two: 1.5 2.0\n")
    robot = cr.load(tmp_path / "two.pendulum")
    assert robot.joint_names == ("joint1", "joint2")
    assert robot.pose([0.0, 0.0], "link2")[2, 3] == -1.5
    robot.save(tmp_path / "again.pendulum")
    assert (tmp_path / "again.pendulum").read_text() == "two: 1.5 2.0\n"
    assert cr.load(tmp_path / "again.pendulum") == robot


def test_the_registry_alone_reads_and_writes(tmp_path):
    (tmp_path / "one.pendulum").write_text("one: 0.5")
    model = registry.read(tmp_path / "one.pendulum")
    registry.write(model, tmp_path / "one.toml")
    assert registry.read(tmp_path / "one.toml") == model


def test_what_is_wrong_in_a_file_is_said(tmp_path):
    (tmp_path / "bad.pendulum").write_text("bad: 1.5 long")
    with pytest.raises(FormatError, match=r"bad.pendulum should be a name and lengths"):
        cr.load(tmp_path / "bad.pendulum")


def test_messages_name_the_new_suffix(tmp_path):
    with pytest.raises(FormatError, match=r"robots come as .urdf, .xml, .toml, .json, .*or .pendulum files"):
        registry.reader_for("robot.step")
    with pytest.raises(FormatError, match=r"end it in .toml or .json \(or .urdf, .xml, .sdf or .pendulum\)"):
        registry.writer_for("robot.step")


def test_formats_that_share_a_suffix_are_told_apart_by_content(tmp_path):
    registry.register(
        registry.Format("words", (".pendulum",), read, sniff=lambda content, name: content.startswith(b"words"))
    )
    for text, name in (("words: 1", "words"), ("two: 1", "pendulums")):
        (tmp_path / "a.pendulum").write_text(text)
        assert registry.reader_for(tmp_path / "a.pendulum").name == name
    for text, name in (("<mujoco/>", "mjcf"), ("<robot/>", "urdf"), ("<other/>", "urdf")):
        (tmp_path / "a.xml").write_text(text)
        assert registry.reader_for(tmp_path / "a.xml").name == name


def test_a_suffix_begins_with_a_dot():
    with pytest.raises(FormatError, match=r"the suffix 'pend' should begin with a dot, in lower case"):
        registry.register(registry.Format("p", ("pend",), read))
