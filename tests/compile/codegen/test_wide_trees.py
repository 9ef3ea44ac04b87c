"""Wide trees: a hundred joints on one link make code in proportion to what there is to compute."""

import re
from collections.abc import Iterator
from operator import attrgetter

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile.backend import Call, is_worth_compiling
from chainrule.compile.codegen.batch_loop import CoreSignature
from chainrule.compile.codegen.module import batch_module
from chainrule.compile.codegen.vectorize import MAX_PLACES, PART_INSTRUCTIONS, PART_STORES, Lanes
from chainrule.compile.fast_calls.single_call import add_single_call
from chainrule.compile.tape import Instruction, Tape
from chainrule.compile.trace import trace
from chainrule.compile.ufunc import compile_ufunc
from chainrule.core.derived import merged_model
from chainrule.core.evaluation import options_of
from chainrule.functions.table import FUNCTIONS
from compile.support import arguments_of, close

MAX_LINES = 10 * PART_INSTRUCTIONS
"""Lines that one function of the text may have: the compiler's time grows faster than the length of a function."""


def star(count: int) -> cr.Robot:
    """Joints on one link, each turned and moved otherwise."""
    rng = np.random.default_rng(count)
    body = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    text = '<robot name="star"><link name="base"/>'
    for i in range(count):
        x, y, z, a, b, c = rng.normal(size=6)
        text += f'<link name="l{i}"><inertial><origin xyz="{x} {y} {z}" rpy="{a} 0 0"/><mass value="1"/>{body}'
        text += f'<joint name="j{i}" type="continuous"><parent link="base"/><child link="l{i}"/>'
        text += f'<origin xyz="{y} {z} {x}" rpy="{a} {b} {c}"/><axis xyz="0 0 1"/></joint>'
    return cr.Robot.from_urdf(text + "</robot>")


def texts(name: str, robots: list[cr.Robot]) -> Iterator[str]:
    for robot in robots:
        model = robot.model if FUNCTIONS[name].whole else merged_model(robot)
        options = options_of(robot, name, {})
        if is_worth_compiling(Call.of(model, name, options)):
            entry = FUNCTIONS[name]
            signature = CoreSignature(entry.argument_lengths(model, {}), entry.shape(model, options))
            tape = trace(model, name, **options)
            module = batch_module(tape, signature, Lanes(64, 4))
            add_single_call(module, tape, signature)
            yield module.text()


def lengths_of_functions(text: str) -> list[int]:
    return [body.count("\n") for body in re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)]


STARS = [star(20), star(40)]


@pytest.mark.parametrize(
    "name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "poses", "velocities"]
)
def test_the_code_of_a_star_grows_with_the_number_of_its_joints(name):
    small, large = texts(name, STARS)
    assert len(large) < 2.5 * len(small)
    assert max(lengths_of_functions(large)) < MAX_LINES


def test_no_function_has_more_stores_than_its_share():
    """The mass matrix of a star: a diagonal, and 25,440 zeros."""
    robot = star(160)
    (text,) = texts("mass_matrix", [robot])
    stores = [body.count("\n  store ") for body in re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)]
    assert max(stores) <= PART_STORES
    q = robot.random_state(np.random.default_rng(0), (5,))
    close(robot.mass_matrix(q), robot.reference.mass_matrix(q))
    close(robot.mass_matrix(q[0]), robot.reference.mass_matrix(q[0]))


@pytest.mark.slow
def test_matrices_of_a_wide_tree_on_a_free_base():
    robot = star(24).floating() if hasattr(cr.Robot, "floating") else star(24)
    for name in ("mass_matrix", "coriolis_matrix", "forward_dynamics"):
        arguments = arguments_of(robot, name, 3, (5,))
        close(attrgetter(name)(robot)(*arguments), attrgetter(name)(robot.reference)(*arguments), 1e-10)


@pytest.mark.parametrize("places", [1, MAX_PLACES, MAX_PLACES + 1, 3 * PART_STORES])
def test_outputs_in_many_places_are_all_written(places):
    """An input, a constant, zeros of both signs, and a value that is computed, each in so many places."""
    instructions = (
        Instruction("input", argument=0, entry=0),
        Instruction("constant", constant=2.5),
        Instruction("constant", constant=0.0),
        Instruction("constant", constant=-0.0),
        Instruction("mul", (0, 1)),
    )
    order = np.random.default_rng(0).permutation([0, 1, 2, 3, 4] * places)
    call = compile_ufunc(Tape((1,), instructions, tuple(int(v) for v in order)), "spread", "test")
    x = np.linspace(-3, 3, 19)[:, None]
    columns = np.concatenate([x, np.full_like(x, 2.5), np.zeros_like(x), np.full_like(x, -0.0), 2.5 * x], axis=1)
    assert call(x).tobytes() == columns[:, order].tobytes()


def test_numbers_beyond_single_precision_are_infinite_in_it():
    assert Lanes(32, 1).number(1e200) == "0x7FF0000000000000"
    assert Lanes(32, 1).number(-1e200) == "0xFFF0000000000000"
