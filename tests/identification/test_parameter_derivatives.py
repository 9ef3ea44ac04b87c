"""Derivatives with respect to numbers of the robot: against differences of robots that have other numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from trees import state

import chainrule as cr
from chainrule.model.parameters import KINDS, own_values, put_parameters

ARM = (
    cr.load("planar_3r")
    .with_frame("tool", np.eye(4), link="link3")
    .edit(joints={"*": {"viscous": 0.3, "coulomb": 0.2, "static": 0.5, "stribeck": 0.4}})
    .edit(joints={"*": {"stiffness": 5.0, "rest": 0.2, "rotor": 0.01, "gear": 3.0}})
)
OWNERS = {"length": "link1", "payload": "link3"} | dict.fromkeys(("inertial", "mass", "com", "inertia"), "link2")
NAMES = ["gravity" if kind == "gravity" else f"{OWNERS.get(kind, 'joint2')}.{kind}" for kind in KINDS]
"""A parameter of each kind."""


def differences(robot, f, name, step=1e-5):
    """Derivatives of f of a robot by the numbers of a parameter, last: central differences."""
    own = np.array([float(x) for x in own_values(robot.model, name)])

    def value(k, sign):
        numbers = own + sign * step * np.eye(len(own))[k]
        return f(cr.Robot(put_parameters(robot.model, [name], [numbers.tolist()])).reference)

    found = np.stack([value(k, 1) - value(k, -1) for k in range(len(own))], axis=-1) / (2 * step)
    return found if len(own) > 1 else found[..., 0]


@pytest.mark.parametrize("name", NAMES)
def test_torques_by_every_kind_of_parameter(name):
    q, qd, qdd = state(ARM, 1, (2,))
    given = {"q": q, "qd": qd, "qdd": qdd}
    found = ARM.reference.derivatives.by_parameters("inverse_dynamics", [name], given)[name]
    expected = differences(ARM, lambda robot: robot.inverse_dynamics(q, qd, qdd), name)
    assert_allclose(found, expected, atol=1e-7 * (1 + np.abs(expected).max()))
    assert np.abs(expected).max() > 0


def test_the_models_own_numbers_make_the_same_robot():
    for name in NAMES:
        same = cr.Robot(put_parameters(ARM.model, [name], [own_values(ARM.model, name)]))
        q, qd, qdd = state(ARM, 2)
        assert_allclose(same.reference.inverse_dynamics(q, qd, qdd), ARM.reference.inverse_dynamics(q, qd, qdd))


def test_several_parameters_of_several_functions_on_a_batch():
    robot = ARM.reference
    q, qd, _ = state(robot, 3, (2, 3))
    names = ["link1.length", "gravity", "joint3.origin"]
    for function, given, shape, f in (
        ("pose", {"q": q}, (4, 4), lambda r: r.pose(q)),
        ("jacobian", [q], (6, 3), lambda r: r.jacobian(q)),
        ("kinetic_energy", [q, qd], (), lambda r: r.kinetic_energy(q, qd)),
        ("potential_energy", [q], (), lambda r: r.potential_energy(q)),
        ("center_of_mass", [q], (3,), lambda r: r.center_of_mass(q)),
        ("mass_matrix", [q], (3, 3), lambda r: r.mass_matrix(q)),
    ):
        chosen = names if function != "pose" else names[:2]
        found = robot.derivatives.by_parameters(function, chosen, given)
        assert list(found) == chosen
        for name in chosen:
            assert found[name].shape == ((2, 3, *shape) if name == "link1.length" else (2, 3, *shape, 3))
            expected = differences(robot, f, name)
            assert_allclose(found[name], expected, atol=1e-7 * (1 + np.abs(expected).max()))


def test_other_numbers_than_the_robots_own():
    robot = cr.load("planar_2r").reference
    q = [0.3, 0.4]
    heavier = robot.edit(gravity=(0.0, -3.0, 0.0))
    by_mass = robot.derivatives.by_parameters("gravity_torque", {"gravity": [0.0, -3.0, 0.0], "link2.mass": 1.0}, [q])
    assert_allclose(
        by_mass["link2.mass"],
        heavier.reference.derivatives.by_parameters("gravity_torque", ["link2.mass"], [q])["link2.mass"],
    )


def test_compiled_and_with_wrenches():
    robot = cr.load("planar_2r")
    q, qd, qdd = state(robot, 4, (3,))
    given = {"q": q, "qd": qd, "qdd": qdd, "tip_wrench": [0.0, 0.0, 1.0, 2.0, 3.0, 0.0]}
    for name in ("link2.length", "joint2.origin"):
        ours, theirs = (
            r.derivatives.by_parameters("inverse_dynamics", [name], given)[name] for r in (robot, robot.reference)
        )
        assert_allclose(ours, theirs, atol=1e-11)
    one = robot.derivatives.by_parameters(
        "inverse_dynamics", ["link2.length"], {k: v if k == "tip_wrench" else v[0] for k, v in given.items()}
    )
    assert one["link2.length"].shape == (2,)


def test_wrong_requests_are_refused():
    arm = cr.load("planar_2r")
    with pytest.raises(cr.ShapeError, match="parameters names none"):
        arm.derivatives.by_parameters("gravity_torque", [], [[0.0, 0.0]])
    with pytest.raises(cr.ShapeError, match=r"arguments of gravity_torque must be a dictionary, or a list of 'q'"):
        arm.derivatives.by_parameters("gravity_torque", ["gravity"], 3.0)
    with pytest.raises(cr.UnknownNameError, match="did you mean 'link2'"):
        arm.derivatives.by_parameters("gravity_torque", ["link22.mass"], [[0.0, 0.0]])
    with pytest.raises(cr.UnknownNameError, match="no function named 'gravity_torq'"):
        arm.derivatives.by_parameters("gravity_torq", ["gravity"], [[0.0, 0.0]])
