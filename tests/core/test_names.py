"""Joints by name: whatever has names goes to the right places, or is refused with its text."""

from __future__ import annotations

from collections import namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import chainrule as cr

ARM = cr.load("panda")
HAND = cr.load("panda_hand")
FLOATING = cr.load("planar_2r").floating()
MIXED = cr.load("scara")
Q = np.linspace(-0.4, 0.5, ARM.nq)
QD = np.linspace(0.3, -0.2, ARM.nv)
QDD = np.linspace(1.0, 2.0, ARM.nv)


def in_another_order(robot: cr.Robot, values: np.ndarray, quantity: str = "position") -> dict[str, Any]:
    """Numbers by name, in an order that is not the robot's."""
    names = robot.model.layout.names_of(quantity)
    order = np.random.default_rng(3).permutation(len(names))
    return {names[i]: values[..., i] for i in order}


def message(**fields: Any) -> SimpleNamespace:
    """An object with the fields of sensor_msgs/JointState."""
    return SimpleNamespace(**({"position": [], "velocity": [], "effort": []} | fields))


# --- in ---


def test_a_dictionary_goes_by_names() -> None:
    expected = ARM.inverse_dynamics(Q, QD, QDD)
    given = (in_another_order(ARM, values) for values in (Q, QD, QDD))
    assert np.array_equal(ARM.inverse_dynamics(*given), expected)


def test_arrays_in_a_dictionary_are_a_batch() -> None:
    states = np.random.default_rng(0).normal(size=(4, 3, ARM.nq))
    assert np.array_equal(ARM.gravity_torque(in_another_order(ARM, states)), ARM.gravity_torque(states))


def test_one_array_among_numbers_makes_the_batch() -> None:
    given = {**dict(zip(ARM.joint_names, Q, strict=True)), "panda_joint2": np.array([0.1, 0.2])}
    found = ARM.gravity_torque(given)
    assert found.shape == (2, 7)
    assert np.array_equal(found[1], ARM.gravity_torque(ARM.q(Q, panda_joint2=0.2)))


def test_a_series_in_another_order_gives_the_same_torques() -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(in_another_order(ARM, Q))
    assert list(series.index) != list(ARM.joint_names)
    assert np.array_equal(ARM.gravity_torque(series), ARM.gravity_torque(Q))


def test_rows_of_a_data_frame_are_the_batch() -> None:
    pandas = pytest.importorskip("pandas")
    states = np.random.default_rng(0).normal(size=(5, ARM.nq))
    frame = pandas.DataFrame(in_another_order(ARM, states), index=np.linspace(0, 1, 5))
    assert np.array_equal(ARM.gravity_torque(frame), ARM.gravity_torque(states))


def test_labels_of_a_data_array_decide() -> None:
    xarray = pytest.importorskip("xarray")
    states = np.random.default_rng(0).normal(size=(5, ARM.nq))
    array = xarray.DataArray(states[:, ::-1].T, dims=("joint", "time"), coords={"joint": list(ARM.joint_names)[::-1]})
    assert np.array_equal(ARM.gravity_torque(array), ARM.gravity_torque(states))


def test_a_message_has_a_field_for_each_quantity() -> None:
    names = list(ARM.joint_names)[::-1]
    state = message(name=names, position=Q[::-1].tolist(), velocity=QD[::-1].tolist(), effort=QDD[::-1].tolist())
    assert np.array_equal(ARM.bias(state, state), ARM.bias(Q, QD))
    assert np.array_equal(ARM.forward_dynamics(state, state, state), ARM.forward_dynamics(Q, QD, QDD))


def test_a_named_tuple_goes_by_its_fields() -> None:
    order = sorted(ARM.joint_names, reverse=True)
    Posture = namedtuple("Posture", order)
    posture = Posture(**in_another_order(ARM, Q))
    assert np.array_equal(ARM.gravity_torque(posture), ARM.gravity_torque(Q))


def test_a_structured_array_goes_by_its_fields() -> None:
    order = list(ARM.joint_names)[::-1]
    states = np.random.default_rng(0).normal(size=(5, ARM.nq))
    records = np.zeros(5, dtype=[(name, float) for name in order])
    for i, name in enumerate(ARM.joint_names):
        records[name] = states[:, i]
    assert np.array_equal(ARM.gravity_torque(records), ARM.gravity_torque(states))


