"""Kernels with parameters: one for a family of robots."""

import numpy as np
import pytest

import chainrule as cr
from chainrule.core.evaluation import evaluate
from compile.support import PANDA, QD, QDD, Q, close


def test_a_kernel_with_parameters_serves_a_family_of_robots():
    kernel = PANDA.compiled.kernel(
        "inverse_dynamics", parameters=["gravity", "panda_link8.payload", "panda_link3.inertial"]
    )
    assert kernel.signature == "(7),(7),(7),(3),(10),(10)->(7)"
    mass, com, inertia = 1.5, (0.1, 0.0, 0.2), (0.02, 0.03, 0.04, 0.001, 0.0, 0.002)
    link = PANDA.model.links[3]
    own = [link.mass, *link.com, *link.inertia.entries()]
    gravity = np.array([[0.0, 0.0, -9.81], [1.0, 2.0, -1.6]])
    tau = kernel(Q[0], QD[0], QDD[0], gravity, [mass, *com, *inertia], own)
    for g, ours in zip(gravity, tau, strict=True):
        family = PANDA.with_payload(mass, com, inertia).edit(gravity=g).reference
        close(ours, family.inverse_dynamics(Q[0], QD[0], QDD[0]), 1e-11)
    light = kernel(Q[0], QD[0], QDD[0], gravity[0], np.zeros(10), np.zeros(10))
    assert not np.allclose(light, tau[0])
    for wrong, message in ((["*.mass"], "is written 'LINK.mass'"), ("gravity", "must be a list of names")):
        with pytest.raises(cr.ShapeError, match=message):
            PANDA.compiled.kernel("mass_matrix", parameters=wrong)
    with pytest.raises(cr.UnknownNameError, match="did you mean"):
        PANDA.compiled.kernel("mass_matrix", parameters=["panda_link33.inertial"])


def test_a_kernel_is_kept_by_the_names_of_its_parameters():
    kernel = PANDA.compiled.kernel("gravity_torque", parameters=["gravity"])
    assert PANDA.compiled.kernel("gravity_torque", parameters=("gravity",)) is kernel
    assert PANDA.compiled.kernel("gravity_torque", parameters=["panda_link8.payload"]) is not kernel
    assert PANDA.compiled.kernel("gravity_torque") is not kernel


def test_links_on_fixed_joints_are_no_part_of_the_answer():
    given = {"panda_link8.payload": np.zeros(10)}
    close(
        evaluate(PANDA, "textbook.newton_euler", q=Q[0], qd=QD[0], qdd=QDD[0], parameters=given),
        evaluate(PANDA, "textbook.newton_euler", q=Q[0], qd=QD[0], qdd=QDD[0]),
    )
