"""The payload of a running robot, sample by sample."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

from .signals import ARM, curves

NOISE = 0.1


def run(estimator, real, start=0.0, count=800):
    """Feed a motion; the samples at which a change was flagged."""
    rng = np.random.default_rng(0)
    _, q, qd, qdd = curves(4)
    tau = real.inverse_dynamics(q, qd, qdd) + rng.normal(0, NOISE, q.shape)
    flagged = []
    for i in range(count):
        estimator(q[i], qd[i], qdd[i], tau[i])
        if estimator.changed:
            flagged.append(i)
    return flagged


def test_mass_and_center_of_a_payload_are_found_and_a_change_is_flagged():
    estimator = cr.PayloadEstimator(ARM, noise=NOISE, link="tip")
    assert run(estimator, ARM) == []
    assert abs(estimator.mass) < 0.02
    loaded = ARM.with_payload(0.8, (0.05, 0.02, 0.0), link="tip")
    flagged = run(estimator, loaded)
    assert flagged
    assert flagged[0] < 5
    assert len(flagged) < 5
    assert abs(estimator.mass - 0.8) < 0.05
    assert np.allclose(estimator.com, [0.05, 0.02, 0.0], atol=0.03)


def test_the_recursion_is_least_squares():
    loaded = ARM.with_payload(0.8, link="link2")
    _, q, qd, qdd = (x[:300] for x in curves(4))
    tau = loaded.inverse_dynamics(q, qd, qdd) + np.random.default_rng(0).normal(0, NOISE, q.shape)
    estimator = cr.PayloadEstimator(ARM, noise=[0.1, 0.2], link="link2", memory=100.0)
    for sample in zip(q, qd, qdd, tau, strict=True):
        found = estimator(*sample)
        assert not estimator.changed
    place = ARM.parameters.names.index("link2.mass")
    X = ARM.parameters.regressor(q, qd, qdd)[..., place : place + 4]
    weight = np.exp(-np.arange(299, -1, -1) / 100.0 / 2)[:, None] / [0.1, 0.2]
    A, c = (X * weight[..., None]).reshape(-1, 4), ((tau - ARM.inverse_dynamics(q, qd, qdd)) * weight).ravel()
    prior = np.diag(np.array([100.0, 50.0, 50.0, 50.0]) ** -2)
    assert np.allclose(found, np.linalg.solve(A.T @ A + prior, A.T @ c), atol=1e-9)
    estimator.reset()
    assert estimator.mass == 0.0


def test_wrong_arguments_are_named():
    with pytest.raises(cr.ShapeError, match="noise must be positive"):
        cr.PayloadEstimator(ARM, noise=0.0)
    with pytest.raises(cr.ShapeError, match="no joint moves"):
        cr.PayloadEstimator(ARM, noise=1.0, link=ARM.link_names[0])
    with pytest.raises(cr.ShapeError, match="2 numbers"):
        cr.PayloadEstimator(ARM, noise=1.0)([0.0], 0, 0, [0.0, 0.0])
    with pytest.raises(cr.ShapeError, match="memory"):
        cr.PayloadEstimator(ARM, noise=1.0, memory=-1.0)
