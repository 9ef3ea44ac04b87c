"""How all tests run: which path they take, where kernels are kept, and what the run records.

There are three tiers. `make fast` runs the tests marked `interpreted`, `make test` all but those marked `slow`, and
`make test-all` everything. A test marked `interpreted` takes the reference path: it compiles nothing. One marked
`both_paths` is interpreted, and runs compiled too in `make test-all`.
"""

import gc
import os
import signal

import pytest
import run_record
from hypothesis import HealthCheck, settings

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


@pytest.fixture(autouse=True, scope="session")
def shared_cache(tmp_path_factory):
    """Kernels are kept for the run, for all its processes. Tests neither use nor fill the cache of whoever runs them."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with pytest.MonkeyPatch.context() as patch:
        for name, place in (("CHAINRULE_CACHE", "cache"), ("XDG_STATE_HOME", "state")):  # the cache's secret is state
            (folder / place).mkdir(mode=0o700, exist_ok=True)
            patch.setenv(name, str(folder / place))
        yield


def pytest_terminal_summary(terminalreporter, config):
    if config.option.record and not hasattr(config, "workerinput"):  # the whole run, not one of its processes
        run_record.write(config.option.record, terminalreporter)
