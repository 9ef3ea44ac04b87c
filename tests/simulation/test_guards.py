"""Guards: divergence, energy from nowhere, unsolved steps, too much memory."""

from __future__ import annotations

import numpy as np
import pytest

import chainrule as cr

from .motions import ARM, START


def test_energy_from_nowhere_is_told(arm):
    stiff = cr.traceable(lambda t, q, qd: -3e4 * q - 60 * qd)
    with pytest.warns(cr.SimulationWarning, match="smaller dt"):
        arm.simulate(START, None, 0.5, stiff, integrator="semi_implicit_euler", dt=2.5e-3)


@pytest.mark.parametrize("method", ["euler", "rk4", "dop853"])
def test_a_motion_that_diverges_stops_with_its_time_and_joint(arm, method):
    with pytest.raises(cr.SimulationError, match=r"t = .*_hinge") as caught:
        arm.simulate(START, None, 5.0, cr.traceable(lambda t, q, qd: 200.0 * qd * qd * qd), integrator=method)
    if method != "dop853":
        assert caught.value.trajectory.status == "diverged"
        assert np.isfinite(caught.value.trajectory.q).all()
        assert len(caught.value.trajectory) > 0


def test_a_motion_that_diverges_and_is_kept_says_so():
    stiff = cr.PD(ARM, [0.0, 1.0], 1e7, 1e6)
    assert ARM.simulate([0.0, 0.0], None, 5.0, stiff, torque_limits=False, diverged="keep").status == "diverged"


def test_an_implicit_step_that_cannot_be_solved_is_an_error(arm):
    stiff = cr.traceable(lambda t, q, qd: -1e6 * q - 1e3 * qd)
    with pytest.raises(cr.SimulationError, match="smaller dt"):
        arm.simulate(START, None, 1.0, stiff, integrator="implicit_midpoint", dt=1e-2)


def test_more_than_memory_holds_is_refused(arm):
    with pytest.raises(cr.ShapeError, match="larger record"):
        arm.simulate(np.tile(START, (100_000, 1)), None, 1000.0)


# --- progress ---


def test_a_progress_bar_shows_only_where_it_is_wanted(arm, capfd, monkeypatch):
    from chainrule.core import progress

    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    arm.simulate(START, None, 0.2)
    assert capfd.readouterr().err == ""
    arm.simulate(START, None, 0.2, progress=True)
    assert "simulating" in capfd.readouterr().err


def test_warnings_point_at_the_call_of_simulate(arm):
    stiff = cr.traceable(lambda t, q, qd: -3e4 * q - 60 * qd)
    with pytest.warns(cr.SimulationWarning) as energy:
        arm.simulate(START, None, 0.5, stiff, integrator="semi_implicit_euler", dt=2.5e-3)
    bar = cr.load("four_bar")
    with pytest.warns(cr.SimulationWarning) as moved:
        bar.simulate([1.0, 0.0, 0.0], None, 0.01)  # an open loop
    assert energy[0].filename == moved[0].filename == __file__
