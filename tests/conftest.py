"""How all tests run: which path they take, where kernels are kept, and what the run records.

There are three tiers. `make fast` runs the tests marked `interpreted`, `make test` all but those marked `slow`, and
`make test-all` everything. A test marked `interpreted` takes the reference path: it compiles nothing. One marked
`both_paths` is interpreted, and runs compiled too in `make test-all`.
"""

import gc
import os
import signal
import tempfile
from pathlib import Path

import pytest
import run_record
from hypothesis import HealthCheck, settings

for size in ("COLUMNS", "LINES"):  # results print as wide as where there is no terminal
    os.environ.pop(size, None)

settings.register_profile(
    "chainrule",
    deadline=None,  # a busy machine is slow, which is no error
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
)
settings.load_profile("chainrule")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background process is deaf to it, and so are its own
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write golden files anew")
    parser.addoption("--record", metavar="FILE", help="write counts, time and machine into the table of this page")


def pytest_configure(config):
    """Keep kernels for the run, for all its processes, and leave the home of whoever runs the tests as it is.

    What tests keep in the cache, and what browsers and notebooks write, is gone when the run ends. Files of tests are
    imported in that folder already: some compile kernels.
    """
    if hasattr(config, "workerinput"):
        return  # a process of the run, which has these from it
    folder = tempfile.TemporaryDirectory(prefix="chainrule-tests-", ignore_cleanup_errors=True)
    config.add_cleanup(folder.cleanup)
    for name in ("CHAINRULE_CACHE", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "IPYTHONDIR"):
        place = Path(folder.name, name.lower())
        place.mkdir(mode=0o700)
        os.environ[name] = str(place)


def pytest_ignore_collect(collection_path, config):
    """`make fast` does not import the files that have nothing for it: some load other libraries for seconds."""
    if config.option.markexpr.startswith("interpreted") and collection_path.suffix == ".py":
        text = collection_path.read_text(encoding="utf-8")
        return not ("mark.interpreted" in text or "mark.both_paths" in text) or None
    return None


def pytest_collection_finish():
    """Leave what was imported out of all later collections of garbage: it is millions of objects."""
    gc.collect()
    gc.freeze()


def pytest_generate_tests(metafunc):
    if metafunc.definition.get_closest_marker("both_paths"):
        metafunc.fixturenames.append("path")
        compiled = pytest.param("compiled", marks=pytest.mark.slow)
        metafunc.parametrize("path", [pytest.param("reference", marks=pytest.mark.interpreted), compiled])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Take the reference path where the test says so, its fixtures included."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("interpreted"):
            from chainrule.compile.runtime import engine

            patch.setenv("CHAINRULE_KERNELS", "off")
            patch.setattr(engine, "MachineCode", _refuse_to_load)
        return (yield)


def _refuse_to_load(content):
    raise AssertionError("a test marked `interpreted` uses compiled code; take the mark away")


def pytest_terminal_summary(terminalreporter, config):
    if config.option.record and not hasattr(config, "workerinput"):  # the whole run, not one of its processes
        run_record.write(config.option.record, terminalreporter)
