"""Simulations of Dask arrays: nothing is computed before it is asked for, and then the same as without Dask."""

import pickle

import numpy as np
import pytest
from simulation.motions import body

import chainrule as cr
from chainrule.core.reading import find_link
from chainrule.model.joints import Free
from chainrule.simulation.columns import COLUMNS

da = pytest.importorskip("dask.array", reason="Dask is not installed")

STEPS = {"duration": 0.05, "dt": 1e-2}


@pytest.fixture(scope="module")
def arm():
    return cr.load("planar_2r").reference


def starts(rows, n=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.5, 0.5, (rows, n)), rng.normal(0.0, 0.5, (rows, n))


def assert_same(lazy, motion):
    computed = lazy.compute(scheduler="synchronous")
    np.testing.assert_array_equal(lazy.t, motion.t)
    for name in COLUMNS:
        array = getattr(lazy, name)
        assert array.shape == getattr(motion, name).shape == getattr(computed, name).shape, name
        assert array.dtype == float
        np.testing.assert_array_equal(getattr(computed, name), getattr(motion, name), err_msg=name)
    assert (computed.method, computed.status) == (motion.method, motion.status)
    assert computed.parameters.keys() == motion.parameters.keys()
    for name, numbers in motion.parameters.items():
        np.testing.assert_array_equal(computed.parameters[name], numbers)
    np.testing.assert_array_equal(computed.energy, motion.energy)


@pytest.mark.parametrize("chunks", [1, 3, (2, 5), 7])
def test_any_chunks_give_the_motions_of_the_batch(arm, chunks):
    q0, qd0 = starts(7)
    lazy = arm.simulate(da.from_array(q0, chunks=(chunks, -1)), qd0, **STEPS)
    assert repr(lazy) == "<LazyTrajectory of (7,) motions of 'planar_2r': 6 samples, rk4, not computed>"
    assert lazy.q.chunks[1:] == ((6,), (2,))
    assert_same(lazy, arm.simulate(q0, qd0, **STEPS))


def test_compiled_rows_do_not_depend_on_their_neighbors():
    arm = cr.load("planar_2r")
    q0, qd0 = starts(37)
    lazy = arm.simulate(da.from_array(q0, chunks=(5, 1)), da.from_array(qd0, chunks=(11, 2)), **STEPS)
    assert_same(lazy, arm.simulate(q0, qd0, **STEPS))


def test_nothing_is_computed_and_each_chunk_once(arm, monkeypatch):
    from chainrule.simulation import dask_batches

    calls = []
    run = dask_batches.run_request
    monkeypatch.setattr(dask_batches, "run_request", lambda request: calls.append(request) or run(request))
    q0 = da.from_array(starts(6)[0], chunks=(2, -1))
    asked = q0.map_blocks(lambda x: calls.append("start") or x, dtype=float, meta=np.zeros((0, 2)))
    lazy = arm.simulate(asked, **STEPS)
    sums = lazy.energy.sum(), lazy.power.max(), lazy.kinetic_energy.min(), lazy.potential_energy.min()
    assert not calls
    lazy.compute(scheduler="synchronous")
    assert len([call for call in calls if call != "start"]) == 3
    calls.clear()
    da.compute(*sums, lazy.q, scheduler="synchronous")
    assert len([call for call in calls if call != "start"]) == 3


def test_torques_gains_and_masses_differ_from_row_to_row(arm):
    q0, qd0 = starts(5)
    lazy_q0 = da.from_array(q0, chunks=(2, -1))
    torque, mass = np.linspace(0, 1, 10).reshape(5, 2), np.linspace(0.1, 2, 5)[:, None]
    payload = {f"{find_link(arm)}.payload": mass}
    lazy_payload = {name: da.from_array(x, chunks=(3, 1)) for name, x in payload.items()}
    motion = arm.at(payload).simulate(q0, qd0, torque=torque, **STEPS)
    for given in (torque, torque.tolist(), da.from_array(torque, chunks=(4, 1))):
        assert_same(arm.at(payload).simulate(lazy_q0, qd0, torque=given, **STEPS), motion)
    assert_same(arm.at(lazy_payload).simulate(q0, qd0, torque=torque, **STEPS), motion)
    law = cr.PID(arm, [0.1, 0.2], kp=np.linspace(5, 50, 10).reshape(5, 2), ki=3.0, kd=2.0)
    for value in (law, cr.Sampled(law, 0.02), cr.PD(arm, [0.1, 0.2], kp=5.0, kd=1.0), lambda t, q, qd: -2 * qd):
        assert_same(arm.simulate(lazy_q0, qd0, torque=value, **STEPS), arm.simulate(q0, qd0, torque=value, **STEPS))


