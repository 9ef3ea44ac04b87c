"""Dimensions with names: tables of one call are matched by their dimensions, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

xarray = pytest.importorskip("xarray")

pytestmark = pytest.mark.interpreted

ARM = cr.load("scara").reference
FLOATING = cr.load("pendulum").floating().reference
NAMES = list(ARM.joint_names)
RNG = np.random.default_rng(0)
Q, QD, QDD = RNG.normal(size=(3, 3, 3, 4))
"""As many subjects as trials, so that nothing but names can tell them apart."""


def table(values, dims=("subject", "trial", "joint"), **coords):
    return xarray.DataArray(values, dims=dims, coords={"joint": NAMES, **coords})


def test_batch_dimensions_go_by_name_in_every_function():
    turned = table(QD).transpose("trial", "joint", "subject")
    assert np.array_equal(ARM.kinetic_energy(table(Q), turned), ARM.kinetic_energy(Q, QD))
    assert np.array_equal(ARM.inverse_dynamics(table(Q), turned, table(QDD)), ARM.inverse_dynamics(Q, QD, QDD))
    motion = ARM.simulate(table(Q), turned, 0.002, limits=False)
    assert np.array_equal(motion.q, ARM.simulate(Q, QD, 0.002, limits=False).q)
    tangent = ARM.derivatives.jvp("kinetic_energy", [table(Q), turned], {"q": Q})
    assert np.array_equal(tangent, ARM.derivatives.jvp("kinetic_energy", [Q, QD], {"q": Q}))


def test_a_dimension_that_one_table_lacks_is_the_same_for_all_of_it():
    per_subject = table(QD[:, 0], ("subject", "joint"))
    assert np.array_equal(ARM.kinetic_energy(table(Q), per_subject), ARM.kinetic_energy(Q, QD[:, :1]))
    per_trial = table(QD[0], ("trial", "joint"))
    assert np.array_equal(ARM.kinetic_energy(per_subject, per_trial), ARM.kinetic_energy(QD[:, :1], QD[:1]))


def test_dimensions_of_a_dictionary_of_tables_go_by_name():
    entries = {name: table(Q)[..., k] for k, name in enumerate(NAMES)}
    turned = {**entries, NAMES[1]: entries[NAMES[1]].T}
    assert np.array_equal(ARM.gravity_torque(turned), ARM.gravity_torque(Q))
    assert np.array_equal(ARM.kinetic_energy(turned, table(QD).transpose("joint", ...)), ARM.kinetic_energy(Q, QD))
    data = xarray.Dataset({name: entry.drop_vars("joint") for name, entry in turned.items()})
    assert np.array_equal(ARM.gravity_torque(data), ARM.gravity_torque(Q))
    q = FLOATING.random_state(np.random.default_rng(1), (3, 3))
    base = xarray.DataArray(q[..., :7], dims=("subject", "trial", "number"))
    joint = xarray.DataArray(q[..., 7].T, dims=("trial", "subject"))
    given = {FLOATING.joint_names[0]: base, FLOATING.joint_names[1]: joint}
    assert np.array_equal(FLOATING.potential_energy(given), FLOATING.potential_energy(q))


def test_labels_along_a_dimension_have_to_agree():
    trials = table(Q, trial=[1, 2, 3])
    assert np.array_equal(ARM.kinetic_energy(trials, table(QD, trial=[1, 2, 3])), ARM.kinetic_energy(Q, QD))
    with pytest.raises(cr.ShapeError, match=r"q and qd have different labels along dimension 'trial'.*reindex_like"):
        ARM.kinetic_energy(trials, table(QD, trial=[3, 2, 1]))


def test_rows_of_data_frames_have_to_agree():
    pandas = pytest.importorskip("pandas")
    q, qd = (pandas.DataFrame(x[0], columns=NAMES, index=["a", "b", "c"]) for x in (Q, QD))
    assert np.array_equal(ARM.kinetic_energy(q, qd), ARM.kinetic_energy(Q[0], QD[0]))
    with pytest.raises(cr.ShapeError, match=r"the rows of 'q', 'qd' have different labels.*reset_index"):
        ARM.kinetic_energy(q, qd[::-1])


def test_dimensions_are_refused_where_only_places_count():
    wrenches = xarray.DataArray(np.ones((3, 3, 6)), dims=("trial", "subject", "number"))
    with pytest.raises(cr.ShapeError, match=r"tip_wrench takes numbers by their places.*'trial', 'subject'"):
        ARM.inverse_dynamics(table(Q), table(QD), table(QDD), tip_wrench=wrenches)
    masses = xarray.DataArray([1.0, 2.0, 3.0], dims="subject")
    with pytest.raises(cr.ShapeError, match=r"is taken by place, and the dimensions \('subject',\).*to_numpy"):
        ARM.at({"quill.mass": masses}).gravity_torque(table(Q))


def test_tables_in_degrees_go_by_the_names_of_their_dimensions_too():
    q, qd, turns = Q.copy(), QD.copy(), [0, 1, 3]
    q[..., turns], qd[..., turns] = np.degrees(q[..., turns]), np.degrees(qd[..., turns])
    turned = table(qd).transpose("trial", "joint", "subject")
    np.testing.assert_allclose(ARM.degrees.kinetic_energy(table(q), turned), ARM.kinetic_energy(Q, QD), rtol=1e-12)
    with pytest.raises(cr.ShapeError, match="different labels along dimension 'trial'"):
        ARM.degrees.kinetic_energy(table(q, trial=[1, 2, 3]), table(qd, trial=[3, 2, 1]))


@pytest.mark.parametrize(
    ("use", "what"),
    [
        (lambda x: ARM.simulate(Q, None, 0.01, x, limits=False), "simulate: torque"),
        (lambda x: ARM.simulation(Q, None, limits=False).step(x), "step: tau"),
        (lambda x: cr.PD(ARM, x, kp=1.0, kd=1.0), "PD: q"),
        (lambda x: ARM.analysis.resolved_rate(Q, np.zeros(6), null_velocity=x), "null_velocity"),
    ],
    ids=["torque", "step", "target", "null velocity"],
)
def test_tables_that_meet_the_others_later_are_refused_with_dimensions_of_their_own(use, what):
    with pytest.raises(cr.ShapeError, match=rf"{what} goes by place .*\('trial', 'subject'\).*to_numpy"):
        use(table(QDD).transpose("trial", "subject", "joint"))
    use(table(QDD[0, 0], ("joint",)))  # the same of all rows


def test_dimensions_of_dask_arrays_go_by_name():
    pytest.importorskip("dask.array")
    turned = table(QD).transpose("trial", "joint", "subject").chunk(trial=2)
    lazy = ARM.kinetic_energy(table(Q).chunk(subject=1), turned)
    assert np.array_equal(lazy.compute(scheduler="sync"), ARM.kinetic_energy(Q, QD))