def test_a_joint_of_several_coordinates_takes_a_list_or_components() -> None:
    q = FLOATING.random_state(np.random.default_rng(0))
    v = np.arange(FLOATING.nv) * 0.1
    by_joint = FLOATING.states.by_name(q)
    assert by_joint["floating_base"].shape == (7,)
    expected = FLOATING.bias(q, v)
    assert np.array_equal(FLOATING.bias(by_joint, FLOATING.states.by_name(v)), expected)
    assert np.array_equal(
        FLOATING.bias(in_another_order(FLOATING, q), in_another_order(FLOATING, v, "velocity")), expected
    )


def test_mimic_joints_follow_their_rule() -> None:
    q = np.append(Q, 0.02)
    given = dict(zip(HAND.joint_names, q, strict=True))
    expected = HAND.gravity_torque(q)
    assert np.array_equal(HAND.gravity_torque({**given, "panda_finger_joint2": 0.02}), expected)
    with pytest.raises(
        cr.ShapeError, match=r"'panda_finger_joint2' follows 'panda_finger_joint1', and has to be \[0.0"
    ):
        HAND.gravity_torque({**given, "panda_finger_joint2": 0.03})
    measured = {**given, "panda_finger_joint2": 0.0203}
    state = message(name=list(measured), position=list(measured.values()), effort=[*[0.0] * 8, 1.0])
    assert np.array_equal(HAND.gravity_torque(state), expected)
    with pytest.raises(cr.ShapeError, match="'panda_finger_joint2' follows 'panda_finger_joint1' and has no effort"):
        HAND.forward_dynamics(state, np.zeros(8), state)


# --- everywhere ---


def test_names_go_in_everywhere() -> None:
    goal, start = in_another_order(MIXED, np.array([0.4, 0.3, -0.1, 0.2])), np.zeros(4)
    plain = np.array([0.4, 0.3, -0.1, 0.2])
    gains = {"joint4": 1.0, "joint2": 30.0, "joint3": 100.0, "joint1": 50.0}
    ordered = np.array([50.0, 30.0, 100.0, 1.0])
    law, same = cr.PD(MIXED, goal, gains, gains), cr.PD(MIXED, plain, ordered, ordered)
    assert np.array_equal(law(0.0, start, start), same(0.0, start, start))
    options: Any = {"dt": 1e-3, "limits": False}
    motion = MIXED.simulate(goal, goal, 0.01, in_another_order(MIXED, ordered), **options)
    assert np.array_equal(motion.q, MIXED.simulate(plain, plain, 0.01, ordered, **options).q)
    motion = MIXED.simulate(goal, goal, 0.01, lambda t, q, qd: in_another_order(MIXED, ordered), **options)
    assert np.array_equal(motion.q[-1], MIXED.simulate(plain, plain, 0.01, lambda t, q, qd: ordered, **options).q[-1])
    table = {name: np.array([x, x]) for name, x in in_another_order(MIXED, ordered).items()}
    sampled = MIXED.simulate(goal, goal, 0.01, ([0.0, 1.0], table), **options)
    assert np.allclose(sampled.q, MIXED.simulate(plain, plain, 0.01, ordered, **options).q)
    sim = MIXED.simulation(goal, **options)
    sim.step(in_another_order(MIXED, ordered))
    other = MIXED.simulation(plain, **options)
    other.step(ordered)
    assert np.array_equal(sim.q, other.q)
    way = {name: np.array([0.0, x]) for name, x in goal.items()}
    assert np.array_equal(cr.plan(MIXED, way).waypoints, [start, plain])
    assert np.array_equal(cr.hold(goal, MIXED)(0.0)[0], plain)
    T = MIXED.pose(plain)
    assert np.allclose(MIXED.inverse_kinematics(T, goal, posture=goal).q, plain)
    assert np.array_equal(MIXED.difference(start, goal), plain)
    J = MIXED.analysis.resolved_rate(plain, np.zeros(6), null_velocity=in_another_order(MIXED, ordered))
    assert np.array_equal(J, MIXED.analysis.resolved_rate(plain, np.zeros(6), null_velocity=ordered))