def test_one_mass_of_a_sweep_makes_the_batch(arm):
    mass = np.linspace(0.1, 2, 4)[:, None]
    name = f"{find_link(arm)}.payload"
    lazy = arm.at({name: da.from_array(mass, chunks=(3, 1))}).simulate([0.3, 0.1], **STEPS)
    assert_same(lazy, arm.at({name: mass}).simulate([0.3, 0.1], **STEPS))
    np.testing.assert_array_equal(lazy.energy.compute(), lazy.compute().energy)


def test_batches_of_two_dimensions_and_of_none(arm):
    q0 = np.random.default_rng(3).uniform(-0.5, 0.5, (3, 4, 2))
    qd0 = np.random.default_rng(4).uniform(-0.5, 0.5, (4, 2))
    lazy = arm.simulate(da.from_array(q0, chunks=(2, 3, 2)), qd0, **STEPS)
    assert_same(lazy, arm.simulate(q0, qd0, **STEPS))
    assert_same(arm.simulate(da.from_array(q0[0, 0]), qd0[0], **STEPS), arm.simulate(q0[0, 0], qd0[0], **STEPS))


@pytest.mark.parametrize(
    "options",
    [
        {"record": 3},
        {"duration": 0.057, "record": 2},
        {"integrator": "implicit_midpoint", "duration": 0.057, "record": 2},
        {"integrator": "dop853", "duration": 0.057, "record": 2},
        {"integrator": "semi_implicit_euler", "stops": cr.Stops(100.0, 1.0)},
    ],
)
def test_every_method_has_its_samples(arm, options):
    q0, qd0 = starts(3)
    given = {**STEPS, **options}
    assert_same(arm.simulate(da.from_array(q0, chunks=(2, 2)), qd0, **given), arm.simulate(q0, qd0, **given))


@pytest.mark.parametrize("kind", ["closed loop", "floating base", "dry friction"])
def test_every_kind_of_robot(kind):
    arm = cr.load("planar_2r").reference
    robot = {
        "closed loop": cr.load("four_bar").reference,
        "floating base": body(Free()).reference,
        "dry friction": arm.edit(joints={"*": {"coulomb": 0.5}}),
    }[kind]
    q0 = np.tile(robot.home(), (3, 1))
    qd0 = 0.1 * np.ones((3, robot.nv)) * np.arange(3)[:, None]
    if robot.model.constraints:
        qd0 = robot.loops.consistent_velocity(q0, qd0)
    lazy = robot.simulate(da.from_array(q0, chunks=(2, -1)), qd0, 0.02, dt=1e-2)
    assert_same(lazy, robot.simulate(q0, qd0, 0.02, dt=1e-2))


def test_errors_name_the_row_of_the_whole_batch(arm):
    q0, _ = starts(6)
    q0[4, 1] = 99.0
    limited = arm.edit(joints={"*": {"lower": -3.0, "upper": 3.0}})
    lazy = limited.simulate(da.from_array(q0, chunks=(3, 2)), **STEPS)
    with pytest.raises(cr.ShapeError, match=r"in row \(4,\), outside its limits"):
        lazy.q.compute(scheduler="synchronous")
    gains = np.full((6, 2), 1.0)
    gains[5] = 1e9
    wild = cr.PD(arm, [0.0, 0.0], kp=gains, kd=0.0)
    with pytest.raises(cr.SimulationError, match=r"diverges at about .*, row \(5,\), joint") as caught:
        arm.simulate(da.from_array(starts(6)[0], chunks=(4, 2)), torque=wild, **{**STEPS, "duration": 0.3}).compute(
            scheduler="synchronous"
        )
    assert caught.value.trajectory.batch == (2,)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_rows_that_diverge_can_be_kept(arm):
    gains = np.full((6, 2), 1.0)
    gains[4:] = 1e9
    wild, q0 = cr.PD(arm, [0.0, 0.0], kp=gains, kd=0.0), starts(6)[0]
    given = {**STEPS, "duration": 0.3, "torque": wild, "diverged": "keep"}
    lazy, motion = arm.simulate(da.from_array(q0, chunks=(2, 2)), **given), arm.simulate(q0, **given)
    computed = lazy.compute(scheduler="synchronous")
    np.testing.assert_array_equal(computed.q[:4], motion.q[:4])
    assert not np.isfinite(computed.qd[4:, -1]).any()
    assert computed.status == "finished"


