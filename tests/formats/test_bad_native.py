"""A bad document in chainrule's own format is refused by its place."""

import copy
import json
import math

import numpy as np
import pytest
from refusals import refused

import chainrule as cr
from chainrule import FormatError, ModelError, Robot, UnknownNameError
from chainrule.model import Joint, Link, Model, Moved, Screw
from chainrule.spatial import Rotation, Transform, Vector

from .samples import DOCUMENT

pytestmark = [pytest.mark.interpreted, pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")]

NAN, INF = math.nan, math.inf


def places(value, place=()):
    """Every place in a document, outermost first."""
    if place:
        yield place
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*place, key))


def put(place, value):
    document = copy.deepcopy(DOCUMENT)
    inner = document
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return document


LIMITS = dict.fromkeys(("lower", "upper", "velocity", "effort"), (INF, -INF))  # the wrong sign is warned about
FITTING = {"notes": (["x"], []), "dof": ([],), "origin": ({},), "offset": ({},)}  # what may stand there after all


@pytest.mark.parametrize(
    "value",
    [None, True, [1, 2], ["x"], {"a": 1}, [[0]], [], NAN, INF, -INF, 10**400, [NAN] * 3, [True] * 3, "", {}],
    ids=str,
)
def test_a_value_of_the_wrong_type_is_refused_wherever_it_stands(value):
    assert cr.load(json.dumps(DOCUMENT)).nv == 4
    for place in places(DOCUMENT):
        if value in LIMITS.get(place[-1], ()) or value in FITTING.get(place[-1], ()) or (place[-2:-1] == ("notes",)):
            continue
        if isinstance(value, dict) and place[-2:-1] == ("dof",) and not value:
            continue
        text = json.dumps(put(place, value))
        refused(lambda text=text: cr.load(text), cr.ChainruleError, r"the given text|robot 'r'")


def test_an_unknown_key_is_refused_wherever_it_stands():
    tables = [place for place in places(DOCUMENT) if isinstance(_at(place), dict)]
    assert len(tables) == 16
    for place in [(), *tables]:
        refused(
            lambda place=place: cr.load(json.dumps(put((*place, "massa"), 1))), UnknownNameError,
            r"the given text.*no key named 'massa'; (did you mean|there are)",
        )  # fmt: skip


def _at(place):
    inner = DOCUMENT
    for key in place:
        inner = inner[key]
    return inner


