"""Ctrl-C ends whatever simulates, loops around it too, and the motion so far is on the KeyboardInterrupt."""

from __future__ import annotations

import numpy as np
import pytest
from processes import POSIX_ONLY, run_python

from chainrule.simulation.adaptive import RowRun
from chainrule.simulation.splitting import StepSplitter

from .motions import ALL, START


def interrupting(t, q, qd):
    """A torque that is interrupted."""
    if t > 0.3:
        raise KeyboardInterrupt
    return 0 * q


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("starts", [START, [START, START]])
def test_the_interrupt_goes_on_and_has_the_motion_so_far(arm, method, starts):
    with pytest.raises(KeyboardInterrupt) as caught:
        arm.simulate(starts, None, 1.0, interrupting, integrator=method)
    assert type(caught.value) is KeyboardInterrupt  # another class would change the exit code of a program
    motion = caught.value.trajectory
    assert (motion.status, motion.batch) == ("interrupted", np.shape(starts)[:-1])
    assert 0.2 < motion.t[-1] <= 0.3 + 1e-3
    assert np.isfinite(motion.q if not motion.batch else motion.q[0]).all()
    assert f"interrupted at t = {motion.t[-1]:g} of 1 s" in caught.value.__notes__[0]


@pytest.mark.parametrize("method", ALL)
def test_an_interrupt_before_the_first_sample_leaves_an_empty_trajectory(arm, method):
    def at_once(t, q, qd):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        arm.simulate([START, START], None, 1.0, at_once, integrator=method)
    motion = caught.value.trajectory
    assert (motion.status, len(motion), motion.q.shape) == ("interrupted", 0, (2, 0, 2))


def test_an_interrupt_at_the_start_of_a_later_row_keeps_the_rows_before_it(arm, monkeypatch):
    run, rows = RowRun.run, []

    def interrupted_in_the_second_row(self, progress):
        rows.append(self.row)
        if len(rows) == 2:
            raise KeyboardInterrupt
        run(self, progress)

    monkeypatch.setattr(RowRun, "run", interrupted_in_the_second_row)
    with pytest.raises(KeyboardInterrupt) as caught:
        arm.simulate([START, START], None, 0.1, integrator="dop853")
    motion = caught.value.trajectory
    assert motion.t[-1] == 0.1
    assert (np.isfinite(motion.q[0]).all(), np.isnan(motion.q[1]).all()) == (True, True)


def test_an_interrupt_between_a_record_and_its_time_keeps_whole_samples(arm, monkeypatch):
    class Times(list):
        """Times of which the third comes with an interrupt."""

        def append(self, t):
            if len(self) == 2:
                raise KeyboardInterrupt
            super().append(t)

    make = RowRun.__init__

    def with_times(self, *arguments):
        make(self, *arguments)
        self.t = Times()

    monkeypatch.setattr(RowRun, "__init__", with_times)
    with pytest.raises(KeyboardInterrupt) as caught:
        arm.simulate(START, None, 0.1, integrator="dop853")
    assert caught.value.trajectory.q.shape == (2, 2)
    assert np.isfinite(caught.value.trajectory.q).all()


def test_an_interrupt_at_the_entry_of_a_chunk_records_nothing_of_it(arm, monkeypatch):
    advance, calls = StepSplitter.advance, []

    def interrupted_at_the_second_call(self, *arguments):
        calls.append(self)
        if len(calls) == 2:
            raise KeyboardInterrupt
        advance(self, *arguments)

    monkeypatch.setattr(StepSplitter, "advance", interrupted_at_the_second_call)
    rough = arm.edit(joints={"*": {"coulomb": 0.1}})
    with pytest.raises(KeyboardInterrupt) as caught:
        rough.simulate(START, None, 1.0)
    motion = caught.value.trajectory
    assert 0 < len(motion) < 1000
    assert (np.diff(motion.t) > 0).all()
    np.testing.assert_array_equal(motion.t, 1e-3 * np.arange(len(motion)))


def test_a_chunk_of_a_dask_array_that_is_interrupted_ends_the_computation(arm):
    da = pytest.importorskip("dask.array")
    motions = arm.simulate(da.from_array(np.tile(START, (4, 1)), chunks=(2, 2)), None, 1.0, interrupting)
    with pytest.raises(KeyboardInterrupt):
        motions.compute(scheduler="synchronous")


# --- real signals, in processes of their own ---

