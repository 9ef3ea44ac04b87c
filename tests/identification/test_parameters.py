"""Parameters by name, and robots that are made of them; numbers that no robot can have are refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import tree

import chainrule as cr
from chainrule.parameters.vector import parameter_table

ARM = cr.load("planar_2r").edit(joints={"joint2": {"stiffness": 5.0, "rest": 0.3}})


def test_every_parameter_has_a_name_of_its_own_a_unit_and_a_value():
    robot = tree(0)
    table = parameter_table(robot)
    assert len({parameter.name for parameter in table}) == len(table) == len(robot.parameters.values)
    assert robot.parameters.names == tuple(parameter.name for parameter in table)
    units = {parameter.number: parameter.unit for parameter in parameter_table(cr.load("planar_rp"))}
    assert units["mcx"] == "kg m"
    assert units["viscous"] == "N s/m"  # of the sliding joint, the last one
    assert units["armature"] == "kg"


def test_the_robots_own_parameters_make_the_same_robot():
    robot = tree(1)
    assert robot.parameters.with_values(robot.parameters.values) == robot
    assert robot.parameters.with_values({}) == robot
    assert robot.parameters.with_values([], parts=[]) == robot


def test_some_parameters_by_name_leave_the_others():
    new = ARM.parameters.with_values({"link2.mass": 2.0, "joint1.armature": 0.5, "joint2.stiffness": 10.0})
    changed = {
        name
        for name, a, b in zip(ARM.parameters.names, ARM.parameters.values, new.parameters.values, strict=True)
        if a != b
    }
    assert changed == {"link2.mass", "joint1.armature", "joint2.stiffness"}
    assert new.joints["joint2"].rest == pytest.approx(0.15)
    assert new.joints["joint1"].rotor == pytest.approx(0.5)


def test_numbers_of_parts_alone():
    friction = ARM.parameters.indices(["friction"])
    new = ARM.parameters.with_values(np.full(len(friction), 0.25), parts=["friction"])
    assert_allclose(new.parameters.values[list(friction)], 0.25)
    assert_allclose(np.delete(new.parameters.values, friction), np.delete(ARM.parameters.values, friction))


def test_impossible_numbers_are_refused_together_and_by_name_unless_they_are_wanted():
    wrong = {"link1.mass": -1.0, "link2.Izz": -3.0, "joint1.viscous": -0.1, "joint2.armature": -0.2}
    with pytest.raises(cr.ModelError) as error:
        ARM.parameters.with_values(wrong)
    for words in (
        "link 'link1' has a negative mass, -1 kg", "link 'link2' has an inertia matrix that is not positive definite",
        "'joint1.viscous' is negative, -0.1", "'joint2.armature' is negative, -0.2", "check=False",
    ):  # fmt: skip
        assert words in str(error.value)
    assert ARM.parameters.with_values(wrong, check=False).links["link1"].mass == -1.0
    sprung = ARM.with_spring("base", "tip", stiffness=3.0)
    spring = f"{sprung.model.springs[0].name}.spring_stiffness"
    with pytest.raises(cr.ModelError, match=f"'{spring}' is negative, -2"):
        sprung.parameters.with_values({spring: -2.0})


@pytest.mark.parametrize("check", [True, False])
def test_numbers_that_no_model_has_are_refused_always(check):
    law = ARM.edit(joints={"joint1": {"friction_function": lambda q, qd: 0.3 * qd}})
    idle = ARM.edit(joints={"joint1": {"gear": 0.0}})
    for robot, values, words in (
        (ARM, {"link2.mass": 0.0}, "link 'link2' has no mass, but mass times center of mass"),
        (law, {"joint1.friction_function": 2.0}, "must stay 1"),
        (idle, {"joint1.armature": 2.0}, "the gear of joint 'joint1' is 0"),
        (ARM, {"joint2.stiffness": 0.0}, "'joint2.preload' is -1.5, but the spring has no stiffness"),
    ):
        with pytest.raises(cr.ModelError, match=words):
            robot.parameters.with_values(values, check=check)


def test_wrong_shapes_names_and_numbers_are_refused():
    with pytest.raises(cr.ShapeError, match=r"values must have shape \(\d+,\), one number for each of"):
        ARM.parameters.with_values([1.0, 2.0])
    with pytest.raises(cr.UnknownNameError, match=r"did you mean 'link2\.mass'"):
        ARM.parameters.with_values({"link2.mas": 1.0})
    with pytest.raises(cr.ShapeError, match=r"'link2.mass'.*finite"):
        ARM.parameters.with_values({"link2.mass": float("nan")})
    with pytest.raises(cr.ShapeError, match="finite"):
        ARM.parameters.with_values(np.full(len(ARM.parameters.values), np.inf))
