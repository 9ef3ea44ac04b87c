"""Batches spread over threads, and calls from many threads."""

import threading
import warnings

import numpy as np
import pytest
from trees import state

import chainrule as cr
from chainrule.compile.runtime import threads
from compile.support import PANDA, QD, QDD, Q


def test_threads_split_a_batch_and_give_the_same_numbers():
    q, qd, qdd = state(PANDA, 3, (40_001,))
    try:
        cr.set_threads(1)
        one = PANDA.inverse_dynamics(q, qd, qdd)
        cr.set_threads(3)
        assert threads.threads() == 3
        assert (PANDA.inverse_dynamics(q, qd, qdd) == one).all()
        wide = PANDA.inverse_dynamics(q[None], qd[None, :], qdd[:1])
        assert wide.shape == (1, 40_001, 7)
    finally:
        cr.set_threads(None)
    with pytest.raises(cr.ShapeError, match="must be a positive integer"):
        cr.set_threads(0)


def test_many_python_threads_may_call_one_robot_at_once():
    robot = cr.load("panda")
    expected = PANDA.reference.forward_dynamics(Q, QD, QDD)
    wrong = []

    def hammer():
        for i in range(200):
            k = i % 64
            if not np.allclose(robot.forward_dynamics(Q[k], QD[k], QDD[k]), expected[k], rtol=1e-9):
                wrong.append(k)
            if i % 20 == 0 and not np.allclose(robot.forward_dynamics(Q, QD, QDD), expected, rtol=1e-9):
                wrong.append(-1)

    workers = [threading.Thread(target=hammer) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_a_large_batch_with_a_bad_row_gives_no_warning():
    q = np.zeros((40_000, 7))
    q[30_000, 0] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(PANDA.inverse_dynamics(q, q, q)[30_000]).any()