JOINT = {"name": "s", "parent": "c", "child": "d"}
NATIVE = [
    ("format", put(("format",), "chainrule 2"), FormatError, r"should say format = 'chainrule 1', and says 'chainrule 2'"),
    ("end-effector", put(("end_effector",), "tp"), UnknownNameError, r"'tp'; did you mean 'tip'"),
    ("end-effectors", put(("end_effector",), ["tip"]), FormatError, r"needs end_effector = a string, got \['tip'\]"),
    ("mass", put(("link", 1, "mass"), "1"), FormatError, r"link 'a': needs mass = a number, got '1'"),
    ("com of two", put(("link", 1, "com"), [0, 0]), FormatError, r"link 'a': needs com = 3 numbers in brackets"),
    ("com without mass", put(("link", 1), {"name": "a", "com": [0, 0, 1]}), FormatError, r"link 'a': needs mass = a number, got None"),
    ("huge", put(("link", 1, "mass"), 10**400), FormatError, r"link 'a': needs mass = a number, got 1000.{0,60}$"),
    ("type", put(("joint", 0, "type"), "revolut"), UnknownNameError, r"no joint type named 'revolut'; did you mean 'revolute'"),
    ("mirror", put(("joint", 1, "offset", "rotation", 2), [0, 0, -1]), FormatError, r"not a rotation matrix.*right-handed"),
    ("stretch", put(("joint", 1, "offset", "rotation", 2), [0, 0, 2]), FormatError, r"not a rotation matrix: it is off by 3"),
    ("rotation nan", put(("joint", 1, "offset", "rotation", 2), [0, 0, NAN]), FormatError, r"finite numbers"),
    ("rpy and rotation", put(("joint", 1, "offset", "rpy"), [0, 0, 0]), FormatError, r"both rpy and rotation; keep one"),
    ("mimic nan", put(("joint", 1, "mimic", "multiplier"), NAN), ModelError, r"joint 'k': multiplier and offset of mimic must be"),
    ("zero axis", put(("joint", 0, "axis"), [0, 0, 0]), FormatError, r"joint 'j': has a zero axis; .*\[0, 0, 1\]"),
    ("zero screw", put(("joint", 3, "screw"), [0] * 6), ModelError, r"joint 's' has a zero axis"),
    ("tiny screw", put(("joint", 3, "screw"), [0, 0, 1e-200, 0, 0, 1]), ModelError, r"joint 's' has a zero axis"),
    ("parallel axes", put(("joint", 2, "axis2"), [0, 0, -2]), ModelError, r"joint 'u' is universal, but .*parallel; turn one"),
    ("fixed along", put(("joint", 3), {**JOINT, "type": "fixed", "axis": [0, 0, 1]}), FormatError, r"axis is not for this fixed"),
    ("fixed screw", put(("joint", 3), {**JOINT, "type": "fixed", "screw": [0, 0, 1, 0, 0, 0]}), FormatError, r"screw is not for"),
    ("pitch", put(("joint", 0, "pitch"), 1), FormatError, r"pitch is not for this revolute joint, which takes axis; remove it"),
    ("axis and screw", put(("joint", 3, "axis"), [0, 0, 1]), FormatError, r"axis is not for this screw joint, which takes screw"),
    ("revolute that slides", put(("joint", 3), {**JOINT, "type": "revolute", "screw": [0, 0, 0, 0, 0, 1]}), FormatError,
     r"screw of a revolute joint must turn"),
    ("prismatic that turns", put(("joint", 3), {**JOINT, "type": "prismatic", "screw": [0, 0, 1, 0, 0, 1]}), FormatError,
     r"screw of a prismatic joint must not turn"),
    ("planar", put(("joint", 3), {**JOINT, "type": "planar", "axis": [0, 1, 1]}), ModelError, r"normal of a planar joint must be"),
    ("friction of many", put(("joint", 2, "viscous"), 1), FormatError, r"viscous belongs to one degree of freedom.*dof = \["),
    ("dof count", put(("joint", 2, "dof"), [{}]), ModelError, r"'u' \(universal\) has 2 degrees of freedom, but properties for 1"),
    ("dof count with a configuration",
     {**put(("joint", 2, "dof"), [{}]), "configuration": [{"name": "a", "positions": {"u.0": 0.1}}]},
     ModelError, r"'u' \(universal\) has 2 degrees of freedom, but properties for 1"),
    ("spring of a ball", put(("joint", 3), {**JOINT, "type": "spherical", "dof": [{"stiffness": 1}, {}, {}]}), ModelError,
     r"the spring of a ball joint has one stiffness for all directions"),
    ("surrogate", put(("name",), "\ud800"), ModelError, r"half a surrogate pair"),
]  # fmt: skip


@pytest.mark.parametrize(("document", "error", "pattern"), [n[1:] for n in NATIVE], ids=[n[0] for n in NATIVE])
def test_a_bad_document_is_refused_by_place(document, error, pattern):
    refused(lambda: cr.load(json.dumps(document)), error, pattern)


def test_a_joint_hidden_behind_an_offset_is_checked_too():
    def robot(axis, offset):
        kind = Moved(Screw(axis, Vector.zero(), "revolute"), Transform(Rotation.identity(), offset))
        model = Model.build("r", [Link("base"), Link("a", 1.0)], [Joint("j", "base", "a", kind)])
        return Robot(model).scale_masses(1.0)

    refused(lambda: robot(Vector(0.0, 0.0, NAN), Vector.zero()), ModelError, r"joint 'j': axis must be finite")
    refused(
        lambda: robot(Vector(0.0, 0.0, 1.0), Vector(0.0, NAN, 0.0)), ModelError, r"joint 'j': offset must be finite"
    )


def test_an_offset_of_a_fixed_joint_counts_in_every_function():
    fixed = {
        "name": "f",
        "type": "fixed",
        "parent": "c",
        "child": "d",
        "origin": {"xyz": [1, 0, 0]},
        "offset": {"xyz": [0, 2, 0]},
    }
    robot = cr.load(json.dumps(put(("joint", 3), fixed)))
    q = robot.neutral()
    np.testing.assert_allclose(robot.pose(q, "d"), robot.poses(q)[robot.link_names.index("d")])
