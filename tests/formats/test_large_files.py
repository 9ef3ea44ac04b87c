"""Robots of many links and files of many megabytes load, or are refused in few words."""

import sys
from itertools import pairwise, product

import pytest
from refusals import refused
from tiers import with_slow

import chainrule as cr
from chainrule import FormatError, ModelError, Robot
from chainrule.formats.sdf import from_sdf
from chainrule.model.edits import without_annotations

from .samples import URDF

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

BIG = """<link name="l{i}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{pad}</link>
<joint name="j{i}" type="{kind}"><parent link="l{parent}"/><child link="l{i}"/><axis xyz="0 0 1"/></joint>
"""


def big(count, *, star=False, kind="continuous", pad=""):
    rows = (BIG.format(i=i, parent=0 if star else i - 1, kind=kind, pad=pad) for i in range(1, count))
    return '<robot name="big"><link name="l0"/>\n' + "".join(rows) + "</robot>"


SIZES = [5_000, pytest.param(100_000, marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize(
    ("kind", "star"),
    with_slow(product(["continuous", "fixed"], [False, True]), ("fixed", False), ("continuous", True)),
)
def test_a_robot_of_many_links_loads(tmp_path, count, kind, star):
    (tmp_path / "big.urdf").write_text(big(count, star=star, kind=kind))
    robot = cr.load(tmp_path / "big.urdf")
    assert len(robot.link_names) == count
    assert robot.nv == (count - 1 if kind == "continuous" else 0)
    assert robot.pose(robot.neutral(), f"l{count - 1}").shape == (4, 4)
    assert robot.mass == (count - 1 if kind == "continuous" else 0)


@pytest.mark.parametrize("count", SIZES)
def test_a_large_robot_with_a_fault_is_refused_in_few_words(count):
    loop = f'<joint name="x" type="fixed"><parent link="l{count - 1}"/><child link="l0"/></joint></robot>'
    message = refused(
        lambda: Robot.from_urdf(big(count).replace("</robot>", loop)), ModelError, r"the joints form a loop"
    )
    assert len(message) < 300
    roots = '<robot name="r">' + "".join(f'<link name="l{i}"/>' for i in range(count)) + "</robot>"
    message = refused(lambda: Robot.from_urdf(roots), ModelError, rf"has {count} root links .*connect them")
    assert len(message) < 300


def sdf_chain(count, order, frames=0):
    """SDF whose links are each placed relative to the one before; `order` of the elements: 1 or -1."""
    links = [
        f'<link name="l{i}"><pose relative_to="{f"l{i - 1}" if i else "__model__"}">0.1 0 0 0 0 0</pose></link>'
        for i in range(count)
    ]
    joints = [
        f'<joint name="j{i}" type="revolute"><parent>l{i - 1}</parent><child>l{i}</child><axis><xyz>0 0 1</xyz></axis>'
        "</joint>"
        for i in range(1, count)
    ]
    names = ["l1", *(f"f{i}" for i in range(frames))]
    attached = [
        f'<frame name="{new}" attached_to="{old}"><pose>0.1 0 0 0 0 0</pose></frame>' for old, new in pairwise(names)
    ]
    body = "".join([*links, *joints, *attached][::order])
    return f'<sdf version="1.9"><model name="m">{body}</model></sdf>'


@pytest.mark.parametrize("order", [1, -1])
def test_poses_of_sdf_may_be_relative_to_each_other_in_long_chains(order):
    robot = Robot.from_sdf(sdf_chain(3000, order, frames=3000), check=False)
    assert len(robot.links) == 3001
    q = robot.neutral()
    assert robot.pose(q, "l2999")[0, 3] == pytest.approx(300)
    assert robot.pose(q, "f2999")[0, 3] == pytest.approx(0.2 + 300)


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("has_frames", [False, True])
def test_the_work_for_a_chain_of_sdf_grows_as_its_length(order, has_frames):
    def calls(count):
        counted = 0

        def count_calls(_, event, __):
            nonlocal counted
            counted += event == "call"

        text = sdf_chain(count, order, count * has_frames)
        from_sdf(text)  # what happens once
        sys.setprofile(count_calls)
        try:
            from_sdf(text)
        finally:
            sys.setprofile(None)
        return counted

    assert calls(400) < 2.2 * calls(200)


@pytest.mark.parametrize("count", [5_000, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("suffix", with_slow([".toml", ".json"], ".toml"))
def test_a_large_robot_in_the_own_format_loads_as_it_was_saved(tmp_path, count, suffix):
    robot = Robot.from_urdf(big(count))
    robot.save(tmp_path / f"big{suffix}")
    assert cr.load(tmp_path / f"big{suffix}") == robot


PADS = ("visuals", "comments", "names")


@pytest.mark.parametrize(
    ("pad", "megabytes"), with_slow(product(PADS, [5, 100]), ("visuals", 5), *product(PADS, [100]))
)
def test_a_padded_file_loads_as_without_its_padding(tmp_path, megabytes, pad):
    filling = {
        "visuals": "<visual><geometry><box size='1 1 1'/></geometry></visual>\n",
        "comments": "<!-- nothing to see here -->\n",
        "names": f"<visual name='{'x' * 1_000_000}'/>",
    }[pad]
    padded = big(11, pad=filling * (megabytes * 100_000 // len(filling) + 1))
    assert len(padded) > megabytes * 1_000_000
    (tmp_path / "padded.urdf").write_text(padded)
    loaded = cr.load(tmp_path / "padded.urdf", check=False).model
    assert without_annotations(loaded) == without_annotations(Robot.from_urdf(big(11)).model)


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path):
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    refused(lambda: cr.load(path), FormatError, r"huge.urdf' has 300 MiB; files over 256 MiB are not read")


def test_an_endless_attribute_is_quoted_in_part(tmp_path):
    spoilt = URDF.replace('xyz="0 0 0"', f'xyz="{"0 " * 100_000}"', 1)
    message = refused(lambda: Robot.from_urdf(spoilt), FormatError, r"should be 3 numbers, got 100000")
    assert len(message) < 300