WHILE_COMPILED_CODE_RUNS = """
import os, signal, threading
import chainrule as cr
from chainrule.core.progress import ProgressBar

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background process may be deaf to it
under_way, show = threading.Event(), ProgressBar.at

def show_and_say(self, t):
    if t > 100:  # some samples are recorded
        under_way.set()
    show(self, t)

ProgressBar.at = show_and_say
threading.Thread(target=lambda: (under_way.wait(), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
try:
    cr.load("double_pendulum").simulate([0.5, -0.3], None, 2_000_000.0, record=10_000)
except KeyboardInterrupt as interrupt:
    assert 0 < interrupt.trajectory.t[-1] < 2_000_000
    print(interrupt.trajectory.status)
"""


@POSIX_ONLY
def test_a_compiled_rollout_hears_an_interrupt():
    assert run_python(WHILE_COMPILED_CODE_RUNS).stdout.strip() == "interrupted"


IN_THE_MIDDLE = """
import os, signal
import numpy as np, chainrule as cr
from chainrule.simulation import adaptive, fixed_step

signal.signal(signal.SIGINT, signal.default_int_handler)
count, BEFORE = 0, {before}

def counting(method):
    def and_then_interrupt(*arguments):
        global count
        count += 1
        if count == BEFORE:
            os.kill(os.getpid(), signal.SIGINT)
        return method(*arguments)
    return and_then_interrupt

fixed_step.Run._ends = counting(fixed_step.Run._ends)
adaptive.RowRun.has_diverged = counting(adaptive.RowRun.has_diverged)
arm = cr.load("planar_2r")
{program}
print("went on")
"""

LOOPS = {
    "a loop of a user's": """
for speed in np.linspace(0.0, 1.0, 100):
    arm.simulate([0.5, 0.0], [speed, 0.0], 0.05, dt=1e-2)
""",
    "a loop around a method that chooses its steps": """
for method in ("dop853", "radau", "lsoda") * 30:
    arm.simulate([0.5, 0.0], None, 0.05, integrator=method, dt=1e-2)
""",
    "a loop around a torque that only Python computes": """
for speed in np.linspace(0.0, 1.0, 100):
    arm.simulate([0.5, 0.0], [speed, 0.0], 0.05, lambda t, q, qd: [float(np.sin(t)), 0.0], dt=1e-2)
""",
    "a loop that goes on after errors": """
for speed in np.linspace(0.0, 1.0, 100):
    try:
        arm.simulate([0.5, 0.0], [speed, 0.0], 0.05, dt=1e-2)
    except Exception as error:
        print(error)
""",
    "a Monte Carlo": """
cr.monte_carlo(arm, {"q0": ("normal", [0.5, 0.0], 0.1)}, 200, 0.2, block=10)
""",
    "drives that follow activities": """
result = cr.study.run(cr.study.Subject.human(), ["drink_with_cup", "eat_with_spoon"], rate=100)
cr.study.follow(result, cr.study.size(result, cr.study.drives()))
""",
    "the comparison with a motion in maximal coordinates": """
arm.textbook.simulate_maximal([0.3, 0.4], None, 0.5, dt=0.01).compare()
""",
}


@POSIX_ONLY
@pytest.mark.parametrize("what", LOOPS)
def test_a_loop_around_simulations_is_interrupted(what):
    before = 1 if "maximal" in what or "drives" in what else 7
    done = run_python(IN_THE_MIDDLE.format(program=LOOPS[what], before=before), expected=None)
    assert done.returncode in (-2, 130), done.stderr  # how a shell that runs programs in a loop sees Ctrl-C
    assert done.stdout == ""
    assert ".trajectory has the motion so far" in done.stderr


IN_CASADI = """
import os, signal, threading
import casadi, numpy as np, chainrule as cr

signal.signal(signal.SIGINT, signal.default_int_handler)
is_over, make = threading.Event(), casadi.integrator

def interrupt_until_it_is_over():
    while not is_over.wait(0.01):
        os.kill(os.getpid(), signal.SIGINT)

def integrator(*arguments):
    solver = make(*arguments)
    def solve(**starts):
        threading.Thread(target=interrupt_until_it_is_over, daemon=True).start()
        return solver(**starts)
    return solve

casadi.integrator = integrator
F = cr.load("planar_2r").textbook.dae_residual(lambda t, q, qd: [-q[0] - qd[0], -q[1] - qd[1]])
try:
    F.integrate([0.3, 0.4], None, np.arange(0.0, 3000.0, 0.01))
except KeyboardInterrupt:
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # further ones are under way
    is_over.set()
    assert handler is signal.default_int_handler
    print("interrupted")
"""


@POSIX_ONLY
def test_an_interrupt_inside_of_casadi_is_no_error_of_the_equations():
    pytest.importorskip("casadi")
    assert run_python(IN_CASADI).stdout.strip() == "interrupted"
