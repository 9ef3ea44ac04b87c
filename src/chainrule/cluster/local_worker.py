"""The first steps of each worker process of a local cluster, as Dask's `preload` has them."""

from __future__ import annotations

import logging
import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C to the process that started the cluster, and say nothing of tasks and connections that it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("distributed.worker.memory").setLevel(logging.WARNING)
    logging.getLogger("distributed.worker").setLevel(logging.CRITICAL)
