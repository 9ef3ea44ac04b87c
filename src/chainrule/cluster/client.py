"""A Dask cluster to work on: the one that is there, one at an address, or a local one that is started here."""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chainrule.arguments import whole_number
from chainrule.cluster.versions import own_versions, refuse_other_versions
from chainrule.errors import ClusterError, ShapeError, import_optional, short_repr

if TYPE_CHECKING:
    from distributed import Client, Security

SECONDS_TO_CONNECT = 10.0
SECONDS_FOR_WORKERS = 30.0
"""Seconds to wait for the first worker of a scheduler that has none."""

SECONDS_FOR_SCHEDULER = 120.0
"""Seconds to wait for a scheduler, and a worker, that were lost."""

GUARD = (
    "each of them imports the script that starts them: put what the script does below `if __name__ == '__main__':`, in "
    "a file, not in standard input"
)
LOCAL_SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.deploy.lost-worker-timeout": "1 day",
}
"""Of Dask, for workers of this machine: a task that kills its worker takes no other task with it, and a worker that
dies again while it is started anew is not given up."""


@contextlib.contextmanager
def connect(
    cluster: Any = None,
    workers: int | None = None,
    *,
    threads: int = 1,
    memory: str | None = None,
    security: Security | None = None,
) -> Iterator[Client | None]:
    """A client of a cluster whose versions have been checked; None for this process alone.

    Parameters
    ----------
    cluster
        The address of a scheduler, "tcp://host:8786" or "tls://host:8786"; a Client or a Cluster of Dask; None for
        the client that is in use, if there is one.
    workers
        So many processes on this machine in place of a cluster, which end with the block.
    threads
        Threads of each of these processes.
    memory
        The memory that each of them may use, such as "2GB"; a fair share of the machine's unless given.
    security
        Certificates for "tls://", as of `distributed.Security`; those of Dask's configuration unless given.
    """
    if cluster is not None and workers is not None:
        raise ShapeError("cluster and workers: give the address of a cluster, or a number of local workers, not both")
    if cluster is None and workers is None and "distributed" not in sys.modules:
        yield None  # nobody can have made a client
        return
    distributed = import_distributed()
    with contextlib.ExitStack() as stack:
        if workers is not None:
            client = _start(distributed, stack, workers, threads, memory)
        else:
            client = _find(distributed, stack, cluster, security)
        if client is not None:
            check_workers(client)
        yield client


def import_distributed() -> Any:
    """The package `distributed`."""
    return import_optional("distributed", "a cluster")


def _start(distributed: Any, stack: contextlib.ExitStack, workers: Any, threads: Any, memory: str | None) -> Any:
    """A client of processes on this machine; they end with the stack."""
    import dask

    count, each = whole_number(workers, "workers", 1), whole_number(threads, "threads", 1)
    stack.enter_context(dask.config.set(LOCAL_SETTINGS))
    nanny = logging.getLogger("distributed.nanny")
    stack.callback(nanny.setLevel, nanny.level)
    try:
        local = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=each,
            processes=True,
            memory_limit="auto" if memory is None else memory,
            dashboard_address="127.0.0.1:0",
            preload=["chainrule.cluster.local_worker"],
        )
    except RuntimeError as error:
        raise ClusterError(f"the worker processes did not start ({error}); {GUARD}") from None
    stack.enter_context(local)
    stack.callback(nanny.setLevel, logging.ERROR)  # nothing about workers that are killed at the end
    client: Any = stack.enter_context(distributed.Client(local, set_as_default=False))
    return client


def _find(distributed: Any, stack: contextlib.ExitStack, cluster: Any, security: Security | None) -> Any:
    """A client of the cluster that is meant."""
    if cluster is None:
        try:
            return distributed.default_client()
        except ValueError:  # there is none
            return None
    if isinstance(cluster, distributed.Client):
        return cluster
    if not isinstance(cluster, str) and not hasattr(cluster, "scheduler_address"):
        raise ShapeError(
            "cluster must be the address of a scheduler, such as 'tcp://host:8786', or a Client or Cluster of Dask, "
            f"got {short_repr(cluster)}"
        )
    try:
        client: Any = distributed.Client(cluster, timeout=SECONDS_TO_CONNECT, security=security, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
    else:
        client._timeout = SECONDS_FOR_SCHEDULER  # until here that of the first connection, from here of later ones
        return stack.enter_context(client)
    gc.collect()  # of the client that failed: collected while another one starts, it would stop that one for good
    if str(cluster).startswith("tls:"):
        advice = (
            "give the certificates that its scheduler knows, as security=distributed.Security(...) or in Dask's "
            "configuration, distributed.comm.tls"
        )
    else:
        advice = (
            "start one with `dask scheduler`, and workers with `dask worker ADDRESS`; the address of a scheduler with "
            "TLS begins with tls://"
        )
    raise ClusterError(f"no cluster answers at {short_repr(cluster)} ({reason}); {advice}")


def check_workers(client: Client) -> None:
    """Wait for a worker, and refuse workers with other versions than this process."""
    try:
        client.wait_for_workers(1, timeout=SECONDS_FOR_WORKERS)
    except TimeoutError as error:
        raise ClusterError(
            f"the scheduler at {client.scheduler.address} has no workers; start some with `dask worker "
            f"{client.scheduler.address}`"
        ) from error
    refuse_other_versions(
        {
            address: {"chainrule": f"not importable ({answer})"} if isinstance(answer, BaseException) else answer
            for address, answer in client.run(own_versions, on_error="return").items()
        }
    )