def test_statistics_reduce_dask_arrays_chunk_by_chunk(arm):
    q0, qd0 = starts(9)
    lazy, motion = arm.simulate(da.from_array(q0, chunks=(2, 2)), qd0, **STEPS), arm.simulate(q0, qd0, **STEPS)
    found, expected = cr.Statistics.of(lazy.qd, names=arm.velocity_names), cr.Statistics.of(motion.qd)
    assert found.names == tuple(arm.velocity_names)
    for name, array in expected.arrays().items():
        if name in ("mean", "squares"):
            np.testing.assert_allclose(found.arrays()[name], array, rtol=1e-12, atol=1e-15)
        elif name != "names":
            np.testing.assert_array_equal(found.arrays()[name], array)
    numbered = cr.Statistics.of(lazy.q, where=np.arange(100, 109))
    assert numbered.maximum_row.min() >= 100


def test_a_cluster_simulates_them(client, arm):
    q0, qd0 = starts(8)
    with client.as_current():
        lazy = arm.simulate(da.from_array(q0, chunks=(3, 2)), qd0, **STEPS)
        tau, q = da.compute(lazy.tau, lazy.q)
        np.testing.assert_array_equal(q, arm.simulate(q0, qd0, **STEPS).q)
        assert tau.shape == (8, 6, 2)
        wrong = arm.simulate(da.from_array(q0, chunks=(3, 2)), qd0, torque=lambda t, q, qd: np.zeros((2, 2)), **STEPS)
        with pytest.raises(cr.ChainruleError, match="torque"):
            wrong.compute()


def test_what_chunks_would_change_is_refused(arm):
    lazy = da.from_array(starts(4)[0], chunks=(2, 2))
    law = cr.PD(arm, [0.0, 0.0], kp=1.0, kd=1.0)
    several = cr.Samples([0.0, 1.0], np.zeros((4, 2, 2)))
    unknown = lazy[lazy[:, 0] > 0]
    for call, match in (
        (lambda: arm.simulate(lazy, events=lambda t, q, qd: q[..., 0]), "events end motions at times"),
        (lambda: arm.simulate(lazy, device="cuda"), "simulated on the CPU"),
        (lambda: arm.simulate(lazy, torque=cr.Sampled(law, 0.01, noise=0.1)), "would repeat in each chunk"),
        (lambda: arm.simulate(lazy, torque=several), "would repeat in each chunk"),
        (lambda: arm.simulate(lazy[:, :1]), r"q0 must have 2 numbers in its last dimension, got shape \(4, 1\)"),
        (lambda: arm.simulate(lazy, lazy[:3]), "do not fit together"),
        (lambda: arm.simulate(lazy[:0]), "holds no start"),
        (lambda: arm.simulate(unknown), "unknown shape"),
        (lambda: arm.simulate(lazy[0, 0]), "a single number"),
        (lambda: arm.simulate(lazy > 0), "must be real numbers"),
        (lambda: arm.simulate(lazy, torque=lazy[:, :1]), "torque must have 2 numbers"),
        (lambda: arm.at({"gravity": lazy}).simulate(lazy), "'gravity' must have 3 numbers"),
        (lambda: arm.simulate(lazy, dt=-1.0), "dt"),
        (lambda: arm.simulate(lazy, torque=[0.0, np.inf]), "finite"),
    ):
        with pytest.raises(cr.ShapeError, match=match):
            call()
    with pytest.raises(cr.UnknownNameError, match="no parameter named 'weight'"):
        arm.at({"weight": lazy}).simulate(lazy)
