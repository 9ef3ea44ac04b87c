"""A platform without a wheel of llvmlite: everything works, interpreted, and one warning says what is slow and why."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import chainrule as cr

pytestmark = pytest.mark.interpreted

PROGRAM = """
import json, sys, warnings
sys.modules["llvmlite"] = None
import numpy as np
import chainrule as cr

found = {}
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    arm, panda = cr.load("planar_2r"), cr.load("panda")
    q = np.linspace(-0.5, 0.5, 21).reshape(3, 7)
    found["batch"] = panda.inverse_dynamics(q, q, q).tolist()
    found["one"] = panda.mass_matrix(q[0]).tolist()
    found["PD"] = arm.simulate([0.1, 0.2], None, 0.02, cr.PD(arm, [0.3, 0.4], 10.0, 1.0)).q.tolist()
    law = lambda t, q, qd: -np.clip(3 * q, -0.5, 0.5)
    found["traceable"] = arm.simulate([0.1, 0.2], None, 0.02, cr.traceable(law)).q.tolist()
    found["law"] = arm.simulate([0.1, 0.2], None, 0.02, law).q.tolist()
    found["solved"] = bool(panda.inverse_kinematics(panda.pose(q[1]), q[0]).success)
    found["written"] = [path.name for path in arm.compiled.export("c", path=sys.argv[1])]
    try:
        panda.compiled.kernel("mass_matrix")
    except cr.MissingPackageError as error:
        found["kernel"] = str(error)
found["warnings"] = [(str(one.message), one.filename) for one in seen]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    place = tmp_path_factory.mktemp("exported") / "arm.c"
    environment = {name: value for name, value in os.environ.items() if name != "CHAINRULE_KERNELS"}
    command = [sys.executable, "-c", PROGRAM, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(done.stdout)


def test_numbers_are_those_of_the_reference_path(found):
    panda, arm = cr.load("panda").reference, cr.load("planar_2r").reference
    q = np.linspace(-0.5, 0.5, 21).reshape(3, 7)
    assert_allclose(found["batch"], panda.inverse_dynamics(q, q, q))
    assert_allclose(found["one"], panda.mass_matrix(q[0]))
    assert_allclose(found["PD"], arm.simulate([0.1, 0.2], None, 0.02, cr.PD(arm, [0.3, 0.4], 10.0, 1.0)).q)
    assert_allclose(found["traceable"], found["law"], atol=1e-14)
    assert found["solved"]


def test_one_warning_says_what_is_slow_and_why(found):
    ((message, place),) = found["warnings"]
    assert "everything is interpreted" in message
    assert "a thousand times" in message
    assert "llvmlite, which makes machine code, cannot be imported" in message
    assert place == "<string>"  # the user's own line


def test_what_is_machine_code_itself_says_what_it_needs(found):
    assert "machine code for the CPU needs the package llvmlite" in found["kernel"]
    assert found["written"] == ["arm.c", "arm.h", "arm_main.c"]
