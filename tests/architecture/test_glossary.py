"""The glossary speaks of things that are there, and words that it replaced stay away from the compiler."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import chainrule as cr

pytestmark = pytest.mark.interpreted

ROOT = Path(cr.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
GONE = {"waiting", "told", "family", "numbers", "places", "text"}
"""Words that functions, classes and parameters of the compiler do not have; they have those of the glossary."""
THEIRS = {"compile_text", "text", "_text", "text_signature"}
"""The text of LLVM and of CUDA is one, and CPython calls a signature so."""


def names(folder: str) -> set[str]:
    """Names of classes, functions and parameters in a folder of the package."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
    return found


def test_what_the_glossary_names_as_code_is_there():
    everything = names("") | {"q", "qd", "nq", "nv"}
    words = re.findall(r"`([^`]+)`", PAGE.read_text(encoding="utf-8"))
    assert len(words) > 20
    parts = {part for word in words if word != "lax.scan" for part in word.removesuffix("()").split(".")}
    assert not parts - everything - set(dir(cr.load("planar_2r"))) - {"robot"}


def test_each_word_stands_once_in_its_table():
    for table in PAGE.read_text(encoding="utf-8").split("\n## "):
        words = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        assert len(words) == len(set(words))


def test_names_in_the_compiler_are_words_of_compilers():
    assert not {name for name in names("compile") - THEIRS if set(name.strip("_").split("_")) & GONE}
