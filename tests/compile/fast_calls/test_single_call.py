"""The call on one state: a builtin that stands in for the method, and takes every case."""

import inspect
import pickle
import pydoc
import subprocess
import sys
from operator import attrgetter

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.compile.fast_calls.builtins import text_signature
from chainrule.functions.table import FUNCTIONS
from compile.support import OF_LOOPS, PANDA, QD, QDD, Q, close


def test_the_call_on_one_state_is_a_builtin_that_takes_every_case():
    PANDA.inverse_dynamics(Q[0], QD[0], QDD[0])
    fast = PANDA.inverse_dynamics
    assert "built-in" in repr(fast)
    expected = PANDA.reference.inverse_dynamics(Q[0], QD[0], QDD[0])
    close(fast(Q[0], QD[0], QDD[0]), expected)
    close(fast(Q[0].tolist(), QD[0], qdd=QDD[0]), expected)
    close(fast(Q, QD, QDD), PANDA.reference.inverse_dynamics(Q, QD, QDD))
    close(fast(Q[0], QD[0], QDD[0], tip_wrench=np.zeros(6)), expected)
    close(fast(np.repeat(Q[0], 2)[::2], QD[0], QDD[0]), expected)
    with pytest.raises(cr.ShapeError, match="q must have 7 numbers"):
        fast(Q[0][:6], QD[0], QDD[0])
    close(fast(Q[0], QD[0]), PANDA.reference.inverse_dynamics(Q[0], QD[0]))
    with pytest.raises(TypeError, match="missing a required argument: 'q'"):
        fast()
    assert "Newton-Euler" in fast.__doc__


def test_a_zero_quaternion_is_refused_by_the_builtin_too():
    robot = cr.load("quadruped")
    robot.mass_matrix(robot.neutral())
    assert "built-in" in repr(robot.mass_matrix)
    with pytest.raises(cr.ShapeError, match="is zero, which is no orientation"):
        robot.mass_matrix(np.zeros(robot.nq))


def test_compiled_functions_outlive_the_robot_they_came_from():
    import gc

    robot = cr.load("planar_2r").scale_masses(1.5)
    robot.mass_matrix(np.zeros(2))
    call, ufunc = robot.mass_matrix, robot.compiled.kernel("mass_matrix").ufunc
    del robot
    gc.collect()
    cr.load("planar_3r").scale_masses(1.1).mass_matrix(np.zeros(3))
    for function in (call, ufunc):
        assert_allclose(function(np.zeros(2)), [[7.5, 3], [3, 1.5]])
    del call, ufunc, function
    gc.collect()


def test_code_outlives_finalizers_that_still_call_it():
    """A robot is part of a cycle; the garbage collector must not free its code before a finalizer has run."""
    code = """
import gc, numpy as np, chainrule as cr
q = np.zeros(7)
kept = []
class Controller:
    def __init__(self, robot):
        self.robot, self.me, self.call = robot, self, robot.gravity_torque
    def __del__(self):
        self.robot.gravity_torque(q)
        self.call(q)
        kept.append(self)
for k in range(3):
    robot = cr.load("panda").scale_masses(1 + k)
    robot.compiled.kernel("gravity_torque")
    Controller(robot)
    del robot
    gc.collect()
for k in range(300):  # builtins that come and go, while those that finalizers have kept live on
    cr.load("planar_2r").gravity_torque(np.zeros(2))
    if k % 10 == 0:
        gc.collect()
print([round(float(c.call(q)[1]), 3) for c in kept])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[-3.434, -6.869, -10.303]"


def test_a_method_of_a_subclass_is_not_passed_over():
    class Mine(cr.Robot):
        def gravity_torque(self, q):
            return super().gravity_torque(q) + 100

    robot = Mine(PANDA.model)
    assert [round(float(robot.gravity_torque(np.zeros(7))[0])) for _ in range(3)] == [100, 100, 100]


def test_difference_refuses_a_zero_quaternion_in_either_argument():
    robot = cr.load("quadruped")
    good, bad = robot.neutral(), robot.neutral()
    bad[3:7] = 0
    robot.difference(good, good)
    for pair in ((good, bad), (bad, good)):
        with pytest.raises(cr.ShapeError, match="is zero, which is no orientation"):
            robot.difference(*pair)


def test_a_compiled_method_can_be_pickled():
    PANDA.gravity_torque(Q[0])
    again = pickle.loads(pickle.dumps(PANDA.gravity_torque))
    close(again(Q[0]), PANDA.reference.gravity_torque(Q[0]))


def test_a_robot_can_be_pickled_after_use():
    PANDA.mass_matrix(Q[0])
    again = pickle.loads(pickle.dumps(PANDA))
    assert again == PANDA
    close(again.mass_matrix(Q), PANDA.reference.mass_matrix(Q))


DIRECT = sorted(name for name, entry in FUNCTIONS.items() if entry.is_direct(PANDA.model) and name not in OF_LOOPS)


@pytest.mark.parametrize("function", DIRECT)
def test_signature_and_docstring_are_those_of_the_method(function):
    robot, name = cr.load("panda"), FUNCTIONS[function].variant_of or function
    before = attrgetter(name)(robot)
    robot.compiled.kernel(function)
    after = attrgetter(name)(robot)
    assert inspect.isbuiltin(after) or FUNCTIONS[name].named  # a named result is made of the builtin's array
    ours, theirs = (
        [(p.name, p.kind, p.default) for p in inspect.signature(f).parameters.values()] for f in (after, before)
    )
    assert ours == theirs
    assert after.__doc__ == before.__doc__
    assert inspect.getdoc(after) == inspect.getdoc(before)
    assert after.__name__ == before.__name__ == name.rpartition(".")[2]
    assert after.__module__ == before.__module__


def test_help_speaks_of_the_robot():
    robot = cr.load("planar_2r")
    robot.inverse_dynamics([0, 0], [0, 0], [0, 0])
    text = pydoc.plain(pydoc.render_doc(robot.inverse_dynamics))
    on_one_line = " ".join(text.split()).replace("( ", "(")  # from Python 3.13 on, a long signature has several
    assert "inverse_dynamics(q, qd=0, qdd=0, *, tip_wrench=None, external=None, frame='world'" in on_one_line
    assert "method of chainrule" in text
    assert "Robot instance" in text
    assert "Fallback" not in text + repr(robot.inverse_dynamics)


def test_a_default_that_cannot_be_read_back_leaves_the_docstring_alone():
    def function(q, scale=object):
        """Doc."""

    assert text_signature(function) is None
    assert text_signature(lambda q, *, n=-1, s="it's": q) == """(q, *, n=-1, s="it's")"""
