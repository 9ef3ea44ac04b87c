"""Other processes: programs that a test runs, and interpreters for what could break the process of the tests.

Threads and processes that are killed, signals, forks, memory and disks that are full belong there: a lock that a dead
thread holds would stop a later test for ever.
"""

import os
import shutil
import subprocess
import sys

import pytest

POSIX_ONLY = pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX does")


def run_python(code, expected=0, **options):
    """Run a program in a new interpreter; what it printed. Fails with its errors unless it ends with `expected`.

    Any end will do where None is expected.
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)
    assert expected is None or done.returncode == expected, done.stderr
    return done


def program(name):
    """The path of a program that the test runs. Where there is none, the test is skipped."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"there is no {name}; `make tools` installs it where it may")
    return path
