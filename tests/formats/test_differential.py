"""Random robot files, read here and by the peers that also read them: MJCF by MuJoCo, URDF by Pinocchio and MuJoCo.

The files are ugly: coincident frames, turned origins, branches, chains of followers, links without mass, nested default
classes, compiler options, several joints on a body. Half of the MJCF files are spoiled as well: what MuJoCo refuses is
refused here, and nothing else. A normal run reads a hundred of each; CHAINRULE_DIFFERENTIAL_FILES=5000 reads as many.
"""

from __future__ import annotations

import os
import random
import re
import warnings
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np
import pytest
from lxml import etree
from peers import MuJoCo, Pinocchio

import chainrule as cr
from chainrule.core.derived import has_moving_mass
from chainrule.errors import ChainruleError

from .test_mjcf import compare

FILES = int(os.environ.get("CHAINRULE_DIFFERENTIAL_FILES", "100"))
FIRST = int(os.environ.get("CHAINRULE_DIFFERENTIAL_FIRST", "0"))
CHUNK = 50
"""Files that one test reads, so that the tests can be spread over processes."""
CHUNKS = [range(start, min(start + CHUNK, FIRST + FILES)) for start in range(FIRST, FIRST + FILES, CHUNK)]

Random = random.Random


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo logs its warnings to a file in the working directory."""
    monkeypatch.chdir(tmp_path)


# --- random MJCF ---


def words(*numbers: float) -> str:
    return " ".join(f"{x:.6g}" for x in numbers)


def ugly(rng: Random, count: int, size: float = 1.0) -> str:
    """Numbers: zeros, ones, or any."""
    how = rng.randrange(4)
    if how == 0:
        return words(*[0.0] * count)
    if how == 1:
        return words(*(size * rng.choice((-1, 0, 1)) for _ in range(count)))
    return words(*(rng.uniform(-size, size) for _ in range(count)))


def turned(rng: Random, angle: float) -> str:
    """An orientation, in one of MJCF's five ways or none; `angle` is half a turn in the file's unit."""
    x, y, z = (rng.gauss(0, 1) for _ in range(3))
    return rng.choice(
        [
            "", "", f"quat='{words(rng.gauss(0, 1), x, y, z)}'", f"axisangle='{words(x, y, z, rng.uniform(-angle, angle))}'",
            f"euler='{words(*(rng.choice((-1, -0.5, 0, 0.5, rng.random())) * angle for _ in range(3)))}'",
            f"xyaxes='{words(x, y, z, *(rng.gauss(0, 1) for _ in range(3)))}'", f"zaxis='{words(x, y, z)}'",
            "zaxis='0 0 -1'", "quat='0 1 0 0'", "quat='2 0 0 0'",
        ]
    )  # fmt: skip


def placed(rng: Random, angle: float) -> str:
    pos = f"pos='{ugly(rng, 3, 0.5)}'" if rng.random() < 0.7 else ""
    return f"{pos} {turned(rng, angle)}"


class Mjcf:
    """A random MJCF text."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.angle = 180.0
        self.classes = ["main"]
        self.joints: list[str] = []
        self.count = 0

    def new_name(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def maybe(self, chance: float, text: str) -> str:
        return text if self.rng.random() < chance else ""

    def text(self) -> str:
        rng = self.rng
        radian = rng.random() < 0.4
        self.angle = np.pi if radian else 180.0
        compiler = (
            self.maybe(0.9 if radian else 0.1, f"angle='{'radian' if radian else 'degree'}'")
            + self.maybe(0.5, f" eulerseq='{''.join(rng.choice('xyzXYZ') for _ in range(3))}'")
            + self.maybe(0.2, f" inertiafromgeom='{rng.choice(('true', 'false', 'auto'))}'")
            + self.maybe(0.2, f" inertiagrouprange='0 {rng.randrange(5)}'")
            + self.maybe(0.4, " boundmass='0.02'") + self.maybe(0.4, " boundinertia='0.001'")
            + self.maybe(0.2, " balanceinertia='true'") + self.maybe(0.1, f" settotalmass='{rng.uniform(1, 9):.3g}'")
        )  # fmt: skip
        if radian and "angle" not in compiler:
            self.angle = 180.0
        flags = [f for f in ("gravity", "spring", "damper", "frictionloss", "limit", "equality") if rng.random() < 0.1]
        option = self.maybe(0.4, f"gravity='{ugly(rng, 3, 9)}'")
        flag = f"<flag {' '.join(f + '=' + repr('disable') for f in flags)}/>" if flags else ""
        default = self.defaults() if rng.random() < 0.7 else ""
        bodies = "".join(self.body(0, is_root=True) for _ in range(rng.randint(1, 2)))
        site = self.maybe(0.3, "<site name='origin'/>")
        return (
            f"<mujoco><compiler {compiler}/><option {option}>{flag}</option>{default}"
            f"<worldbody>{site}{bodies}</worldbody>"
            f"{self.actuators()}{self.equalities()}</mujoco>"
        )

    def defaults(self, depth: int = 0) -> str:
        rng = self.rng
        name = "" if depth == 0 else f"class='{self.new_name('c')}'"
        if depth:
            self.classes.append(name[7:-1])
        joint = self.maybe(0.6, f"<joint {self.joint_attributes(is_default=True)}/>")
        geom = self.maybe(0.6, f"<geom {self.geom_attributes(is_default=True)}/>")
        motor = self.maybe(0.2, "<motor gear='3'/>")
        inner = "".join(self.defaults(depth + 1) for _ in range(rng.randrange(3))) if depth < 2 else ""
        return f"<default {name}>{joint}{geom}{motor}{inner}</default>"

    def joint_attributes(self, *, is_default: bool = False, type_: str = "hinge") -> str:
        rng = self.rng
        low = rng.uniform(-0.5, 0.1) * self.angle
        scalar = type_ in ("hinge", "slide")
        return " ".join(
            [
                self.maybe(0.5, f"axis='{words(*(rng.gauss(0, 1) for _ in range(3)))}'"),
                self.maybe(0.4, f"pos='{ugly(rng, 3, 0.3)}'"),
                self.maybe(0.3, f"damping='{rng.uniform(0, 2):.3g}'"),
                self.maybe(0.3, f"armature='{rng.uniform(0, 0.5):.3g}'"),
                self.maybe(0.3, f"frictionloss='{rng.uniform(0, 0.5):.3g}'"),
                self.maybe(0.3, f"range='{words(low, low + 0.4 * self.angle)}'") if scalar and not is_default else "",
                self.maybe(0.2, f"ref='{rng.uniform(-0.3, 0.3) * self.angle:.4g}'") if scalar and not is_default else "",
                self.maybe(0.2, f"stiffness='{rng.uniform(0, 9):.3g}' springref='{ugly(rng, 1, 0.3)}'")
                if scalar and not is_default else "",
            ]
        )  # fmt: skip

    def geom_attributes(self, *, is_default: bool = False) -> str:
        rng = self.rng
        type_ = rng.choice(("sphere", "capsule", "cylinder", "box", "ellipsoid"))
        size = words(*(rng.uniform(0.02, 0.2) for _ in range(3)))
        segment = not is_default and type_ != "sphere" and rng.random() < 0.3
        where = f"fromto='{words(*(rng.uniform(-0.5, 0.5) for _ in range(6)))}'" if segment else placed(rng, self.angle)
        if is_default:
            where = self.maybe(0.3, turned(rng, self.angle))
        return " ".join(
            [
                f"type='{type_}' size='{size}'", where,
                self.maybe(0.2, f"density='{rng.choice((0, 500, 2000))}'"),
                self.maybe(0.3 if not is_default else 0, f"mass='{rng.choice((0, 0.1, 3))}'"),
                self.maybe(0.2, f"group='{rng.randrange(5)}'"),
            ]
        )  # fmt: skip

    def body(self, depth: int, *, is_root: bool = False) -> str:
        rng = self.rng
        name = self.maybe(0.8, f"name='{self.new_name('b')}'")
        style = self.maybe(0.3, f"childclass='{rng.choice(self.classes)}'")
        inside = self.joints_of_body(is_root)
        if rng.random() < 0.8:
            inside += self.inertial()
        for _ in range(rng.choice((0, 1, 1, 2))):
            own = self.maybe(0.2, f"class='{rng.choice(self.classes)}'")
            geom = f"<geom {own} {self.geom_attributes()}/>"
            inside += f"<frame {placed(rng, self.angle)}>{geom}</frame>" if rng.random() < 0.2 else geom
        segment = f"type='capsule' size='.1' fromto='{words(*(rng.uniform(-0.5, 0.5) for _ in range(6)))}'"
        where = segment if rng.random() < 0.3 else placed(rng, self.angle)
        inside += self.maybe(0.3, f"<site name='{self.new_name('s')}' {where}/>")
        children = "".join(self.body(depth + 1) for _ in range(rng.choice((0, 1, 1, 2)))) if depth < 3 else ""
        if children and rng.random() < 0.2:
            children = f"<frame {placed(rng, self.angle)}>{children}</frame>"
        return f"<body {name} {style} {placed(rng, self.angle)}>{inside}{children}</body>"

    def joints_of_body(self, is_root: bool) -> str:
        rng = self.rng
        if is_root and rng.random() < 0.2:
            return rng.choice(("<freejoint/>", "<joint type='free' damping='0' armature='0' frictionloss='0'/>"))
        found = ""
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            type_ = rng.choice(("hinge", "hinge", "hinge", "slide", "ball"))
            name = self.new_name("j")
            if type_ != "ball":
                self.joints.append(name)
            own = self.maybe(0.2, f"class='{rng.choice(self.classes)}'")
            extra = "range='0 0'" if type_ == "ball" else ""
            found += f"<joint name='{name}' type='{type_}' {own} {self.joint_attributes(type_=type_)} {extra}/>"
            if type_ == "ball" and rng.random() < 0.95:
                break
        return found

    def inertial(self) -> str:
        rng = self.rng
        a, b = rng.uniform(0.05, 0.1), rng.uniform(0.05, 0.1)
        mass = rng.choice((0.5, 2.0, rng.uniform(0.1, 5)))
        if rng.random() < 0.4:
            full = words(a, b, 0.7 * (a + b), 0.1 * min(a, b), 0, -0.1 * min(a, b))
            return f"<inertial pos='{ugly(rng, 3, 0.3)}' mass='{mass:.4g}' fullinertia='{full}'/>"
        return (
            f"<inertial pos='{ugly(rng, 3, 0.3)}' {turned(rng, self.angle)} mass='{mass:.4g}' "
            f"diaginertia='{words(a, b, 0.8 * (a + b))}'/>"
        )

    def actuators(self) -> str:
        if not self.joints or self.rng.random() < 0.6:
            return ""
        joint = self.rng.choice(self.joints)
        gear = self.maybe(0.5, "gear='2'")
        return f"<actuator><motor joint='{joint}' armature='0.2' damping='0.1' {gear}/></actuator>"

    def equalities(self) -> str:
        """A chain of joints that follow each other."""
        rng = self.rng
        if len(self.joints) < 2 or rng.random() < 0.7:
            return ""
        chain = rng.sample(self.joints, rng.randint(2, min(3, len(self.joints))))
        pairs = pairwise(chain)
        return (
            "<equality>"
            + "".join(f"<joint joint1='{a}' joint2='{b}' polycoef='{ugly(rng, 2)} 0 0 0'/>" for a, b in pairs)
            + "</equality>"
        )


def spoil(text: str, rng: Random) -> str:
    """The text with one thing wrong, as people make mistakes."""
    root = etree.fromstring(text)
    nodes = [node for node in root.iter() if node is not root]
    node = rng.choice(nodes)
    how = rng.randrange(6)
    if how == 0 and node.attrib:
        key = rng.choice([*node.attrib])
        place = rng.randrange(len(key))
        value = node.attrib.pop(key)
        node.set((key[:place] + rng.choice(("", "x", key[place] * 2)) + key[place + 1 :]) or "x", value)
    elif how == 1:
        place = rng.randrange(len(node.tag))
        node.tag = (node.tag[:place] + node.tag[place + 1 :]) or "x"
    elif how == 2 and node.attrib:
        node.set(
            rng.choice([*node.attrib]), rng.choice(("", "x", "1 2 3 4 5 6 7 8 9 10 11", "1,2", "0", "1e400", "-1"))
        )
    elif how == 3:
        _move(rng.choice(nodes), node)
    elif how == 4:
        other = rng.choice(nodes)
        for key, value in other.attrib.items():
            if key not in node.attrib:
                node.set(key, value)
    else:
        _move(node.getparent(), etree.fromstring(etree.tostring(node)))
    return etree.tostring(root, encoding="unicode")


def _move(parent: etree._Element, node: etree._Element) -> None:
    """Put an element into another, unless it is around it."""
    if node not in parent.iterancestors() and node is not parent:
        parent.append(node)


def refusal(read: Callable[[], object]) -> str:
    """The message with which a text is refused, or nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read()
    except (ChainruleError, ValueError) as error:
        return str(error) or type(error).__name__
    return ""


NO_BODY = re.compile(r"mass and inertia of moving bodies|inertia must satisfy|mass-inertia|larger than mjMINVAL")
"""What MuJoCo refuses in a URDF file, and is read here: bodies that cannot exist."""


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: str(seeds.start))
def test_mjcf_means_what_it_means_to_mujoco(seeds: range) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        text = Mjcf(Random(seed)).text()
        ours = refusal(lambda text=text: cr.formats.mjcf.from_mjcf(text))
        theirs = refusal(lambda text=text: mujoco.MjModel.from_xml_string(text))
        assert bool(ours) == bool(theirs), f"seed {seed}: MuJoCo: {theirs or 'read'}; here: {ours or 'read'}\n{text}"
        counts["both" if not ours and not theirs else "refused"] += 1
        if not ours and not theirs:
            try:
                compare(text, seed)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}\n{text}\n{error}") from error
    assert counts["both"] > len(seeds) / 3


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: str(seeds.start))
def test_spoiled_mjcf_is_refused_where_mujoco_refuses_it(seeds: range) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(seed + 1_000_000)
        text = spoil(Mjcf(rng).text(), rng)
        ours = refusal(lambda text=text: cr.formats.mjcf.from_mjcf(text))
        theirs = refusal(lambda text=text: mujoco.MjModel.from_xml_string(text))
        assert bool(ours) == bool(theirs), f"seed {seed}: MuJoCo: {theirs or 'read'}; here: {ours or 'read'}\n{text}"
        counts["refused" if theirs else "read"] += 1
        if not ours and not theirs:
            try:
                compare(text, seed)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}\n{text}\n{error}") from error
    assert counts["refused"] > len(seeds) / 5


# --- random URDF ---


def origin(rng: Random) -> str:
    quarters = (0.0, np.pi / 2, -np.pi / 2, np.pi)
    rpy = [rng.choice(quarters) if rng.random() < 0.5 else rng.uniform(-3, 3) for _ in range(3)]
    turn = rng.choice(("", f"rpy='{' '.join(map(repr, rpy))}'"))
    return rng.choice(("", f"<origin xyz='{ugly(rng, 3, 0.5)}' {turn}/>"))


def urdf_link(rng: Random, name: str) -> str:
    how = rng.randrange(6)
    if how == 0:
        return f"<link name='{name}'/>"
    a, b = rng.uniform(0.05, 0.1), rng.uniform(0.05, 0.1)
    mass = rng.choice((0.5, 2.0, rng.uniform(0.1, 5)))
    off = 0.1 * min(a, b)
    matrix = f"ixx='{a!r}' iyy='{b!r}' izz='{0.7 * (a + b)!r}' ixy='{off!r}' ixz='0' iyz='{-off!r}'"
    if how == 1:
        matrix = "ixx='0' iyy='0' izz='0' ixy='0' ixz='0' iyz='0'"
    return f"<link name='{name}'><inertial>{origin(rng)}<mass value='{mass!r}'/><inertia {matrix}/></inertial></link>"


def random_urdf(rng: Random) -> str:
    count = rng.randint(1, 6)
    parts = [urdf_link(rng, "l0")]
    moving: list[str] = []
    for i in range(1, count + 1):
        type_ = rng.choice(("revolute", "continuous", "prismatic", "fixed", "revolute"))
        parent = f"l{rng.randrange(i)}"
        axis = rng.choice(("", "<axis xyz='0 0 1'/>", f"<axis xyz='{words(*(rng.gauss(0, 1) for _ in range(3)))}'/>"))
        limit = "<limit lower='-1' upper='2' effort='5' velocity='3'/>" if type_ in ("revolute", "prismatic") else ""
        mimic = ""
        if moving and type_ in ("revolute", "prismatic") and rng.random() < 0.3:
            mimic = f"<mimic joint='{rng.choice(moving)}' multiplier='{rng.uniform(-2, 2)!r}' offset='0.1'/>"
        dynamics = "<dynamics damping='0' friction='0'/>" if rng.random() < 0.3 else ""
        if type_ != "fixed" and not mimic:
            moving.append(f"j{i}")
        parts.append(urdf_link(rng, f"l{i}"))
        parts.append(
            f"<joint name='j{i}' type='{type_}'>{origin(rng)}<parent link='{parent}'/><child link='l{i}'/>{axis}{limit}"
            f"{mimic}{dynamics}</joint>"
        )
    rng.shuffle(parts)
    return f"<robot name='r'>{''.join(parts)}</robot>"


@pytest.mark.parametrize("seeds", CHUNKS, ids=lambda seeds: str(seeds.start))
def test_urdf_means_what_it_means_to_pinocchio_and_mujoco(seeds: range) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds:
        text = random_urdf(Random(seed + 2_000_000))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = cr.Robot.from_urdf(text, check=False).reference
        options = "<mujoco><compiler fusestatic='false'/></mujoco></robot>"
        texts = {Pinocchio: text, MuJoCo: text.replace("</robot>", options)}
        rng = np.random.default_rng(seed)
        for kind, given in texts.items():
            name = kind.__name__
            refused = refusal(lambda kind=kind, robot=robot, given=given: kind(robot, given))
            if refused:  # MuJoCo reads no moving body without mass
                assert kind is MuJoCo, f"seed {seed}: {refused}\n{text}"
                assert NO_BODY.search(refused), f"seed {seed}: {refused}\n{text}"
                continue
            peer = kind(robot, given)
            counts[name] += 1
            q, qd, qdd = (rng.uniform(-1, 1, robot.nv) for _ in range(3))
            label = f"seed {seed}, {name}\n{text}"
            poses = robot.poses(q)
            for link, T in peer.poses(q).items():
                np.testing.assert_allclose(poses[robot.link_names.index(link)], T, atol=1e-9, err_msg=label)
            if robot.nv and has_moving_mass(robot):
                M = peer.mass_matrix(q)
                np.testing.assert_allclose(robot.mass_matrix(q), M, atol=1e-9 * (1 + abs(M).max()), err_msg=label)
                tau = peer.inverse_dynamics(q, qd, qdd)
                np.testing.assert_allclose(
                    robot.inverse_dynamics(q, qd, qdd), tau, atol=1e-9 * (1 + abs(tau).max()), err_msg=label
                )
    assert counts["Pinocchio"] == len(seeds)
    assert counts["MuJoCo"] > len(seeds) / 10
