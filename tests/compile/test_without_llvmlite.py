"""A platform without a wheel of llvmlite: everything works, interpreted, and one warning says what is slow and why."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import chainrule as cr
from chainrule.cli import cli

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
    found["accelerations"] = panda.forward_dynamics(q, q, q).tolist()
    found["derivative"] = panda.inverse_dynamics_derivatives(q, q, q).dq.tolist()
    found["loaded"] = panda.at({"panda_link8.payload": [2.0, 0, 0, 0.1]}).gravity_torque(q[0]).tolist()
    found["solved"] = panda.inverse_kinematics(panda.pose(q), q[0]).success.tolist()
    found["equation"] = str(arm.equations().c[1])
    found["written"] = [path.name for path in arm.compiled.export("c", path=sys.argv[1])]
    try:
        panda.compiled.kernel("mass_matrix")
    except cr.MissingPackageError as error:
        found["kernel"] = str(error)
found["warnings"] = [(str(one.message), one.filename) for one in seen]
print(json.dumps(found))
"""


def run_without(program, *words):
    """What a program prints, and its warnings, where there is no llvmlite."""
    environment = {name: value for name, value in os.environ.items() if name != "CHAINRULE_KERNELS"}
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    place = tmp_path_factory.mktemp("exported") / "arm.c"
    return json.loads(run_without(PROGRAM, place)[0])


def test_numbers_are_those_of_the_reference_path(found):
    panda, arm = cr.load("panda").reference, cr.load("planar_2r").reference
    q = np.linspace(-0.5, 0.5, 21).reshape(3, 7)
    assert_allclose(found["batch"], panda.inverse_dynamics(q, q, q))
    assert_allclose(found["one"], panda.mass_matrix(q[0]))
    assert_allclose(found["PD"], arm.simulate([0.1, 0.2], None, 0.02, cr.PD(arm, [0.3, 0.4], 10.0, 1.0)).q)
    assert_allclose(found["traceable"], found["law"], atol=1e-14)
    assert_allclose(found["accelerations"], panda.forward_dynamics(q, q, q))
    assert_allclose(found["derivative"], panda.inverse_dynamics_derivatives(q, q, q).dq)
    loaded = panda.with_payload(2.0, com=(0, 0, 0.1))
    assert_allclose(found["loaded"], loaded.gravity_torque(q[0]), atol=1e-12)
    assert found["solved"] == [True, True, True]
    assert found["equation"] == "L_1*L_2*m_2*qdot_1**2*sin(q_2)"


def test_one_warning_says_what_is_slow_and_why(found):
    ((message, place),) = found["warnings"]
    assert "everything is interpreted" in message
    assert "a thousand times" in message
    assert "llvmlite, which makes machine code, cannot be imported" in message
    assert place == "<string>"  # the user's own line


def test_what_is_machine_code_itself_says_what_it_needs(found):
    assert "machine code for the CPU needs the package llvmlite" in found["kernel"]
    assert found["written"] == ["arm.c", "arm.h", "arm_main.c"]


SHOWN = """
import sys
sys.modules["llvmlite"] = None
import chainrule as cr
from chainrule.studio import open_studio

arm = cr.load("planar_2r")
motion = arm.simulate([0.1, 0.2], None, 0.02)
arm.plot(motion.q[::10], sys.argv[1] + "/arm.png")
motion.plot(sys.argv[1] + "/motion.png")
with open_studio(arm, port=0) as studio:
    print(studio.address)
"""

COMMANDS = """
import sys
sys.modules["llvmlite"] = None
from chainrule.cli import cli

cli(sys.argv[1:])
"""


def test_pictures_and_the_studio_are_there(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("viser")
    address, told = run_without(SHOWN, tmp_path)
    assert address.startswith("http://127.0.0.1:")
    assert told.count("everything is interpreted") == 1
    assert all((tmp_path / name).stat().st_size > 5_000 for name in ("arm.png", "motion.png"))


@pytest.mark.parametrize("words", [("torque", "planar_2r", "--q", "0,0", "--json"), ("info", "planar_2r", "--json")])
def test_commands_answer_as_with_it(words):
    found, told = run_without(COMMANDS, *words)
    assert json.loads(found) == json.loads(CliRunner().invoke(cli, words).stdout)
    assert told.count("everything is interpreted") <= 1


def test_about_says_that_it_is_missing():
    found, _ = run_without(COMMANDS, "about")
    assert re.search(r"^LLVM +not installed$", found, re.MULTILINE)
    assert re.search(r"^compiled kernels +off$", found, re.MULTILINE)
