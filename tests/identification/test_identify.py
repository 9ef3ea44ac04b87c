"""Robots from recordings: the truth is found, every result can exist, and what is wrong with a recording is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import chainrule as cr
from chainrule.identification.physical import nearest_physical
from chainrule.identification.streamed import OrthogonalSums, TriangularFactor
from chainrule.identification.unknowns import BASIS, UnknownBody, component, read_unknowns
from chainrule.spatial.physical import is_physical

from .signals import ARM, REAL, curves, recorded

FRICTION = [f"joint{k}.{number}" for k in (1, 2) for number in ("viscous", "coulomb", "coulomb_negative")]


def base_of(robot, parameters="all"):
    unknowns = read_unknowns(ARM, parameters)
    by_name = dict(zip(robot.parameters.names, robot.parameters.values, strict=True))
    return unknowns.base[1] @ [by_name[name] for name in unknowns.names]


def test_without_noise_the_truth_is_found():
    result = cr.identify(ARM, [recorded(noise=0.0)])
    found, true = result.base_values, base_of(REAL)
    assert np.allclose(found, true, atol=1e-4 * abs(true).max())
    _, q, qd, qdd = curves(5)
    assert np.allclose(result.robot.inverse_dynamics(q, qd, qdd), REAL.inverse_dynamics(q, qd, qdd), atol=1e-3)


def test_with_noise_and_outliers_the_truth_is_within_the_standard_deviations():
    def spoiled(tau):
        rng = np.random.default_rng(7)
        return np.where(rng.random(tau.shape) < 0.05, tau + rng.normal(0, 20, tau.shape), tau)

    result = cr.identify(ARM, [recorded(change=spoiled), recorded(seed=1, change=spoiled)], validate=recorded(seed=2))
    off = (result.base_values - base_of(REAL)) / result.base_standard_deviations
    assert np.sqrt((off**2).mean()) < 1.6
    assert abs(off).max() < 4.0
    assert (result.error < 1.1 * 0.05).all()
    assert (result.errors["original"] > 10 * result.error).all()
    assert np.allclose(result.errors["identified"], result.errors["least squares"], rtol=0.02)
    assert not result.outliers.any() or result.outliers.max() < 0.02  # of the motion left out, which has none


def test_standard_deviations_are_those_of_repeated_recordings():
    parameters = ["links", "friction"]

    def error(seed):
        noise = np.random.default_rng(seed).normal(0, 0.3, (1000, 2))
        result = cr.identify(ARM, [recorded(noise=0.0, change=lambda tau: tau + noise)], parameters=parameters)
        assert all(is_physical(link.spatial_inertia) for link in result.robot.model.links[1:])
        return (result.base_values - base_of(REAL, parameters)) / result.base_standard_deviations

    assert 0.85 < np.sqrt(np.mean(np.square([error(seed) for seed in range(30)]))) < 1.15


def test_what_no_motion_shows_stays_near_the_file_and_is_named():
    result = cr.identify(ARM, recorded())
    assert not result.identifiable["link1.Ixx"]
    assert np.isinf(result.standard_deviations["link1.Ixx"])
    assert result.identifiable["link2.mcx"]
    assert abs(result.parameters["link1.mcz"]) < 0.05
    assert "link1.mcx + link2.mass" in result.base_names
    assert np.allclose(np.diag(result.correlations), 1.0)
    assert "link2.mcx" in str(result)


def test_data_of_no_body_give_a_body():
    def impossible(tau):  # what least squares takes for a negative inertia of link 2
        _, _, _, qdd = curves(0)
        return tau - 0.6 * np.stack([qdd.sum(-1), qdd.sum(-1)], axis=-1)

    result = cr.identify(ARM, [recorded(change=impossible)], parameters=["link1", "link2"])
    for link in result.robot.model.links[1:3]:
        assert is_physical(link.spatial_inertia)
    pushed = cr.identify(REAL, [recorded(change=lambda tau: tau - 1.0 * curves(0)[2])], parameters=["friction"])
    assert all(pushed.parameters[name] >= 0 for name in FRICTION)


@pytest.mark.interpreted
def test_a_body_that_data_say_nothing_of_keeps_the_numbers_of_the_file():
    prior = np.diag([0.02, 0.03, 0.01, 2.0])
    body = UnknownBody(np.arange(10), np.arange(10), np.zeros((4, 4)), prior)
    found = nearest_physical(np.zeros((1, 10)), np.zeros(1), [body], np.array([], dtype=int), np.array([]), 0.01)
    assert np.allclose(np.tensordot(found, BASIS, 1), prior, atol=1e-5)
    assert np.allclose([component(prior, k) for k in range(10)], found, atol=1e-5)


@pytest.mark.interpreted
@pytest.mark.parametrize("rows", [3, 124, 1000, 5003])
def test_factors_of_blocks_are_those_of_all_rows(rows):
    A = np.random.default_rng(rows).normal(size=(rows, 7))
    factor = TriangularFactor(7)
    for start in range(0, rows, 313):
        factor.add(A[start : start + 313])
    assert np.allclose(factor.R.T @ factor.R, A.T @ A)
    assert factor.rows == rows


@pytest.mark.interpreted
def test_sums_of_products_have_the_digits_of_qr_where_columns_are_nearly_dependent():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5003, 6)) * [1.0, 1e3, 1.0, 1e-4, 1.0, 0.0]
    X[:, 4] = X[:, 0] + X[:, 2] + 1e-9 * rng.normal(size=len(X))  # the square of this is beyond float64
    y = X @ [1.0, 2.0, 3.0, 4.0, 5.0, 6.0] + 1e-3 * rng.normal(size=len(X))
    sums = OrthogonalSums(np.linalg.qr(X[:1000], mode="r"))
    for start in range(0, len(X), 313):
        sums.total += sums.products(X[start : start + 313], y[start : start + 313])
    F, R = sums.factor, np.linalg.qr(np.column_stack([X, y]), mode="r")
    own, theirs = (np.linalg.svd(factor[:, :5], compute_uv=False) for factor in (F, R))
    assert np.allclose(own, theirs, rtol=1e-6)
    assert np.allclose(F[:, 5], 0)
    assert np.allclose(
        F[:, :5] @ np.linalg.lstsq(R[:, :5], R[:, 6])[0], F[:, :5] @ np.linalg.lstsq(F[:, :5], F[:, 6])[0]
    )


def test_parts_links_and_single_numbers_are_found_while_the_rest_stays():
    near = REAL.edit(joints={"joint1": {"viscous": 0.9}})
    motion = recorded(near)
    result = cr.identify(REAL, motion, parameters="joint1.viscous")
    assert list(result.parameters) == ["joint1.viscous"]
    assert abs(result.parameters["joint1.viscous"] - 0.9) < 5 * result.standard_deviations["joint1.viscous"]
    assert result.robot.links["link1"].mass == REAL.links["link1"].mass
    assert len(cr.identify(REAL, motion, parameters="link2").parameters) == 10
    assert set(cr.identify(REAL, motion, parameters="joint1").parameters) == {"joint1.armature", *FRICTION[:3]}
    with pytest.raises(cr.UnknownNameError, match=r"did you mean 'link2\.mass'"):
        cr.identify(REAL, motion, parameters=["link2.maas"])


def test_a_payload_in_a_frame_is_weighed():
    loaded = REAL.with_payload(1.5, (0.05, 0.02, 0.0), (0.01, 0.01, 0.01), link="tip")
    result = cr.identify(REAL, recorded(loaded), parameters="tip.payload")
    assert abs(result.parameters["tip.payload.mass"] - 1.5) < 0.01
    assert abs(result.parameters["tip.payload.mcx"] - 0.075) < 0.01
    assert abs(result.robot.mass - loaded.mass) < 0.01
    with pytest.raises(cr.ShapeError, match="move as one"):
        cr.identify(REAL, recorded(loaded), parameters=["tip.payload", "link2"])


def test_gains_of_motors_are_found_from_currents_and_offsets_from_torques():
    motion = recorded(REAL, change=lambda tau: tau / [20.0, 11.0], noise=0.02)
    result = cr.identify(REAL, motion, parameters=["gains", "friction"])
    assert np.allclose([result.parameters["joint1.gain"], result.parameters["joint2.gain"]], [20, 11], rtol=2e-3)
    assert abs(result.parameters["joint1.viscous"] - 0.5) < 0.02
    assert np.allclose(result.torques(motion), motion.tau, atol=0.02)
    moved = recorded(REAL, change=lambda tau: tau + np.array([0.5, -0.3]))
    result = cr.identify(REAL, moved, parameters=["offsets"])
    assert np.allclose([*result.parameters.values()], [0.5, -0.3], atol=0.02)


def test_stribeck_speeds_are_found():
    real = REAL.edit(joints={"*": {"static": 0.7, "static_negative": 0.7, "stribeck": 0.2}})
    guess = REAL.edit(joints={"*": {"static": 0.5, "static_negative": 0.5, "stribeck": 0.8}})
    result = cr.identify(guess, recorded(real, duration=40.0, noise=0.02), parameters=["stribeck", "friction"])
    for name in ("joint1.stribeck", "joint2.stribeck"):
        assert abs(result.parameters[name] - 0.2) < 4 * result.standard_deviations[name]
    assert abs(result.robot.model.joints[1].dofs[0].stribeck - 0.2) < 0.05
    with pytest.raises(cr.ShapeError, match="no Stribeck friction"):
        cr.identify(REAL, recorded(real), parameters=["joint1.stribeck"])


def test_instruments_take_away_the_bias_of_noisy_velocities():
    t, q, qd, qdd = curves(3, 20.0)
    tau = REAL.inverse_dynamics(q, qd, qdd)
    noisy = q + np.random.default_rng(0).normal(0, 1e-3, q.shape)
    motion = cr.Trajectory.from_samples(ARM, t, noisy, tau=tau, degrees=False, smoothing="lowpass", cutoff=15.0)
    clean = cr.Trajectory.from_samples(ARM, t, q, tau=tau, degrees=False, smoothing=None)
    parameters = ["link1", "link2", "friction"]
    with _quiet():
        least = cr.identify(ARM, motion, parameters=parameters)
        instrumental = cr.identify(ARM, motion, parameters=parameters, instruments=clean)
    true = base_of(REAL, parameters)
    heavy = [least.base_names.index(name) for name in ("link1.Izz + link2.mass", "link2.Izz")]
    assert (abs(instrumental.base_values - true)[heavy] < 0.3 * abs(least.base_values - true)[heavy]).all()
    assert any("instrumental variables" in note for note in instrumental.notes)
    with pytest.raises(cr.ShapeError, match="resample"):
        cr.identify(ARM, motion, parameters=parameters, instruments=clean[:-5])


def test_instruments_are_simulated_under_the_controller_of_the_recording():
    t, q, qd, _ = curves(3, 20.0)
    target = cr.Trajectory.from_samples(ARM, t, q, smoothing=None, degrees=False).reference()
    law = cr.ComputedTorque(ARM, target, 100.0, 20.0)
    run = REAL.simulate(q[0], qd[0], 19.9, law).resample(t[:1990])
    noisy = run.q + np.random.default_rng(0).normal(0, 1e-3, run.q.shape)
    motion = cr.Trajectory.from_samples(
        ARM, run.t + 3.0, noisy, tau=run.tau, degrees=False, smoothing="lowpass", cutoff=15.0
    )
    options = {"parameters": ["link1", "link2", "friction"]}
    with _quiet():
        least = cr.identify(ARM, motion, **options)
        instrumental = cr.identify(ARM, motion, instruments="simulated", controller=law, **options)
        true = base_of(REAL, options["parameters"])
        heavy = [least.base_names.index(name) for name in ("link1.Izz + link2.mass", "link2.Izz")]
        assert (abs(instrumental.base_values - true)[heavy] < 0.3 * abs(least.base_values - true)[heavy]).all()
        with pytest.raises(cr.ShapeError, match=r"does not follow motions\[0\]"):
            cr.identify(ARM, motion, instruments="simulated", controller=np.zeros(2), **options)
        with pytest.raises(cr.ShapeError, match="needs controller"):
            cr.identify(ARM, motion, instruments="simulated", **options)
    with pytest.raises(cr.ShapeError, match="goes with instruments"):
        cr.identify(ARM, motion, controller=law, **options)


def _quiet():
    import warnings

    return warnings.catch_warnings(action="ignore")


def test_files_are_read_one_after_the_other(tmp_path):
    motions = [recorded(seed=k) for k in range(3)]
    for k, motion in enumerate(motions):
        motion.save(tmp_path / f"{k}.npz")
    of_files = cr.identify(ARM, [tmp_path / f"{k}.npz" for k in range(3)])
    assert np.array_equal(of_files.base_values, cr.identify(ARM, motions).base_values)


def test_more_samples_than_are_looked_at_for_outliers_all_count(monkeypatch):
    motions = [recorded(seed=k, noise=0.5) for k in range(4)]
    whole = cr.identify(ARM, motions)
    monkeypatch.setattr("chainrule.identification.recordings.MAX_SAMPLED", 1500)
    streamed = cr.identify(ARM, motions)
    assert (abs(streamed.base_values - whole.base_values) < 0.5 * whole.base_standard_deviations).all()


def test_torques_in_other_units_and_with_another_sign_are_refused():
    with pytest.raises(cr.ShapeError, match=r"'joint1', 'joint2' are about .* times .* another unit than N m"):
        cr.identify(ARM, recorded(change=lambda tau: 1000 * tau))
    with pytest.raises(cr.ShapeError, match="'joint2' have the opposite sign"):
        cr.identify(ARM, recorded(change=lambda tau: tau * [1, -1]))


def test_clipped_torques_are_left_out_with_a_warning():
    motion = recorded(change=lambda tau: np.clip(tau, -8.0, 8.0))
    with pytest.warns(cr.MotionWarning, match="'joint1'.* were clipped"):
        result = cr.identify(ARM, motion)
    assert abs(result.robot.inverse_dynamics([0.3, 0.1]) - REAL.inverse_dynamics([0.3, 0.1])).max() < 2.0


def test_a_joint_that_stands_still_is_named():
    t, q, qd, qdd = curves()
    q, qd, qdd = q * [0, 1] + [0.3, 0], qd * [0, 1], qdd * [0, 1]
    tau = REAL.inverse_dynamics(q, qd, qdd) + np.random.default_rng(0).normal(0, 0.05, q.shape)
    motion = cr.Trajectory.from_samples(ARM, t, q, tau=tau, smoothing=None, degrees=False)
    with pytest.warns(cr.MotionWarning, match="'joint1' stand still.*do not show"):
        result = cr.identify(ARM, motion)
    assert not result.identifiable["joint1.viscous"]


def test_recordings_of_two_robots_are_told_apart():
    other = REAL.with_payload(1.0, (0.0, 0.0, 0.0))
    with pytest.warns(cr.MotionWarning, match=r"one robot does not explain all motions.*in motions\["):
        cr.identify(ARM, [recorded(REAL), recorded(other, seed=1)])
    third = cr.load("planar_3r")
    foreign = cr.Trajectory.from_samples(third, 0.01, np.zeros((50, 3)), tau=np.zeros((50, 3)), degrees=False)
    with pytest.raises(cr.ShapeError, match=r"motions\[1\] is a motion of robot 'planar_3r'"):
        cr.identify(ARM, [recorded(), foreign])


def test_samples_at_gaps_in_time_do_not_count():
    motion = recorded(smoothing="spline")
    t = motion.t.copy()
    t[500:] += 3.0
    result = cr.identify(REAL, [replace(motion, t=t)], parameters="friction")
    used = float(result.notes[0].split("whose torques ")[1].split("%")[0])
    whole = float(cr.identify(REAL, [motion], parameters="friction").notes[0].split("whose torques ")[1].split("%")[0])
    assert used < whole - 1.0


def test_motions_without_measured_torques_are_refused():
    t, q, *_ = curves()
    with pytest.raises(cr.ShapeError, match="no measured torques"):
        cr.identify(ARM, cr.Trajectory.from_samples(ARM, t, q, smoothing=None))
    with pytest.raises(cr.ShapeError, match="in a list"):
        cr.identify(ARM, 3)
    with pytest.raises(cr.ShapeError, match="holds no motion"):
        cr.identify(ARM, [])
    with pytest.raises(cr.ShapeError, match=r"motions\[0\] must be a Trajectory"):
        cr.identify(ARM, [3])
