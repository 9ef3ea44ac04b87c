"""Workers that are killed, run out of memory or have other versions, and a scheduler that is lost.

The result is complete and equal, or the error says what is missing, and what is finished is not computed again.
"""

import functools
import logging

import numpy as np
import pytest
from waiting import eventually

import chainrule as cr
from cluster import tasks
from cluster.dask_processes import dask_processes

pytest.importorskip("distributed", reason="Dask is not installed")

from chainrule.cluster.client import LOCAL_SETTINGS, connect
from chainrule.cluster.stream import run_tasks

SQUARES = {k: k * k for k in range(12)}


def values(outcomes):
    return {outcome.task: outcome.value for outcome in outcomes if outcome.error is None}


@pytest.fixture(scope="module")
def fragile():
    """Two workers with little memory; a task is given up when it has killed two of them."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(LOCAL_SETTINGS, "distributed.scheduler.allowed-failures", 0)
        with connect(workers=2, memory="600MB") as client:
            yield client


def test_the_tasks_of_a_killed_worker_are_done_by_another(fragile, tmp_path):
    outcomes = list(run_tasks(tasks.die_once, [(k, tmp_path / "mark") for k in range(12)], fragile))
    assert (tmp_path / "mark").exists()
    assert {k: value for (k, _), value in values(outcomes).items()} == SQUARES


def test_a_task_that_takes_all_memory_is_set_aside(fragile):
    outcomes = list(run_tasks(tasks.eat_memory, range(12), fragile, name="motion {}".format))
    assert values(outcomes) == {k: square for k, square in SQUARES.items() if k != 3}
    with pytest.raises(cr.ClusterError, match=r"motion 3: the worker died each time .* more memory"):
        raise outcomes[3].error


@pytest.mark.slow
def test_tasks_that_kill_workers_again_and_again_take_no_others_with_them():
    with connect(workers=2) as client:
        outcomes = list(run_tasks(tasks.die_often, range(12), client))
    assert values(outcomes) == {k: square for k, square in SQUARES.items() if k % 4 != 1}
    assert all(isinstance(outcomes[k].error, cr.ClusterError) for k in (1, 5, 9))


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    with dask_processes(tmp_path_factory.mktemp("dask")) as processes:
        yield processes


def test_a_scheduler_that_is_started_again_is_given_what_is_missing(processes, tmp_path, monkeypatch):
    scheduler, address = processes.scheduler()
    worker = processes.worker(address)
    with connect(address) as client:
        outcomes = run_tasks(functools.partial(tasks.count_runs, tmp_path), range(12), client)
        before = [next(outcomes) for _ in range(4)]
        scheduler.kill()
        scheduler.wait()
        worker.wait()  # Dask's workers end with their scheduler
        scheduler, again = processes.scheduler(port=int(address.rpartition(":")[2]))
        assert again == address
        worker = processes.worker(address)
        assert values(before) | values(outcomes) == SQUARES
        for outcome in before:
            assert len(list(tmp_path.glob(f"{outcome.task}-*"))) == 1

        outcomes = run_tasks(tasks.square, range(12), client)
        before = [next(outcomes) for _ in range(4)]
        monkeypatch.setattr(client, "_timeout", 1)
        scheduler.kill()
        with pytest.raises(
            cr.ClusterError, match=r"the scheduler at tcp:.* was lost; tasks finished before: \d+ of 12"
        ):
            list(outcomes)


@pytest.fixture
def motions(tmp_path, monkeypatch):
    """Five small files, each a task of its own, and their torques computed in this process."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from chainrule.cluster import pieces

    monkeypatch.setattr(pieces, "BATCH_BYTES", 0)
    arm = cr.load("planar_2r")
    rng = np.random.default_rng(0)
    for subject in range(5):
        folder = tmp_path / "states" / f"subject={subject}"
        folder.mkdir(parents=True)
        columns = {f"{kind}.{joint}": rng.normal(size=50) for kind in ("q", "qd", "qdd") for joint in arm.joint_names}
        parquet.write_table(pyarrow.table(columns), folder / "motion.parquet")
    cr.dataset(tmp_path / "states").torques(arm, tmp_path / "expected")
    return tmp_path


