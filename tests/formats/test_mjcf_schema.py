"""MJCF that MuJoCo refuses is refused here: elements, attributes, values and names."""

from __future__ import annotations

import math
import re
import warnings
from typing import NamedTuple

import mujoco
import numpy as np
import pytest

import chainrule as cr
from chainrule.formats.mjcf.schema import SCHEMA, Element
from chainrule.formats.mjcf.values import FORMS, SECTIONS, Words

BODY = "<body name='b'><joint name='j'/><geom name='g' size='.1'/></body>"
OLDER = {"convexhull", "apirate"}
"""Attributes of older versions of MuJoCo."""


def world(text: str, rest: str = "") -> str:
    return f"<mujoco><worldbody>{text}{BODY}<site name='s'/></worldbody>{rest}</mujoco>"


REFUSED = {
    "body inside a geom": world("<body><joint/><geom size='.1'><body name='lost'/></geom></body>"),
    "geom inside a joint": world("<body><joint><geom size='5'/></joint><geom size='.1'/></body>"),
    "joint inside an inertial": world("<body><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'><joint/></inertial></body>"),
    "option in asset": world("", "<asset><option gravity='0 0 0'/></asset>"),
    "misspelt default": world("", "<default><jiont damping='5'/></default>"),
    "misspelt attribute of a default": world("", "<default><geom densiti='5'/></default>"),
    "default twice": world("", "<default><geom density='5'/><geom density='6'/></default>"),
    "class on a default": world("", "<default><geom class='main'/></default>"),
    "misspelt actuator": world("", "<actuator><moter joint='j' armature='1'/></actuator>"),
    "misspelt attribute of an actuator": world("", "<actuator><motor joint='j' armatur='1'/></actuator>"),
    "misspelt equality": world("", "<equality><weeld body1='b'/></equality>"),
    "misspelt attribute of an equality": world("", "<equality><weld body1='b' relpos='0 0 0 1 0 0 0'/></equality>"),
    "misspelt flag": world("", "<option><flag gravitty='disable'/></option>"),
    "misspelt option": world("", "<option gravitty='0 0 0'/>"),
    "two flags": world("", "<option><flag/><flag/></option>"),
    "misspelt sensor": world("", "<sensor><jointposs joint='j'/></sensor>"),
    "misspelt attribute of a sensor": world("", "<sensor><jointpos jiont='j'/></sensor>"),
    "misspelt visual": world("", "<visual><headlite/></visual>"),
    "attribute of the root": world("").replace("<mujoco>", "<mujoco modle='x'>"),
    "default of another name": world("", "<default class='x'/>"),
    "nested default without a name": world("", "<default><default/></default>"),
    "joint of the world": world("<joint/>"),
    "flag in words": world("", "<option><flag gravity='off'/></option>"),
    "integrator": world("", "<option integrator='rk4'/>"),
    "letters for numbers": world("<geom size='.1' friction='x'/>"),
    "comma": world("<geom size='.1' pos='1,2,3'/>"),
    "fraction for a whole number": world("<geom size='.1' contype='1.5'/>"),
    "too many": world("<geom size='1 2 3 4'/>"),
    "too few": world("<camera pos='1 2'/>"),
    "too large": world("<geom size='.1' solmix='1e400'/>"),
    "actuator of an unknown joint": world("", "<actuator><motor joint='k'/></actuator>"),
    "sensor of an unknown joint": world("", "<sensor><jointpos joint='k'/></sensor>"),
    "exclude of an unknown body": world("", "<contact><exclude body1='b' body2='k'/></contact>"),
    "unknown joint in an inactive equality": world("", "<equality><joint joint1='k' active='false'/></equality>"),
    "unknown material": world("<geom size='.1' material='k'/>"),
    "unknown mesh of a massless geom": world("<geom type='mesh' mesh='k' mass='0'/>"),
    "geom named twice": world("<geom name='g' size='.1'/>"),
    "camera named twice": world("<camera name='c'/><camera name='c'/>"),
    "actuators named alike": world("", "<actuator><motor name='a' joint='j'/><position name='a' joint='j'/></actuator>"),
    "elements in an include": "<mujoco><include file='x.xml'><option/></include></mujoco>",
    "a weightless shape of size zero": world("<body><inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/><geom size='0'/></body>"),
    "a weightless shape placed twice": world("<geom type='capsule' size='.1' fromto='0 0 0 0 0 1' pos='1 0 0'/>"),
    "a site placed twice": world("<site type='capsule' fromto='0 0 0 0 0 1' pos='1 0 0'/>"),
    "a site of size zero": world("<site size='0'/>"),
    "a sphere from here to there": world("<site size='.1' fromto='0 0 0 0 0 1'/>"),
    "seven freedoms": world("<body>" + "<joint/>" * 7 + "<geom size='.1'/></body>"),
    "a hinge after a ball": world("<body><joint type='ball'/><joint/><geom size='.1'/></body>"),
    "two orientations in a default": world("", "<default><geom quat='1 0 0 0' euler='0 0 0'/></default>"),
    "two orientations of a camera": world("<camera quat='1 0 0 0' euler='0 0 0'/>"),
    "an empty word": world("", "<default><geom type=''/></default>"),
    "an empty class": world("<body childclass=''><geom size='.1'/></body>"),
    "an actuator of nothing": world("", "<actuator><motor joint=''/></actuator>"),
    "axis too short": world("<body><joint axis='1e-9 0 0'/><geom size='.1'/></body>"),
    "axisangle too short": world("<body axisangle='1e-9 0 0 30'><geom size='.1'/></body>"),
}  # fmt: skip

