"""Closed forms of random robots against their functions: turned origins, branches, frames, equal numbers."""

import numpy as np
import pytest

from chainrule.core.derived import merged_model
from chainrule.functions import reference

from .robots import random_tree

pytestmark = pytest.mark.interpreted


SEEDS = [*range(10), 116, 232]


@pytest.mark.parametrize("seed", SEEDS)
def test_equations_and_base_parameters(seed):
    robot = random_tree(seed)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.nv))
    state = {"M": (q,), "g": (q,), "tau": (q, qd, qdd)}
    functions = {"M": "mass_matrix", "g": "gravity_torque", "tau": "inverse_dynamics"}
    own = robot.equations()
    for form in (own, own.in_base_parameters()):
        for term, arguments in state.items():
            expected = reference.evaluate(merged_model(robot), functions[term], list(arguments))
            found = form.lambdify(term)(q, qd, qdd).reshape(expected.shape)
            np.testing.assert_allclose(found, expected, atol=1e-10 * max(1, np.abs(expected).max()), err_msg=term)
    assert len({str(s) for s in own.parameters}) == len(own.parameters)


@pytest.mark.parametrize("seed", SEEDS)
def test_poses_and_jacobians_of_frames(seed):
    robot = random_tree(seed)
    q = np.random.default_rng(seed).uniform(-2, 2, robot.nv)
    for frame in robot.model.frames:
        closed = robot.kinematic_equations(frame.name, frame="space")
        values = {**dict(zip(closed.q, q, strict=True)), **closed.parameters}
        for matrix, function in ((closed.T, "pose"), (closed.J, "jacobian")):
            options = {"link": frame.name} | ({"frame": "space"} if function == "jacobian" else {})
            expected = reference.evaluate(merged_model(robot), function, [q], **options)
            np.testing.assert_allclose(np.array(matrix.subs(values).evalf(), float), expected, atol=1e-10)
