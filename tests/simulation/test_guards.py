"""Guards: divergence, energy from nowhere, unsolved steps, interrupts, too much memory."""

from __future__ import annotations

import os

import numpy as np
import pytest
from processes import run_python

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


# --- interrupts and progress ---


def test_an_interrupt_before_the_first_sample_leaves_an_empty_trajectory(arm):
    def interrupting(t, q, qd):
        raise KeyboardInterrupt

    motion = arm.simulate([START, START], None, 1.0, interrupting)
    assert (motion.status, len(motion), motion.q.shape) == ("interrupted", 0, (2, 0, 2))


def test_an_interrupted_simulation_keeps_what_it_has(arm):
    def interrupting(t, q, qd):
        if t > 0.3:
            raise KeyboardInterrupt
        return 0 * q

    for method in ("rk4", "dop853"):
        motion = arm.simulate(START, None, 1.0, interrupting, integrator=method)
        assert motion.status == "interrupted"
        assert 0.2 < motion.t[-1] <= 0.3 + 1e-3
        assert np.isfinite(motion.q).all()


INTERRUPTED = """
import os, signal, threading
import numpy as np, chainrule as cr
from chainrule.simulation.progress import Progress

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background process may be deaf to it
under_way, show = threading.Event(), Progress.at

def show_and_say(self, t):
    if t > 100:  # some samples are recorded
        under_way.set()
    show(self, t)

Progress.at = show_and_say
threading.Thread(target=lambda: (under_way.wait(), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
motion = cr.load("double_pendulum").simulate([0.5, -0.3], None, 2_000_000.0, record=10_000)
assert 0 < motion.t[-1] < 2_000_000
assert np.isfinite(motion.q).all()
print(motion.status)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX does")
def test_a_compiled_rollout_hears_an_interrupt():
    assert run_python(INTERRUPTED).stdout.strip() == "interrupted"


def test_a_progress_bar_shows_only_where_it_is_wanted(arm, capfd, monkeypatch):
    from chainrule.simulation import progress

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
