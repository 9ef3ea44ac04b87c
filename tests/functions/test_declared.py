"""What holds for every declared function: `out`, other values of parameters, both ways to evaluate, other units.

The functions come from their declarations, and their arguments from the names of their parameters.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from surface import functions

import chainrule as cr
from chainrule.core.at import takes_bound
from chainrule.errors import ModelError

ARM = (
    cr.load("planar_2r")
    .edit(joints={"*": {"effort": [60.0, 30.0], "viscous": 0.2}})
    .with_spring("base", "link2", (0, 0.5, 0), (0, 0.1, 0), stiffness=3.0)
)
BAR = cr.load("four_bar")
ROBOTS = {"arm": ARM, "loop": BAR}
VALUES = {"link2.mass": [0.7, 1.8], "gravity.y": [-3.0, -9.0], "joint1.viscous": [0.1, 0.4], "link2.com.x": [0.6, 0.9]}
MIXED = cr.load("scara").floating()
LOOPED = {"coupler_link.mass": [0.7, 1.8], "gravity.x": [-3.0, 2.0], "crank.viscous": [0.1, 0.4]}


def of_states() -> list[str]:
    """Functions of states: those that parameters are bound to, but those that read the request of a motion."""
    found = []
    for name, function in functions(ARM):
        own = getattr(function, "__func__", function)
        if takes_bound(own) and not hasattr(own, "takes_parameters"):
            found.append(name)
    return found


NAMES = of_states()
ARRAYS = ("Array", "NDArray[np.bool_]")


def returns_one_array(name: str) -> bool:
    return inspect.signature(attrgetter(name)(ARM)).return_annotation in ARRAYS


@cache
def values_of(robot: cr.Robot, rows: tuple[int, ...]) -> dict[str, Any]:
    """An argument of each name that functions of states have."""
    rng = np.random.default_rng(4)
    q = robot.random_state(rng, rows)
    qd, qdd, tau, vector = (rng.normal(size=(*rows, robot.nv)) for _ in range(4))
    if robot.model.constraints:
        q = robot.loops.close(np.broadcast_to(robot.home(), (*rows, robot.nq)))
        qd = robot.loops.consistent_velocity(q, qd)
        qdd = robot.loops.consistent_acceleration(q, qd, qdd)
    F = rng.normal(size=6)
    return {
        "q": q, "qd": qd, "qdd": qdd, "tau": tau, "v": qd, "x": tau, "vector": vector, "q0": q, "q1": q[..., ::-1].copy(),
        "wrench": F, "twist": F, "acceleration": F, "direction": np.array([0.6, 0.8, 0.0]), "t": 0.0,
        "target": robot.pose(q[(0,) * len(rows)]),
    }  # fmt: skip


def arguments_of(robot: cr.Robot, name: str, rows: tuple[int, ...] = (), row: int | None = None) -> dict[str, Any]:
    """Arguments of a function by name; with a row, those of one state of the batch."""
    values = values_of(robot, rows)
    if name == "textbook.state_dot":
        values = values | {"x": np.concatenate([values["q"], values["qd"]], axis=-1)}
    parameters = inspect.signature(attrgetter(name)(robot)).parameters.values()
    wanted = [p.name for p in parameters if p.default is p.empty or p.name in ("q", "qd", "qdd", "tau")]
    chosen = {x: values[x] for x in wanted}
    if row is not None:
        chosen = {x: array[row] if np.shape(array)[: len(rows)] == rows else array for x, array in chosen.items()}
    return chosen


def parts_of(result: Any, path: str = "") -> dict[str, Any]:
    """The arrays of a result by where they stand in it."""
    if isinstance(result, (np.ndarray, np.generic, float)):
        return {path: np.asarray(result)} if np.asarray(result).dtype.kind in "bif" else {}
    if is_dataclass(result):
        parts = {field.name: getattr(result, field.name) for field in fields(result)}
    else:
        parts = dict(result) if isinstance(result, dict) else getattr(result, "_asdict", dict)()
    return {where: x for name, part in parts.items() for where, x in parts_of(part, f"{path}.{name}").items()}


def call(robot: Any, name: str, arguments: dict[str, Any], **options: Any) -> Any:
    """The result of a function."""
    return attrgetter(name)(robot)(**arguments, **options)


def first_call(robot: cr.Robot, name: str, arguments: dict[str, Any], *others: Callable[[], Any]) -> Any:
    """The result of a function. For a robot that it is not meant for: None, and the other calls refuse it too."""
    try:
        return call(robot, name, arguments)
    except ModelError as error:
        same = re.escape(str(error))
    for other in others:
        with pytest.raises(ModelError, match=f"^{same}$"):
            other()
    return None


def test_most_functions_are_declared():
    assert len(NAMES) > 70
    assert {"pose", "loops.close", "analysis.payload", "textbook.rnea_table", "balanced_wrench"} <= set(NAMES)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", [name for name in NAMES if returns_one_array(name)])
def test_what_returns_one_array_writes_it_into_out(name, robot):
    own = ROBOTS[robot].reference
    arguments = arguments_of(own, name, (2,))
    expected = first_call(own, name, arguments, lambda: call(own, name, arguments, out=np.empty(0)))
    if expected is None:
        return
    out = np.empty_like(expected)
    assert call(own, name, arguments, out=out) is out
    assert_array_equal(out, expected)
    with pytest.raises(cr.ShapeError, match="out must be a NumPy array of shape"):
        call(own, name, arguments, out=np.empty((7, *expected.shape), expected.dtype))


def edited(robot: cr.Robot, values: dict[str, float]) -> cr.Robot:
    """The robot with these numbers, by the edits that a user makes."""
    for name, value in values.items():
        part, _, number = name.partition(".")
        if part == "gravity":
            gravity = robot.gravity.copy()
            gravity["xyz".index(number)] = value
            robot = robot.edit(gravity=gravity)
        elif number.startswith("com"):
            robot = robot.edit(links={part: {"com": (value, *list(robot.links[part].com)[1:])}})
        else:
            of_a_link = part in robot.link_names
            robot = robot.edit(**{"links" if of_a_link else "joints": {part: {number: value}}})
    return robot.reference


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", NAMES)
def test_other_values_of_parameters_are_those_of_an_edited_robot(name, robot):
    own, values = ROBOTS[robot].reference, VALUES if robot == "arm" else LOOPED
    robots = [edited(own, {parameter: pair[k] for parameter, pair in values.items()}) for k in range(2)]
    arguments = arguments_of(own, name, (2,))
    if first_call(own, name, arguments, lambda: call(own.at(values), name, arguments)) is None:
        return
    one = call(
        own.at({parameter: pair[0] for parameter, pair in values.items()}), name, arguments_of(own, name, (2,), 0)
    )
    both = call(own.at(values), name, arguments)
    rows = [parts_of(call(robots[k], name, arguments_of(own, name, (2,), k))) for k in range(2)]
    assert rows[0]
    for path, found in parts_of(both).items():
        expected = np.array([row[path] for row in rows])
        assert_allclose(np.broadcast_to(found, expected.shape), expected, rtol=1e-9, atol=1e-9)
        assert_allclose(parts_of(one)[path], expected[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_robot_and_its_reference_have_the_same_results(name, robot):
    own = ROBOTS[robot]
    arguments = arguments_of(own.reference, name, (3,))
    result = first_call(own.reference, name, arguments, lambda: call(own, name, arguments))
    if result is None:
        return
    expected, found = parts_of(result), parts_of(call(own, name, arguments))
    assert expected.keys() == found.keys()
    for path, array in expected.items():
        assert_allclose(found[path], array, rtol=1e-9, atol=1e-9)


# --- other units ---

ANGULAR = {"radian", "radian / second", "radian / second ** 2"}
IN_UNITS = {"arm": ARM, "loop": BAR, "mixed": MIXED}


def function_of(robot: cr.Robot, name: str) -> Any:
    """The function behind a method."""
    return getattr(attrgetter(name)(robot), "__func__", None)


def quantities_of(result: Any) -> list[Any]:
    """The quantities of a result with units, one after the other."""
    if hasattr(result, "magnitude"):
        return [result]
    parts = result.values() if isinstance(result, dict) else getattr(result, "_asdict", dict)().values()
    return [quantity for part in parts for quantity in quantities_of(part)]


def flat(arrays: Any) -> np.ndarray:
    """All numbers in order of size: parts of a result with units come in another order, poses without their last row."""
    arrays = [np.asarray(array, dtype=float) for array in arrays]
    arrays = [array[..., :3, :] if array.shape[-2:] == (4, 4) else array for array in arrays]
    return np.sort(np.concatenate([np.ravel(array) for array in arrays]))


@pytest.mark.parametrize("robot", IN_UNITS)
@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(function_of(ARM, name), "of_states")])
def test_results_with_units_and_in_degrees_are_the_same_results(name, robot):
    pytest.importorskip("pint")
    own = IN_UNITS[robot].reference
    function = function_of(own, name)
    arguments = arguments_of(own, name, (2,))
    given = {x: in_degrees(own, x, value) for x, value in arguments.items()}
    others = (lambda: call(own.degrees, name, given), lambda: call(own.units, name, arguments))
    plain = first_call(own, name, arguments, *others)
    if plain is None:
        return
    turned = call(own.degrees, name, given)
    if getattr(function, "declaration", None) is None and getattr(function, "composition", None) is None:
        assert type(turned) is type(plain)  # its result is not declared
        return
    found = quantities_of(call(own.units, name, arguments))
    assert found
    assert_allclose(flat(x.magnitude for x in found), flat(parts_of(plain).values()), rtol=1e-12)
    expected = [np.degrees(x.magnitude) if f"{x.units}" in ANGULAR else x.magnitude for x in found]
    assert_allclose(flat(parts_of(turned).values()), flat(expected), rtol=1e-9, atol=1e-9)


def in_degrees(robot: cr.Robot, argument: str, value: Any) -> Any:
    """An argument with its angles in degrees, by what the units of joints say."""
    quantity = {"q": "position", "q0": "position", "q1": "position", "qdd": "acceleration"}.get(argument, "velocity")
    if argument in ("twist", "acceleration"):
        return value * np.repeat([180 / np.pi, 1.0], 3)
    if argument not in ("q", "q0", "q1", "qd", "qdd", "v", "vector"):
        return value
    units = robot.model.layout.units_of(quantity)
    return value * np.array([180 / np.pi if unit.startswith("rad") else 1.0 for unit in units])
