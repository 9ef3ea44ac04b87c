"""Tasks through a cluster: outcomes in order, errors of one task its own, a few at a time."""

import subprocess
import sys

import pytest

import chainrule as cr
from chainrule.cluster.client import connect
from chainrule.cluster.stream import MOST_AHEAD, perform, run_tasks
from chainrule.cluster.versions import own_versions, refuse_other_versions
from cluster import tasks


@pytest.fixture(params=["here", "cluster"])
def place(request):
    return None if request.param == "here" else request.getfixturevalue("client")


def test_outcomes_come_in_order_and_errors_are_of_one_task(place):
    outcomes = list(run_tasks(tasks.refuse_odd, range(9), place))
    assert [outcome.task for outcome in outcomes] == list(range(9))
    assert [outcome.value for outcome in outcomes] == [0, None, 2, None, 4, None, 6, None, 8]
    assert str(outcomes[3].error) == "3 is odd"
    assert isinstance(outcomes[3].error, cr.ShapeError)
    assert list(run_tasks(tasks.square, [], place)) == []


def test_outcomes_may_come_as_they_finish(place):
    outcomes = list(run_tasks(tasks.refuse_odd, range(9), place, in_order=False))
    assert sorted(outcome.task for outcome in outcomes) == list(range(9))
    assert sorted(outcome.get() for outcome in outcomes if outcome.error is None) == [0, 2, 4, 6, 8]
    with pytest.raises(cr.ShapeError, match="is odd"):
        next(outcome for outcome in outcomes if outcome.error).get()


def test_a_defect_of_the_function_is_raised(place):
    with pytest.raises(ZeroDivisionError, match="a defect"):
        list(run_tasks(tasks.fail, range(3), place))


def test_tasks_are_drawn_as_they_are_needed(client):
    drawn = []

    def draw():
        for k in range(10_000):
            drawn.append(k)
            yield k

    outcomes = run_tasks(tasks.square, draw(), client, in_flight=4)
    assert [next(outcomes).value for _ in range(10)] == [k * k for k in range(10)]
    assert len(drawn) <= 10 + MOST_AHEAD + 4
    outcomes.close()


def test_a_task_computes_with_one_thread_unless_told(client, monkeypatch):
    assert [outcome.value for outcome in run_tasks(tasks.kernel_threads, range(2), client)] == [1, 1]
    monkeypatch.setenv("CHAINRULE_THREADS", "3")
    assert perform(tasks.kernel_threads, 0, own_versions()) == 3


def test_a_cluster_that_does_not_answer(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("chainrule.cluster.client.SECONDS_TO_CONNECT", 0.5)
    with (
        pytest.raises(cr.ClusterError, match="no cluster answers at 'tcp:"),
        connect("tcp://127.0.0.1:9"),
    ):
        pass
    with pytest.raises(cr.ClusterError, match="no cluster answers at 'nonsense://x'"), connect("nonsense://x"):
        pass


@pytest.mark.parametrize(
    ("cluster", "workers", "message"),
    [
        ("tcp://127.0.0.1:9", 2, "not both"),
        (7, None, "address of a scheduler"),
        (None, 0, "workers must be a whole number, at least 1"),
        (None, "two", "workers"),
    ],
)
def test_what_is_no_cluster_is_refused(cluster, workers, message):
    pytest.importorskip("distributed")
    with pytest.raises(cr.ShapeError, match=message), connect(cluster, workers):
        pass


def test_a_client_and_the_one_in_use_are_taken(client):
    with connect(client) as same:
        assert same is client
    with connect() as none:
        assert none is None
    with client.as_current(), connect() as same:
        assert same is client


def test_other_versions_are_refused_by_name():
    other = own_versions() | {"numpy": "1.0"}
    refuse_other_versions({"tcp://a:1": own_versions()})
    with pytest.raises(cr.ClusterError, match=r"tcp://b:1: numpy 1\.0, here"):
        refuse_other_versions({"tcp://a:1": own_versions(), "tcp://b:1": other})
    with pytest.raises(cr.ClusterError, match=r"numpy .*, here 1\.0"):
        perform(tasks.square, 2, other)


@pytest.mark.slow
def test_a_script_without_a_guard_is_told_so(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "script.py"
    script.write_text("from chainrule.cluster.client import connect\nwith connect(workers=1) as client:\n    pass\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "the worker processes did not start" in last
    assert "if __name__ == '__main__':" in last
