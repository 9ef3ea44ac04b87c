"""Waiting for an event, however long it takes.

A test compares no clocks: a busy machine is slow, which is no error. What never comes is ended by the net of the whole
run, `faulthandler_timeout` in pyproject.toml, which prints where every thread stands.
"""

import time

NET_SECONDS = 540
"""Where another library waits for us: just below the net of the run, so that what never comes names its line."""


def eventually(look):
    """What `look` gives once it is true."""
    while not (seen := look()):
        time.sleep(0.05)
    return seen