ACCEPTED = {
    "a section of everything": world(
        "<camera name='c' pos='0 0 1' target='b'/><light dir='0 0 -1'/><frame name='f' euler='0 0 9'><site/></frame>",
        "<option timestep='0.01' integrator='RK4'><flag contact='disable'/></option><size njmax='100'/>"
        "<statistic center='0 0 1'/><visual><global fovy='40'/><rgba joint='1 0 0 1'/></visual>"
        "<default><geom rgba='1 0 0 1'/><default class='k'><motor gear='2'/><position kp='3'/></default></default>"
        "<asset><texture name='t' builtin='flat' type='2d' width='8' height='8'/><material name='m' texture='t'/></asset>"
        "<contact><exclude body1='b' body2='world'/></contact><custom><numeric name='n' data='1 2'/></custom>"
        "<actuator><motor joint='j' class='k'/><position joint='j' kp='1'/><general joint='j' gainprm='1 2'/></actuator>"
        "<sensor><jointpos joint='j'/><framepos objtype='body' objname='b'/><clock/></sensor>"
        "<keyframe><key name='k' qpos='0.1'/></keyframe>",
    ),
    "a place of zeros beside another": world(
        "<geom type='capsule' size='.1' fromto='0 0 0 0 0 1' pos='0 0 0'/><site type='box' size='.1'/>"
    ),
    "a free joint with limits of its class": (
        "<mujoco><default><joint limited='true'/></default><worldbody><body><joint type='free'/><geom size='.1'/>"
        "<body><joint range='0 1'/><geom size='.1'/></body></body></worldbody></mujoco>"
    ),
    "sections that come twice": world("", "<option gravity='0 0 -1'/><option gravity='0 0 -2'/><worldbody/>"),
}


def mujoco_refuses(xml: str) -> bool:
    try:
        mujoco.MjModel.from_xml_string(xml)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize("what", REFUSED)
def test_what_mujoco_refuses_is_refused(what: str) -> None:
    assert mujoco_refuses(REFUSED[what])
    with pytest.raises(cr.FormatError):
        cr.Robot.from_mjcf(REFUSED[what])


@pytest.mark.parametrize("what", ACCEPTED)
def test_what_mujoco_reads_is_read(what: str) -> None:
    assert not mujoco_refuses(ACCEPTED[what])
    assert cr.Robot.from_mjcf(ACCEPTED[what]).nv == mujoco.MjModel.from_xml_string(ACCEPTED[what]).nv


class Printed(NamedTuple):
    """An element of the schema that MuJoCo prints."""

    tag: str
    times: str
    attributes: set[str]
    children: dict[str, Printed]


def printed_schema() -> Printed:
    path: list[Printed] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        found = re.match(r"^( *)(\S+) \((.)\)\s*(.*)$", line)
        if not found:
            path[-1].attributes.update(line.split())
            continue
        depth, tag = len(found[1]) // 3, found[2].replace("(world)body", "body")
        element = Printed(tag, found[3], set(found[4].split()), {})
        del path[depth:]
        if path:
            path[-1].children[tag] = element
        path.append(element)
    return path[0]


