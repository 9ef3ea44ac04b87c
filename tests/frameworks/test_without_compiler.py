"""Machines that have a framework and little else, as nodes of a cluster: robots load and functions work there."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import chainrule as cr

ABSENT = ("llvmlite", "casadi", "lxml", "click", "rich", "cupy", "matplotlib")

PROGRAM = f"""
import json, sys, warnings
for name in {ABSENT}:
    sys.modules[name] = None
import jax, jax.numpy as jnp
import chainrule as cr
panda = cr.load("panda")
x = jnp.linspace(-1, 1, 14).reshape(2, 7)
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    torques = panda.jax.inverse_dynamics(x, x, x)
    slopes = jax.grad(lambda q: panda.jax.potential_energy(q).sum())(x)
    plain = panda.gravity_torque([0.1] * 7)
print(json.dumps([torques.tolist(), slopes.tolist(), plain.tolist(), [str(one.message) for one in seen]]))
"""


def test_jax_without_a_compiler():
    pytest.importorskip("jax")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    torques, slopes, plain, messages = json.loads(done.stdout)
    panda, x = cr.load("panda").reference, np.linspace(-1, 1, 14).reshape(2, 7)
    np.testing.assert_allclose(torques, panda.inverse_dynamics(x, x, x), atol=1e-4)
    np.testing.assert_allclose(slopes, panda.gravity_torque(x), atol=1e-4)
    np.testing.assert_allclose(plain, panda.gravity_torque([0.1] * 7), atol=1e-12)
    assert len([text for text in messages if "everything is interpreted" in text]) == 1
