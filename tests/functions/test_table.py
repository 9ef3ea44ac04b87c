"""The table of functions is the only truth: methods, kernels, benchmarks and tests agree with it."""

from __future__ import annotations

import ast
import inspect
from operator import attrgetter

import numpy as np
import pytest
from architecture.sources import modules, tree

import chainrule as cr
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import options_of, require
from chainrule.functions.meaning import describe_arguments, describe_result
from chainrule.functions.table import DECLARED_IN, FUNCTIONS, Needs

LOADED = {"tip_wrench", "external", "wrench"}
OF_BODIES = {"hold", "task", "link", "point", "q", "stick", "out", "world"}
"""What else methods take: what their bodies read before the table is asked."""
PANDA = cr.load("panda")


def test_the_table_knows_every_module_that_declares_a_function():
    declaring = {
        module
        for module in modules()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and node.module == "chainrule.core.declaration"
        if {"function", "variant"} & {alias.name for alias in node.names}
    }
    assert declaring == set(DECLARED_IN)


def method_of(name: str):
    return attrgetter(FUNCTIONS[name].variant_of or name)(PANDA)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_entry_has_a_method_with_the_same_parameters(name):
    entry = FUNCTIONS[name]
    parameters = list(inspect.signature(method_of(name)).parameters.values())
    taken = [parameter.name for parameter in parameters]
    assert taken[: len(entry.takes)] == list(entry.arguments)
    public = [option for option, record in entry.options.items() if record.is_public]
    assert [x for x in taken if x in entry.options] == public
    assert not entry.loaded or LOADED & set(taken)
    rest = set(taken) - set(entry.arguments) - set(public) - LOADED
    assert rest <= OF_BODIES, f"{name} takes {rest}, which the table does not know"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_defaults_of_methods_are_those_of_the_table(name):
    robot = cr.load("panda")
    parameters = inspect.signature(method_of(name)).parameters
    for option, record in FUNCTIONS[name].options.items():
        if record.is_public:
            default = parameters[option].default
            assert default is None or default == record.default_for(robot, {}), (name, option)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_entry_compiles_to_a_kernel_of_its_shape(name):
    robot = cr.load("four_bar" if name.startswith("loops.") else "ur5")
    kernel = robot.compiled.kernel(name)
    entry = FUNCTIONS[name]
    options = options_of(robot, name, {})
    model = robot.model if entry.whole else merged_model(robot)
    state = [np.zeros(n) for n in entry.argument_lengths(model, options)]
    assert kernel(*state).shape == entry.shape(model, options)


@pytest.mark.filterwarnings("ignore::chainrule.errors.ModelWarning")
def test_requirements_are_checked_by_the_table():
    bare = cr.Robot.from_dh([(1, 0, 0, 0)] * 2, convention="standard", check=False)
    for name, entry in FUNCTIONS.items():
        if entry.needs is Needs.NOTHING:
            require(bare, name)
        else:
            with pytest.raises(cr.ModelError, match="no masses"):
                require(bare, name)


def test_an_unknown_option_is_refused_with_the_known_ones():
    with pytest.raises(cr.UnknownNameError, match="did you mean 'frame'"):
        cr.load("panda").compiled.kernel("jacobian", fame="body")


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "pose", "jacobian", "forward_dynamics"])
def test_signature_and_help_are_the_same_before_and_after_the_first_call(name):
    robot = cr.load("panda")
    before, doc = inspect.signature(getattr(robot, name)), inspect.getdoc(getattr(robot, name))
    state = [np.zeros(n) for n in FUNCTIONS[name].argument_lengths(robot.model, {})]
    getattr(robot, name)(*state)
    assert name in vars(robot)  # the call on one state is a builtin now
    after = inspect.signature(getattr(robot, name))
    shape = [(p.name, p.kind, p.default) for p in before.parameters.values()]
    assert [(p.name, p.kind, p.default) for p in after.parameters.values()] == shape
    assert inspect.getdoc(getattr(robot, name)) == doc


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_result_and_argument_is_said_in_words(name):
    robot = cr.load("four_bar" if name.startswith("loops.") else "panda")
    model = robot.model if FUNCTIONS[name].whole else merged_model(robot)
    options = options_of(robot, name, {})
    arguments = describe_arguments(name, model, options)
    assert len(arguments) == len(FUNCTIONS[name].argument_lengths(model, options))
    assert [line.split(":")[0] for line in arguments][: len(FUNCTIONS[name].takes)] == list(FUNCTIONS[name].arguments)
    text = describe_result(name, model, options)
    assert text
    assert "{" not in text


def test_words_say_frame_order_and_unit():
    dog = cr.load("quadruped").with_end_effector("HL_FOOT")
    joints = "FL_HAA, FL_HFE, FL_KFE, FR_HAA, FR_HFE, FR_KFE, HL_HAA, HL_HFE, HL_KFE, HR_HAA, HR_HFE, HR_KFE"
    base = "floating_base.wx, floating_base.wy, floating_base.wz"
    qd = f"qd: velocities of {base} (rad/s); floating_base.vx, floating_base.vy, floating_base.vz (m/s); {joints} (rad/s)"
    options = options_of(dog, "inverse_dynamics", {"loads": ["FL_FOOT"], "frame": "world"})
    lines = describe_arguments("inverse_dynamics", merged_model(dog), options)
    assert lines[1] == qd
    assert (
        lines[3] == "wrench: (moment, force) that the world applies to FL_FOOT, in base axes, about its origin (N m, N)"
    )
    for options, axes in (({}, "in base axes"), ({"frame": "body"}, "in its own axes")):
        static = describe_arguments("static_torque", merged_model(dog), options_of(dog, "static_torque", options))
        assert static[1].startswith(f"wrench: (moment, force) that HL_FOOT applies to its surroundings, {axes}")
    for frame, words in (
        ("world", "in base axes, the linear part that of its origin"),
        ("space", "at the origin of the base"),
    ):
        assert words in describe_result("jacobian", merged_model(dog), options_of(dog, "jacobian", {"frame": frame}))
    assert "in its own axes" in describe_result(
        "acceleration", merged_model(dog), options_of(dog, "acceleration", {"frame": "body"})
    )
    arm = cr.load("planar_rp")
    assert "(N m); " in describe_result("inverse_dynamics", merged_model(arm), options_of(arm, "inverse_dynamics", {}))