def test_the_table_is_the_schema_of_mujoco() -> None:
    if not mujoco.__version__.startswith("4.0."):
        pytest.skip("the table is that of MuJoCo 4.0")
    waiting = [(printed_schema(), SCHEMA)]
    count = 0
    while waiting:
        theirs, ours = waiting.pop()
        assert theirs.attributes == ours.attributes - OLDER, ours.tag
        assert (theirs.times == "?") == ours.is_unique, ours.tag
        extra = {"mujoco": {"worldbody"}, "body": {"body", "frame", "replicate"}, "default": {"default"}}
        children = set(theirs.children) - ({"body"} if ours.tag == "mujoco" else set())
        assert children == set(ours.children) - extra.get(ours.tag, set()), ours.tag
        for tag, child in theirs.children.items():
            inside = ours.children["worldbody"] if ours.tag == "mujoco" and tag == "body" else ours
            waiting.append((child, inside.children[tag]))
        count += 1
    assert count > 150


NEEDED = {
    "inertial": {"pos": "0 0 0", "mass": "1", "diaginertia": "1 1 1"}, "pulley": {"divisor": "1"},
    "connect": {"body1": "b", "anchor": "0 0 0"}, "weld": {"body1": "b"}, "equality/joint": {"joint1": "j"},
    "equality/tendon": {"tendon1": "t"}, "fixed/joint": {"joint": "j", "coef": "1"},
    "contact/pair": {"geom1": "g", "geom2": "g"}, "equality/flex": {"flex": "f"},
    "equality/flexstrain": {"flex": "f", "cell": "0 0 0"},
    "actuator/dcmotor": {"motorconst": "1", "resistance": "1", "joint": "j"},
}  # fmt: skip
"""What elements must have before MuJoCo looks at the rest."""
UNREADABLE = (
    "bad format",
    "too much data",
    "enough data",
    "invalid keyword",
    "too large in",
    "problem reading",
    "invalid",
)


def message(path: tuple[str, ...], attribute: str, value: str) -> str:
    """The error of MuJoCo for one attribute of an element."""
    needed = NEEDED.get("/".join(path[-2:])) or ({} if path[0] == "default" else NEEDED.get(path[-1], {}))
    attributes = {**needed, attribute: value}
    text = f"<{path[-1]} {' '.join(f'{k}={v!r}' for k, v in attributes.items())}/>"
    for tag in reversed(path[:-1]):
        text = f"<{tag}>{text}</{tag}>"
    try:
        mujoco.MjModel.from_xml_string(f"<mujoco>{text}</mujoco>")
    except ValueError as error:
        return str(error)
    return ""


def elements() -> dict[tuple[str, ...], Element]:
    """Elements whose values are checked, by their path, each once."""
    waiting = [((tag,), SCHEMA.children[tag]) for tag in SECTIONS if tag != "worldbody"]
    waiting.append((("worldbody", "body"), SCHEMA.children["worldbody"].children["body"]))
    found = {}
    while waiting:
        path, element = waiting.pop()
        if element.tag in ("frame", "replicate", "flexcomp", "attach", "plugin", "material", "texture", "mesh"):
            continue
        found[path] = element
        waiting += [((*path, tag), child) for tag, child in element.children.items() if tag not in path]
    return found


@pytest.mark.parametrize("path", elements(), ids="/".join)
def test_values_are_those_that_mujoco_reads(path: tuple[str, ...]) -> None:
    for attribute in sorted(elements()[path].attributes):
        form = FORMS.get(f"{path[-1]}.{attribute}") or FORMS.get(attribute)
        if form is None:
            continue
        if isinstance(form, Words):
            good, bad = [*form.choices], ["qqq"]
        else:
            many = int(form.most) if math.isfinite(form.most) else form.least
            good = [" ".join(["1"] * form.least), " ".join(["1"] * many)]
            bad = ["qqq", "1e400", *(["1 " * (many + 1)] if math.isfinite(form.most) else [])]
            bad += ["1 " * (form.least - 1)] * (form.least > 1) + ["1.5"] * form.are_whole
        for value in good:
            assert form.objection(value) is None
            assert not any(words in message(path, attribute, value) for words in UNREADABLE[:-1]), (attribute, value)
        for value in bad:
            assert form.objection(value)
            assert any(words in message(path, attribute, value) for words in UNREADABLE), (attribute, value)


