"""Assumptions about the layout of Python's and NumPy's objects: tested at first use, and switched off when wrong."""

import ctypes
import sys
import warnings

import numpy as np
import pytest

import chainrule as cr
from chainrule.compile.backend import COMPILED, INTERPRETED, active
from chainrule.compile.fast_calls import numpy_abi
from compile.support import QD, QDD, Q, close

OFFSETS = [
    "TYPE",
    "DATA",
    "NDIM",
    "DIMENSIONS",
    "STRIDES",
    "DESCRIPTOR",
    "FLAGS",
    "FIRST_SLOT",
    "TUPLE_SIZE",
    "TUPLE_ITEMS",
]
OTHERS = {"ALIGNED": 0x200, "CONTIGUOUS": 0x2, "DOUBLE": 11, "ARRAY_ABI": 0x01000009}


@pytest.fixture
def assumptions(monkeypatch):
    """A way to change an assumption for the time of a test."""
    yield lambda name, value: (monkeypatch.setattr(numpy_abi, name, value), numpy_abi.test_again())
    monkeypatch.undo()
    numpy_abi.test_again()


def test_the_assumptions_hold_here():
    numpy_abi.test_again()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numpy_abi.ufuncs_possible()
        assert numpy_abi.single_calls_possible()
    assert active(COMPILED) is COMPILED
    assert active(INTERPRETED) is INTERPRETED


@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize("value", range(0, 80, 8))
def test_every_other_offset_of_an_array_is_noticed(name, value, assumptions):
    right = getattr(numpy_abi, name) == value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assumptions(name, value)
        assert numpy_abi.single_calls_possible() == right
    assert numpy_abi.ufuncs_possible()


@pytest.mark.parametrize("value", range(0, 300, 8))
def test_every_other_place_of_a_ufuncs_object_is_noticed(value, assumptions):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = value == numpy_abi.UFUNC_OBJECT
        assumptions("UFUNC_OBJECT", value)
        assert numpy_abi.ufuncs_possible() == right


@pytest.mark.parametrize(("name", "value"), [*((name, 72) for name in OFFSETS), *OTHERS.items()])
def test_with_a_wrong_assumption_results_stay_right_and_one_warning_says_so(name, value, assumptions):
    assumptions(name, value)
    robot = cr.load("panda").scale_masses(1.25)
    expected = robot.reference.inverse_dynamics(Q, QD, QDD)
    with pytest.warns(numpy_abi.NumpyLayoutWarning, match="laid out otherwise") as caught:
        close(robot.inverse_dynamics(Q[0], QD[0], QDD[0]), expected[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(robot.inverse_dynamics(Q, QD, QDD), expected)
        close(robot.inverse_dynamics(Q[1], QD[1], QDD[1]), expected[1])
    assert len(caught) == 1
    assert "built-in" not in repr(robot.inverse_dynamics)


def test_without_ufuncs_everything_is_interpreted(assumptions, monkeypatch):
    assumptions("UFUNC_OBJECT", 80)
    monkeypatch.setattr(COMPILED, "kernel", None)
    robot = cr.load("panda")
    with pytest.warns(numpy_abi.NumpyLayoutWarning, match="everything is interpreted") as caught:
        ours = robot.mass_matrix(Q)
    assert len(caught) == 1
    assert (ours == robot.reference.mass_matrix(Q)).all()
    assert active(COMPILED) is INTERPRETED


@pytest.mark.parametrize("unusual", ["interpreter", "pointers", "no lock", "traced objects"])
def test_interpreters_that_are_known_to_differ_are_left_alone_without_a_warning(unusual, monkeypatch, assumptions):
    if unusual == "interpreter":
        monkeypatch.setattr(sys.implementation, "name", "pypy")
    elif unusual == "pointers":
        monkeypatch.setattr(ctypes, "sizeof", lambda kind: 4)
    elif unusual == "no lock":
        monkeypatch.setattr(numpy_abi.sysconfig, "get_config_var", lambda name: 1)
    else:
        monkeypatch.setattr(sys, "getobjects", None, raising=False)
    numpy_abi.test_again()
    with warnings.catch_warnings():
        if unusual != "pointers":
            warnings.simplefilter("error")
        else:
            warnings.simplefilter("ignore")
        assert not numpy_abi.single_calls_possible()


def test_fields_read_through_the_offsets_are_what_numpy_says():
    array = np.arange(12.0).reshape(3, 4).T
    assert ctypes.c_void_p.from_address(id(array) + numpy_abi.DATA).value == array.ctypes.data
    assert ctypes.c_int.from_address(id(array) + numpy_abi.NDIM).value == 2
