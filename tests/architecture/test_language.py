"""Names and first sentences: what can be checked cheaply and without nonsense."""

from __future__ import annotations

import ast
import re

import pytest

from architecture.sources import modules, tree

pytestmark = pytest.mark.interpreted


IRREGULAR = {
    "been", "bound", "broken", "built", "caught", "chosen", "cut", "drawn", "driven", "felt", "found", "given", "gone",
    "held", "hidden", "kept", "known", "laid", "led", "left", "lost", "made", "meant", "met", "paid", "read_out", "seen",
    "sent", "shown", "spent", "split_up", "taken", "thrown", "told", "turned", "understood", "wound", "written",
}  # fmt: skip
"""Past participles that do not end in "ed"."""

NOT_PARTICIPLES = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"}

ADJECTIVES = {"guarded", "normalized", "quoted", "rotated", "signed"}
"""Participles that say what comes out of the one thing that goes in, like Python's own `sorted` and `reversed`."""

JOINT_KINDS = {"fixed"}
"""Names of kinds of joints: the builder has a method for each."""

BAD_FIRST_WORDS = {"As", "How", "Of", "So", "Such", "That", "What", "Where", "Which", "Who"}
"""Words with which a docstring does not begin: it begins with the noun or the verb of the thing."""


def functions():
    for module in modules():
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield module, node


def is_participle(name: str) -> bool:
    """Whether a name is one bare word, a past participle: `held`, `_told`, `opened`."""
    word = name.strip("_")
    if "_" in word or word in ADJECTIVES | JOINT_KINDS:
        return False
    return word in IRREGULAR or bool(re.fullmatch(r"[a-z]+ed", word) and word not in NOT_PARTICIPLES)


def test_no_function_is_named_by_a_bare_participle():
    properties = {"property", "cached_property"}  # those are named by what they are: `merged`, `actuated`
    wrong = [
        f"{module}:{node.lineno} {node.name}"
        for module, node in functions()
        if is_participle(node.name) and not properties & {ast.unparse(d) for d in node.decorator_list}
    ]
    assert not wrong, "\n".join(wrong)


def test_public_docstrings_begin_with_a_noun_or_a_verb():
    wrong = []
    for module in modules():
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                doc = ast.get_docstring(node) or ""
                if doc.split(" ")[0].rstrip(",.:") in BAD_FIRST_WORDS:
                    wrong.append(f"{module}:{node.lineno} {node.name}: {doc.splitlines()[0]}")
    assert not wrong, "\n".join(wrong)


def test_public_functions_with_more_than_three_options_have_a_parameter_list():
    wrong = []
    for module, node in functions():
        if node.name.startswith("_") or module not in PUBLIC_MODULES:
            continue
        if any(isinstance(item, ast.Name) and item.id == "overload" for item in node.decorator_list):
            continue  # the function itself has the docstring
        options = len(node.args.kwonlyargs)
        doc = ast.get_docstring(node) or ""
        if options > 3 and "Parameters\n----------" not in doc:
            wrong.append(f"{module}:{node.lineno} {node.name} has {options} options")
    assert not wrong, "\n".join(wrong)


PUBLIC_MODULES = {
    module
    for module in modules()
    if module.split(".")[0] in ("robot", "kinematics", "dynamics", "loops", "inverse_kinematics", "simulation", "core")
}


IN_NUMBERS_AND_SYMBOLS = {"Linearization", "RigidBody", "Spring"}
"""What `chainrule.symbolic` has in symbols under the name that it has in numbers."""


def test_classes_for_different_things_have_names_of_their_own():
    classes: dict[str, list[str]] = {}
    for module in modules():
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes.setdefault(node.name, []).append(module)
    several = {name: found for name, found in classes.items() if len(found) > 1}
    assert set(several) == IN_NUMBERS_AND_SYMBOLS, several