def contents(folder):
    from pyarrow import parquet

    return {str(path.relative_to(folder)): parquet.read_table(path).to_pydict() for path in folder.rglob("*.parquet")}


@pytest.mark.slow
def test_a_data_set_is_complete_though_a_worker_was_killed(fragile, motions):
    robot = functools.partial(tasks.arm_of_a_mortal_worker, motions / "mark")
    report = cr.dataset(motions / "states").torques(robot, motions / "torques", cluster=fragile)
    assert (motions / "mark").exists()
    assert len(report.written) + len(report.kept) == 5  # a task that runs again may find its result
    assert contents(motions / "torques") == contents(motions / "expected")


def test_flipped_bytes_are_found_in_files_with_checksums(motions):
    from pyarrow import parquet

    path = motions / "states" / "subject=3" / "motion.parquet"
    parquet.write_table(parquet.ParquetFile(path).read(), path, write_page_checksum=True, compression="none")
    content = bytearray(path.read_bytes())
    content[200] ^= 1  # the last bit of a number
    path.write_bytes(content)
    with pytest.warns(cr.MotionWarning, match="1 of 5 files are set aside.*subject=3.*CRC checksum"):
        report = cr.dataset(motions / "states").torques(cr.load("planar_2r"), motions / "torques")
    assert len(report.written) == 4
    result = motions / "expected" / "subject=0" / "motion.parquet"
    assert parquet.ParquetFile(result, page_checksum_verification=True).read().num_rows == 50
    content = bytearray(result.read_bytes())
    content[200] ^= 1
    result.write_bytes(content)
    with pytest.raises(OSError, match="CRC checksum"):  # results have them
        parquet.ParquetFile(result, page_checksum_verification=True).read()


@pytest.mark.slow
def test_a_data_set_goes_on_where_a_lost_scheduler_left_it(processes, motions, monkeypatch):
    scheduler, address = processes.scheduler()
    processes.worker(address)
    with connect(address) as client:
        monkeypatch.setattr(client, "_timeout", 1)
        robot = functools.partial(tasks.arm_of_a_mortal_scheduler, scheduler.pid)
        with pytest.raises(cr.ClusterError, match="was lost; tasks finished before"):
            cr.dataset(motions / "states").torques(robot, motions / "torques", cluster=client)
    scheduler.wait()
    robot = functools.partial(tasks.arm_of_a_mortal_worker, motions / "states")  # it is there: nobody is killed
    report = cr.dataset(motions / "states").torques(robot, motions / "torques")
    assert {"subject=0/motion.parquet", "subject=1/motion.parquet"} <= set(report.kept)
    assert len(report.kept) + len(report.written) == 5
    assert contents(motions / "torques") == contents(motions / "expected")


OTHER_VERSIONS = """
import importlib.metadata
import chainrule
chainrule.__version__ = "0.0.1"
true_version = importlib.metadata.version
importlib.metadata.version = lambda name: "1.5.0" if name == "numpy" else true_version(name)
"""
"""What Python runs when it starts, in a worker that stands for one with other versions."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Mismatched versions")  # which Dask says too
def test_workers_with_other_versions_are_refused(processes, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(OTHER_VERSIONS)
    _, address = processes.scheduler()
    processes.worker(address)
    with connect(address) as client:
        assert values(run_tasks(tasks.square, range(12), client)) == SQUARES
        processes.worker(address, "--name", "other", path=tmp_path)
        eventually(lambda: len(client.nthreads()) == 2)
        table = r"(?s)other versions.*: chainrule 0\.0\.1 .*, here .*: numpy 1\.5\.0, here"
        with pytest.raises(cr.ClusterError, match=table):
            list(run_tasks(tasks.square, range(1000), client))
    with pytest.raises(cr.ClusterError, match=table), connect(address):
        pass
