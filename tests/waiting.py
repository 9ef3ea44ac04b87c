"""Waiting for an event, however long it takes.

A test compares no clocks: a busy machine is slow, which is no error. What never comes is ended by the net of the whole
run, `faulthandler_timeout` in pyproject.toml, which prints where every thread stands.
"""

import time

NET_SECONDS = 540
"""Where another library waits for us: just below the net of the run, so that what never comes names its line."""


def eventually(look, told=lambda: ""):
    """What `look` gives once it is true. What never comes fails, with what `told` says, before the net ends the run."""
    end = time.monotonic() + NET_SECONDS
    while not (seen := look()):
        assert time.monotonic() < end, f"this never came; {told()}"
        time.sleep(0.05)
    return seen
