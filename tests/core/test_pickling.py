"""Robots that travel by pickle: small, whole, and one object for each in a process."""

import copy
import pickle
import threading
import weakref

import numpy as np
import pytest

import chainrule as cr
from chainrule.core import pickling
from chainrule.core.derived import backend_of


class Mine(cr.Robot):
    """A class of a user's own."""


class WithNote(cr.Robot):
    """A class that carries something along."""

    note = ""

    def __getstate__(self):
        return {**super().__getstate__(), "note": self.note}

    def __setstate__(self, state):
        super().__setstate__(state)
        self.note = state["note"]


def again(robot):
    return pickle.loads(pickle.dumps(robot))


def variants():
    arm = cr.load("planar_2r")
    return {
        "itself": arm,
        "reference": arm.reference,
        "class": Mine(arm.model),
        "mass": arm.scale_masses(1.0 + 1e-15),
        "name": arm.edit(name="other"),
        "configuration": arm.edit(configurations={"bent": [0.3, -1.2]}),
        "end-effector": arm.with_end_effector("link1"),
    }


def test_the_same_robot_comes_as_one_object():
    arm = cr.load("planar_2r")
    first = again(arm)
    assert first == arm
    assert again(arm) is first
    assert again(first) is first


def test_robots_that_differ_in_anything_are_different_objects():
    robots = variants()
    came = {name: again(robot) for name, robot in robots.items()}
    assert len({id(robot) for robot in came.values()}) == len(robots)
    for name, robot in robots.items():
        assert type(came[name]) is type(robot)
        assert backend_of(came[name]) is backend_of(robot)
        assert came[name].model == robot.model


@pytest.mark.parametrize("name", cr.robots())
def test_a_pickle_is_small_and_does_not_grow_with_use(name):
    robot = cr.load(name)
    size = len(pickle.dumps(robot))
    assert size < 8_000
    used = cr.load(name)
    used.reference.poses(used.home())
    assert len(pickle.dumps(used)) < 1.3 * size
    assert again(robot).model == robot.model


def test_a_robot_that_nobody_holds_stays_for_the_next_task_and_goes_in_the_end():
    key = again(cr.load("pendulum"))
    seen = weakref.ref(key)
    del key
    assert again(cr.load("pendulum")) is seen()
    for k in range(pickling.MAX_KEPT_ROBOTS):
        again(cr.load("pendulum").edit(name=f"pendulum {k}"))
    assert len(pickling._latest) == pickling.MAX_KEPT_ROBOTS
    assert all(robot.name != "pendulum" for robot in pickling._latest.values())


def test_threads_that_unpickle_at_once_get_one_object():
    data = pickle.dumps(cr.load("planar_3r").edit(name="for threads"))
    start, came = threading.Barrier(8), []

    def load():
        start.wait()
        came.append(pickle.loads(data))

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(came) == 8
    assert len({id(robot) for robot in came}) == 1


def test_a_class_with_a_state_of_its_own_is_pickled_as_it_says():
    robot, other = WithNote(cr.load("pendulum").model), WithNote(cr.load("pendulum").model)
    robot.note, other.note = "one", "two"
    assert (again(robot).note, again(other).note) == ("one", "two")


def test_attributes_of_one_object_do_not_come_with_another():
    one, two = Mine(cr.load("pendulum").model), Mine(cr.load("pendulum").model)
    one.note = "one"
    assert again(one).__dict__.get("note") is None
    assert again(two).__dict__.get("note") is None


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy])
def test_copies_are_new_objects(make):
    arm = cr.load("planar_2r").reference
    arm.pose(arm.home())
    twin = make(arm)
    assert twin is not arm
    assert twin == arm
    assert backend_of(twin) is backend_of(arm)
    np.testing.assert_array_equal(twin.pose([0.1, 0.2]), arm.pose([0.1, 0.2]))


def test_a_friction_law_without_a_name_travels_by_cloudpickle():
    cloudpickle = pytest.importorskip("cloudpickle")
    arm = cr.load("pendulum").edit(joints={"*": {"friction_function": lambda q, qd: 0.5 * qd}})
    came = pickle.loads(cloudpickle.dumps(arm))
    assert came.reference.friction_torque([2.0], [0.0])[0] == 1.0
    with pytest.raises(Exception, match="pickle"):
        pickle.dumps(arm)