def test_joints_are_locked_by_any_names() -> None:
    pandas = pytest.importorskip("pandas")
    positions = {"joint3": -0.05, "joint1": 0.3}
    assert MIXED.lock(pandas.Series(positions)) == MIXED.lock(positions)
    assert MIXED.lock(message(name=["joint1"], position=[0.3])) == MIXED.lock({"joint1": 0.3})


def test_pictures_take_names() -> None:
    pytest.importorskip("matplotlib")
    assert MIXED.plot(in_another_order(MIXED, np.array([0.4, 0.3, -0.1, 0.2]))) is not None


# --- robot.q and its kin ---


def test_unnamed_joints_are_neutral() -> None:
    assert np.array_equal(ARM.q(panda_joint4=-2.0), [0, 0, 0, -2.0, 0, 0, 0])
    assert np.array_equal(ARM.q(Q, {"panda_joint1": 1.0}, panda_joint4=-2.0)[[0, 1, 3]], [1.0, Q[1], -2.0])
    assert np.array_equal(ARM.q("neutral"), ARM.neutral())
    assert ARM.q(panda_joint4=[0.1, 0.2]).shape == (2, 7)
    q = FLOATING.q({"floating_base.z": 1.5}, joint2=0.3)
    assert q.tolist() == [0, 0, 1.5, 0, 0, 0, 1, 0, 0.3]
    assert FLOATING.q(floating_base=[0, 0, 1, 0, 0, 1, 0])[5] == 1.0
    assert FLOATING.qd({"floating_base.wz": 2.0}, joint1=1.0).tolist() == [0, 0, 2.0, 0, 0, 0, 1.0, 0]
    assert MIXED.tau(joint3=5.0).tolist() == [0, 0, 5.0, 0]


def test_by_name_and_back() -> None:
    states = FLOATING.random_state(np.random.default_rng(0), 3)
    assert np.array_equal(FLOATING.q(FLOATING.states.by_name(states)), states)
    assert FLOATING.states.by_name(np.arange(8.0))["joint2"] == 7.0
    assert type(ARM.states.by_name(Q)["panda_joint1"]) is float


# --- refused ---


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"joint1": 0.1}, "q lacks joint 'joint2'; name all of them, or fill the rest .* robot.q"),
        ({"joint1": 0.1, "joint3": 0.2, "joint2": 0.0}, "no joint named 'joint3'; did you mean 'joint"),
        ({"joint1": 0.1, 2: 0.2}, "has no joint named 2"),
        ({"joint1": 0.1, "joint2": [0.2, 0.3], "joint1x": 0}, "did you mean 'joint1'"),
        ({"joint1": [0.1, 0.1, 0.1], "joint2": [0.2, 0.3]}, "the batches of its joints do not fit together"),
        ({"joint1": "0.1", "joint2": 0.1}, "joint 'joint1' must be real numbers"),
        ({}, "q lacks joints 'joint1', 'joint2'"),
    ],
)
def test_wrong_names_are_refused(given: Any, text: str) -> None:
    with pytest.raises(cr.ChainruleError, match=text):
        cr.load("planar_2r").gravity_torque(given)


def test_missing_velocities_are_refused_with_advice() -> None:
    arm = cr.load("planar_2r")
    with pytest.raises(cr.ShapeError, match=r"qd lacks joint 'joint2'; .*zeros by robot.qd"):
        arm.bias([0.0, 0.0], {"joint1": 1.0})
    with pytest.raises(cr.ShapeError, match=r"tau lacks joint 'joint2'; .*zeros by robot.tau"):
        arm.forward_dynamics([0.0, 0.0], [0.0, 0.0], {"joint1": 1.0})


def test_components_given_twice_or_in_part_are_refused() -> None:
    base = FLOATING.neutral()[:7]
    with pytest.raises(cr.UnknownNameError, match=r"'floating_base' is given twice"):
        FLOATING.q({"floating_base.x": 0.1, "floating_base": base})
    given = {"joint1": 0.0, "joint2": 0.0, **{f"floating_base.{c}": 0.1 for c in ("x", "y", "qx", "qy", "qz", "qw")}}
    with pytest.raises(cr.ShapeError, match=r"q lacks joint 'floating_base.z'"):
        FLOATING.gravity_torque(given)
    with pytest.raises(cr.ShapeError, match=r"joint 'floating_base' must have 7 numbers .*x, y, z, qx, qy, qz, qw"):
        FLOATING.q(floating_base=[0, 0, 1])
    with pytest.raises(cr.ShapeError, match=r"the quaternion of joint 'floating_base' .* is zero"):
        FLOATING.q({"floating_base.qw": 0.0})


