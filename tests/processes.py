"""A process of its own, for what could break the process of the tests: threads and processes that are killed, signals,
forks, memory and disks that are full. A lock that a dead thread holds would stop a later test for ever.
"""

import subprocess
import sys


def run_python(code, expected=0, **options):
    """Run a program in a new interpreter; what it printed. Fails with its errors unless it ends with `expected`."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, **options)
    assert done.returncode == expected, done.stderr
    return done
