"""Functions that worker processes import."""

import os
import signal
import tempfile
import time

import numpy as np

import chainrule as cr
from chainrule.compile.runtime.threads import threads
from chainrule.errors import ShapeError


def square(k):
    return k * k


def refuse_odd(k):
    if k % 2:
        raise ShapeError(f"{k} is odd")
    return k


def fail(k):
    raise ZeroDivisionError("a defect")


def die_often(k):
    """Kill the worker that has one of every four tasks."""
    if k % 4 == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return k * k


def die_once(task):
    """Kill the worker that has the third task, where no worker has left its mark yet."""
    k, mark = task
    if k == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return k * k


def kernel_threads(k):
    return threads()


def eat_memory(k):
    """Take memory without end, as the third task."""
    taken = []
    while k == 3:
        taken.append(np.ones(4_000_000))
        time.sleep(0.01)  # a worker looks at its memory ten times in a second
    return k * k


def count_runs(folder, k):
    """A square, and a file for each time that it was computed."""
    descriptor, _ = tempfile.mkstemp(prefix=f"{k}-", dir=folder)
    os.close(descriptor)
    return k * k


def arm_of_a_mortal_worker(mark, partitions):
    """The robot of subject 2 kills the first worker that asks for it."""
    if partitions["subject"] == "2" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return cr.load("planar_2r")


def arm_of_a_mortal_scheduler(pid, partitions):
    """The robot of subject 2 kills the scheduler."""
    if partitions["subject"] == "2":
        os.kill(pid, signal.SIGKILL)
    return cr.load("planar_2r")


def kill_at_person(number, mark, subject):
    """Kill the worker that comes to a person, where no worker has left its mark yet."""
    if subject.name.startswith(f"person {number},") and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return subject


def refuse_person(number, subject):
    if subject.name.startswith(f"person {number},"):
        raise ShapeError("too heavy")
    return subject