def test_fixed_joints_have_no_number() -> None:
    fixed = next(joint.name for joint in HAND.model.joints if joint.kind.nv == 0)
    with pytest.raises(cr.UnknownNameError, match=f"joint {fixed!r} is fixed, and has no number; leave it out"):
        HAND.q({fixed: 0.0})


def test_tables_without_names_are_refused() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(cr.ShapeError, match=r"Series whose index is not the names of joints but \[0, 1.*to_numpy"):
        cr.load("planar_2r").gravity_torque(pandas.Series([0.1, 0.2]))
    with pytest.raises(cr.ShapeError, match="DataFrame whose columns is not the names"):
        cr.load("planar_2r").gravity_torque(pandas.DataFrame([[0.1, 0.2]]))
    frame = pandas.DataFrame([[0.1, 0.2, 0.3]], columns=["joint1", "joint2", "joint1"])
    with pytest.raises(cr.UnknownNameError, match="joint 'joint1' is given twice"):
        cr.load("planar_2r").gravity_torque(frame)


def test_names_count_nowhere_by_place() -> None:
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    series = pandas.Series({"joint2": 1.0, "joint1": 2.0})
    with pytest.raises(cr.ShapeError, match="Samples: values takes numbers by their places"):
        cr.Samples([0.0, 1.0], pandas.DataFrame([series, series]))
    with pytest.raises(cr.ShapeError, match="gravity takes numbers by their places"):
        ARM.edit(gravity=xarray.DataArray([0, 0, 1.0], dims="axis", coords={"axis": ["z", "y", "x"]}))
    assert ARM.edit(gravity=xarray.DataArray([0, 0, 1.0], dims="axis")).gravity.tolist() == [0, 0, 1.0]


def test_data_arrays_need_labels_and_si_units() -> None:
    xarray = pytest.importorskip("xarray")
    arm = cr.load("planar_2r")
    with pytest.raises(cr.ShapeError, match=r"none of its dimensions .* has names of joints as labels"):
        arm.gravity_torque(xarray.DataArray([0.1, 0.2]))
    labels = {"joint": ["joint2", "joint1"]}
    degrees = xarray.DataArray([90.0, 45.0], dims="joint", coords=labels, attrs={"units": "deg"})
    with pytest.raises(cr.ShapeError, match="attribute 'units' is 'deg'; convert it to SI"):
        arm.gravity_torque(degrees)
    twice = xarray.DataArray(np.zeros((2, 2)), dims=("a", "b"), coords={"a": ["x", "y"], "b": labels["joint"]})
    with pytest.raises(cr.ShapeError, match="more than one of its dimensions"):
        arm.gravity_torque(twice)


def test_messages_that_lack_something_are_refused() -> None:
    names = list(ARM.joint_names)
    with pytest.raises(cr.ShapeError, match="qd is a SimpleNamespace without velocity"):
        ARM.bias(Q, message(name=names, position=Q.tolist()))
    with pytest.raises(cr.ShapeError, match="qdd is a SimpleNamespace without acceleration"):
        ARM.inverse_dynamics(Q, QD, message(name=names, position=Q.tolist()))
    with pytest.raises(cr.ShapeError, match="with 7 names and 6 numbers of position"):
        ARM.gravity_torque(message(name=names, position=Q[:6].tolist()))
    twice = [*HAND.joint_names, *(joint.name for joint in HAND.model.joints if joint.mimic)] * 2
    with pytest.raises(cr.UnknownNameError, match="is given twice"):
        HAND.gravity_torque(message(name=twice, position=[0.0] * len(twice)))
    mimic = next(joint.name for joint in HAND.model.joints if joint.mimic)
    with pytest.raises(cr.UnknownNameError, match=f"'{mimic}' is given twice"):
        HAND.gravity_torque(message(name=[*HAND.joint_names, mimic, mimic], position=[0.0] * (HAND.nq + 2)))