@pytest.mark.parametrize(
    "body",
    [
        "<joint axis='0 1 0'/>", "<joint axis='0 1 0'/><site pos='1 1 1'/>",
        "<joint axis='0 1 0'/><geom size='.1' mass='0' pos='1 1 1'/>",
        "<joint axis='0 1 0'/><geom size='.1' group='4' pos='1 1 1'/>",
        "<joint axis='0 1 0'/><geom size='.1' mass='.001' pos='1 1 1'/>",
        "<joint axis='0 1 0'/><inertial pos='1 1 1' mass='0' diaginertia='0 0 0'/>",
    ],
)  # fmt: skip
@pytest.mark.parametrize("frame", ["", " pos='1 2 3' euler='10 20 30'"])
def test_the_least_mass_lies_where_mujoco_puts_it(body: str, frame: str) -> None:
    xml = (
        "<mujoco><compiler boundmass='.7' boundinertia='.15' inertiagrouprange='0 3'/><worldbody>"
        f"<frame{frame}><body pos='.1 .2 .3' euler='40 50 60'>{body}</body></frame></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    column = np.zeros(1)
    mujoco.mj_mulM(model, data, column, np.ones(1))
    assert cr.Robot.from_mjcf(xml).mass_matrix([0.0])[0, 0] == pytest.approx(column[0], rel=1e-12)


@pytest.mark.parametrize(
    ("attribute", "ordinary"),
    [
        ("quat='1e200 1e200 0 0'", "quat='1 1 0 0'"), ("axisangle='1e200 0 0 30'", "axisangle='1 0 0 30'"),
        ("zaxis='1e200 1e200 0'", "zaxis='1 1 0'"), ("quat='0 1e308 1e308 1e308'", "quat='0 1 1 1'"),
        ("xyaxes='1e200 0 0 1e250 1e300 0'", "xyaxes='1 0 0 0 1 0'"),
    ],
)  # fmt: skip
def test_huge_directions_are_directions(attribute: str, ordinary: str) -> None:
    poses = []
    for text in (attribute, ordinary):
        xml = f"<mujoco><worldbody><body {text}><joint/><geom size='.1'/></body></worldbody></mujoco>"
        poses.append(cr.Robot.from_mjcf(xml).pose([0.0]))
    R = poses[0][:3, :3]
    assert abs(R @ R.T - np.eye(3)).max() < 1e-14
    assert abs(poses[0] - poses[1]).max() < 1e-15


def test_a_misspelling_is_answered_with_the_nearest_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(cr.FormatError, match=r"<moter>: .*in <actuator>.*did you mean 'motor'"):
            cr.Robot.from_mjcf(REFUSED["misspelt actuator"])
        with pytest.raises(cr.FormatError, match=r"<flag>: .*'gravitty'.*did you mean 'gravity'"):
            cr.Robot.from_mjcf(REFUSED["misspelt flag"])


@pytest.mark.parametrize(
    "place",
    [
        "fromto='0 0 0 0 0 -1'", "fromto='0 0 0 0 0 1'", "fromto='.4 0 0 .5 0 0'", "fromto='0 0 0 .3 .2 -1'",
        "fromto='1 0 0 1 1e-9 2'", "zaxis='0 0 -1'", "zaxis='1e-9 0 -1'", "zaxis='3e-7 0 -1'", "zaxis='0 1e-5 1'",
    ],
)  # fmt: skip
@pytest.mark.parametrize("type_", ["capsule", "box"])
def test_a_site_has_the_axes_that_mujoco_gives_it(place: str, type_: str) -> None:
    xml = world(f"<site name='x' type='{type_}' size='.1 .2 .3' {place}/>")
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    T = cr.Robot.from_mjcf(xml).reference.pose([0.0], "x")
    assert abs(T[:3, 3] - data.site("x").xpos).max() < 1e-12
    assert abs(T[:3, :3] - data.site("x").xmat.reshape(3, 3)).max() < 1e-6
