"""Kernels with parameters: one for a family of robots."""

import numpy as np
import pytest

import chainrule as cr
from compile.support import PANDA, QD, QDD, Q, close


def test_a_kernel_with_parameters_serves_a_family_of_robots():
    kernel = PANDA.kernel("inverse_dynamics", parameters=["gravity", "payload:panda_link8", "link:panda_link3"])
    assert kernel.signature == "(7),(7),(7),(3),(10),(10)->(7)"
    mass, com, inertia = 1.5, (0.1, 0.0, 0.2), (0.02, 0.03, 0.04, 0.001, 0.0, 0.002)
    link = PANDA.model.links[3]
    own = [link.mass, *link.com, *link.inertia.entries()]
    gravity = np.array([[0.0, 0.0, -9.81], [1.0, 2.0, -1.6]])
    tau = kernel(Q[0], QD[0], QDD[0], gravity, [mass, *com, *inertia], own)
    for g, ours in zip(gravity, tau, strict=True):
        family = PANDA.with_payload(mass, com, inertia).with_gravity(g).reference
        close(ours, family.inverse_dynamics(Q[0], QD[0], QDD[0]), 1e-11)
    light = kernel(Q[0], QD[0], QDD[0], gravity[0], np.zeros(10), np.zeros(10))
    assert not np.allclose(light, tau[0])
    for wrong, message in ((["mass"], "is written 'mass:LINK'"), ("gravity", "must be a list of names")):
        with pytest.raises(cr.ShapeError, match=message):
            PANDA.kernel("mass_matrix", parameters=wrong)
    with pytest.raises(cr.UnknownNameError, match="did you mean"):
        PANDA.kernel("mass_matrix", parameters=["link:panda_link33"])


def test_a_kernel_is_kept_by_the_names_of_its_parameters():
    kernel = PANDA.kernel("gravity_torque", parameters=["gravity"])
    assert PANDA.kernel("gravity_torque", parameters=("gravity",)) is kernel
    assert PANDA.kernel("gravity_torque", parameters=["payload:panda_link8"]) is not kernel
    assert PANDA.kernel("gravity_torque") is not kernel


def test_links_on_fixed_joints_are_no_part_of_the_answer():
    given = {"payload:panda_link8": np.zeros(10)}
    close(
        PANDA.evaluate("newton_euler", q=Q[0], qd=QD[0], qdd=QDD[0], parameters=given),
        PANDA.evaluate("newton_euler", q=Q[0], qd=QD[0], qdd=QDD[0]),
    )
