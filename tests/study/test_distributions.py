import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chainrule.study.distributions import Distribution


def distribution(values):
    x = np.asarray(values, dtype=float)
    return Distribution.of(x.astype(np.float32), len(x), x.sum(), x @ x, x.min(), x.max())


@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=300))
def test_moments_and_extremes_are_exact(values):
    x = np.array(values)
    found = distribution(x)
    assert (found.minimum, found.maximum, found.count) == (x.min(), x.max(), len(x))
    assert found.peak == np.abs(x).max()
    assert found.mean == pytest.approx(x.mean(), abs=1e-9)
    assert found.rms == pytest.approx(np.sqrt((x**2).mean()), abs=1e-6)
    low, high = found.whiskers
    assert found.minimum <= low <= high <= found.maximum


def test_quantiles_whiskers_and_outliers_are_those_of_a_box_plot():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(size=20_000), [9.0, -11.0, 12.5]]).astype(np.float32).astype(float)
    found = distribution(x)
    for share in (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99):
        assert found.quantile(share) == pytest.approx(np.quantile(x, share), abs=0.02)
    q1, q3 = np.quantile(x, [0.25, 0.75])
    inside = x[(x >= q1 - 1.5 * (q3 - q1)) & (x <= q3 + 1.5 * (q3 - q1))]
    np.testing.assert_allclose(found.whiskers, (inside.min(), inside.max()), atol=0.01)
    assert found.outlier_count == pytest.approx(len(x) - len(inside), abs=3)
    assert {-11.0, 12.5} <= set(found.outliers.tolist())


def test_a_union_is_the_distribution_of_all_samples():
    rng = np.random.default_rng(2)
    parts = [rng.normal(2, 1, 5000), rng.uniform(-4, -1, 12_000), rng.normal(0, 5, 300)]
    whole, joined = distribution(np.concatenate(parts)), Distribution.union([distribution(p) for p in parts])
    assert joined.count == whole.count
    assert joined.mean == pytest.approx(whole.mean)
    assert joined.rms == pytest.approx(whole.rms)
    for share in np.linspace(0.02, 0.98, 25):
        assert joined.quantile(share) == pytest.approx(whole.quantile(share), abs=0.06)
    np.testing.assert_allclose(joined.whiskers, whole.whiskers, rtol=0.05)


def test_thinned_samples_keep_exact_extremes(few):
    cell, torques = few.cell("drink_with_cup", "elbow_flexion"), few.examples["drink_with_cup"]
    tau = torques.total[:, 3]
    assert cell["torque"].maximum == tau.max()
    assert cell["torque"].rms == pytest.approx(np.sqrt((tau**2).mean()))
    assert cell.speed_at_peak_torque == pytest.approx(abs(torques.motion.qd[np.abs(tau).argmax(), 3]), abs=1e-5)


def test_samples_beyond_the_bound_are_thinned_evenly(few, monkeypatch):
    from chainrule import study
    from chainrule.study import statistics

    monkeypatch.setattr(statistics, "MAX_KEPT", 300)
    thin = study.run(study.Subject.human(), ["drink_with_cup"], rate=200)
    for joint in thin.joints:
        a, b = few.cell("drink_with_cup", joint), thin.cell("drink_with_cup", joint)
        assert b["torque"].count == a["torque"].count
        assert b["torque"].peak == a["torque"].peak
        assert b["torque"].median == pytest.approx(a["torque"].median, abs=0.05 * a["torque"].peak)
