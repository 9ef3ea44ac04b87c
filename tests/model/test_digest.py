"""The digest of a model: every number and name counts, annotations do not, and equal models have equal digests."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

import pytest

import chainrule as cr
from chainrule.errors import ModelError
from chainrule.formats.native import from_native, to_json
from chainrule.model.model import ANNOTATIONS

pytestmark = pytest.mark.interpreted


def changed(value):
    """All values that differ from one in a single number, name or flag."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, str):
        yield value + "'"
    elif isinstance(value, (int, float)):
        yield value + 0.5 if abs(value) < 1e15 else 1.0
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            for other in changed(item):
                yield (*value[:i], other, *value[i + 1 :])
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in ANNOTATIONS:
                for other in changed(getattr(value, field.name)):
                    twin = object.__new__(type(value))
                    for name in (f.name for f in fields(value)):
                        object.__setattr__(twin, name, other if name == field.name else getattr(value, name))
                    yield twin


@pytest.mark.parametrize("name", ["planar_2r", "panda_hand", "four_bar", "quadruped", "delta"])
def test_every_number_and_name_counts(name):
    model = cr.load(name).model
    digests = [other.digest() for other in changed(model)]
    assert len(digests) > 50
    assert len({*digests, model.digest()}) == len(digests) + 1


@pytest.mark.parametrize("name", cr.robots())
def test_it_stays_when_a_robot_is_saved_and_annotated(name):
    model = cr.load(name).model
    assert from_native(to_json(model)).digest() == model.digest()
    assert replace(model, notes=("a note",), configurations=(), geometries=()).digest() == model.digest()


def test_what_is_neither_number_nor_name_is_refused():
    model = cr.load("planar_2r").model
    with pytest.raises(ModelError, match="digest of a model needs numbers"):
        replace(model, end_effector={"a": 1}).digest()
