"""The store of compiled things: bounded, safe with threads and with fork."""

import gc
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from processes import run_python

import chainrule as cr
from chainrule.compile.runtime import memory_cache


def test_a_forked_child_builds_kernels_of_its_own():
    code = """
import os, numpy as np, chainrule as cr
robot = cr.load("panda")
robot.mass_matrix(np.zeros((40_000, 7)))
child = os.fork()
if child == 0:
    robot.gravity_torque(np.zeros((400_000, 7)))
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run_python(code, env=os.environ | {"PYTHONWARNINGS": "ignore"}).stdout.strip() == "7"


@pytest.fixture
def empty_memory(monkeypatch):
    monkeypatch.setattr(memory_cache, "_kept", {})


@pytest.mark.usefixtures("empty_memory")
def test_a_thing_is_built_once_and_then_at_hand():
    built = []
    for _ in range(3):
        assert memory_cache.get_or_build("key", lambda: built.append(1) or "thing") == "thing"
    assert built == [1]
    assert memory_cache.lookup("key") == "thing"
    assert memory_cache.lookup("another key") is None
    memory_cache.clear()
    assert memory_cache.lookup("key") is None


@pytest.mark.usefixtures("empty_memory")
def test_the_store_is_bounded_and_what_was_used_longest_ago_goes_first(monkeypatch):
    monkeypatch.setattr(memory_cache, "MAX_ENTRIES", 3)
    for key in "abc":
        memory_cache.get_or_build(key, lambda key=key: key.upper())
    memory_cache.get_or_build("a", lambda: pytest.fail("a is at hand"))
    memory_cache.lookup("b")
    memory_cache.get_or_build("d", lambda: "D")
    assert [memory_cache.lookup(key) for key in "abcd"] == ["A", "B", None, "D"]


@pytest.mark.usefixtures("empty_memory")
def test_building_one_thing_may_build_another_and_a_failure_leaves_nothing():
    assert memory_cache.get_or_build("outer", lambda: memory_cache.get_or_build("inner", lambda: 1) + 1) == 2
    assert memory_cache.lookup("inner") == 1
    with pytest.raises(ZeroDivisionError):
        memory_cache.get_or_build("failed", lambda: 1 / 0)
    assert memory_cache.lookup("failed") is None
    assert memory_cache.get_or_build("failed", lambda: 3) == 3


@pytest.mark.usefixtures("empty_memory")
def test_threads_build_a_thing_once_and_nobody_waits_for_what_another_compiles():
    built, begun, go_on = [], threading.Event(), threading.Event()

    def build():
        built.append(1)
        begun.set()
        go_on.wait()
        return "slow"

    memory_cache.get_or_build("ready", lambda: "ready")
    workers = [threading.Thread(target=lambda: memory_cache.get_or_build("slow", build)) for _ in range(4)]
    for worker in workers:
        worker.start()
    begun.wait()
    assert memory_cache.get_or_build("ready", lambda: pytest.fail("it is at hand")) == "ready"
    go_on.set()
    for worker in workers:
        worker.join()
    assert built == [1]


def test_robots_of_the_same_numbers_share_what_was_compiled():
    first, second = cr.load("planar_2r").compiled.kernel("bias"), cr.load("planar_2r").compiled.kernel("bias")
    assert first is second
    assert first is not cr.load("planar_2r").scale_masses(2.0).compiled.kernel("bias")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_in_the_middle_of_a_compilation_leaves_a_child_that_compiles():
    code = """
import faulthandler, os, threading, time
import numpy as np, chainrule as cr
robot = cr.load("quadruped")
worker = threading.Thread(target=lambda: (robot.mass_matrix(robot.neutral()), robot.bias(robot.neutral(), np.zeros(robot.nv))))
worker.start()
children = []
for i in range(6):
    time.sleep(0.1)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(500, exit=True)
        cr.load("planar_2r").with_payload(1.2345 + i).mass_matrix(np.zeros(2))
        os._exit(7)
    children.append(child)
worker.join()
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""
    done = run_python(code, env=os.environ | {"PYTHONWARNINGS": "ignore", "CHAINRULE_CACHE": "off"})
    assert done.stdout.strip() == "[7, 7, 7, 7, 7, 7]", done.stderr


DEFINITIONS = """
import gc
import numpy as np, chainrule as cr
from chainrule.compile.fast_calls import builtins

def call():
    robot = cr.load("planar_2r")
    for _ in range(3):
        answer = robot.gravity_torque(np.zeros(2))
    assert type(robot.gravity_torque) is type(len)
    return answer

expected, held = call(), cr.load("planar_2r").scale_masses(2.0)
held.gravity_torque(np.zeros(2))
counts = []
for _ in range(400):
    assert (call() == expected).all()
    gc.collect(0)
    counts.append(len(builtins._definitions.in_use) + len(builtins._definitions.gone))
assert counts[-1] <= counts[200], counts
assert (held.gravity_torque(np.zeros(2)) == 2 * expected).all()
"""


def test_definitions_of_builtins_are_used_again_after_a_collection_of_garbage():
    """A builtin for each robot: what describes it to Python must outlive it, and must not pile up."""
    run_python(DEFINITIONS)  # where nobody else makes any


def resident_bytes():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_states_and_robots_leave_no_memory_behind():
    """The short form of benchmarks/soak.py: some million states, and a thousand robots made and dropped."""
    panda = cr.load("panda")
    q = np.random.default_rng(0).normal(size=(4096, 7))

    def use(count):
        for k in range(count):
            panda.inverse_dynamics(q, q, q)
            robot = cr.load("planar_2r").scale_masses(1.0 + k % 5)
            robot.gravity_torque(np.zeros(2))
            robot.gravity_torque(np.zeros((3, 2)))

    use(200)
    before = resident_bytes()
    use(1000)
    assert resident_bytes() - before < 20e6
