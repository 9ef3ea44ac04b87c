"""Faults: processes killed, no room, no memory, no home, a clock that goes back, threads that die.

What was finished stays, nothing half-written is believed later, and every answer that comes is right.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import run_python
from waiting import eventually

import chainrule as cr
from chainrule.compile.runtime import disk_cache, threads
from compile.support import built, works

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="uses signals, limits and /proc as Linux has them")

CODE = "import chainrule as cr; print(cr.load('planar_2r').gravity_torque([0.1, 0.2]).round(9).tolist())"
RIGHT = str(cr.load("planar_2r").reference.gravity_torque([0.1, 0.2]).round(9).tolist())


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path / "kernels"


# --- killed in the middle of writing ---

BEFORE_THE_MOVE = """
import os, signal
os.replace = lambda *places: os.kill(os.getpid(), signal.SIGKILL)
"""

HALF_WRITTEN = """
import os, signal
from chainrule.compile.runtime import disk_cache
class Half:
    def __init__(self, file): self.file = file
    def __enter__(self): return self
    def __exit__(self, *rest): pass
    def write(self, content):
        self.file.write(content[: len(content) // 2]); self.file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
opened = os.fdopen
os.fdopen = lambda handle, mode: Half(opened(handle, mode)) if mode == "wb" else opened(handle, mode)
"""


@pytest.mark.parametrize("fault", [BEFORE_THE_MOVE, HALF_WRITTEN], ids=["before the move", "half written"])
def test_killed_while_an_entry_is_written(fault, kernels):
    built("mass_matrix")  # the secret, and an entry that was finished
    run_python(fault + CODE, expected=-signal.SIGKILL)
    assert len(list(kernels.glob("*.kernel"))) == 1
    (part,) = kernels.glob("*.part")
    assert run_python(CODE).stdout.strip() == RIGHT
    assert built("mass_matrix").cached
    assert built().cached
    assert part.exists()  # it might be another process's, at work
    os.utime(part, (time.time() - 7200,) * 2)
    run_python("import chainrule as cr; cr.load('planar_2r').compiled.kernel('bias')")
    assert not part.exists()


def test_killed_while_the_secret_is_made(kernels, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    fault = "import os, signal\nos.link = lambda *places: os.kill(os.getpid(), signal.SIGKILL)\n"
    run_python(fault + CODE, expected=-signal.SIGKILL)
    assert not list(kernels.glob("*.kernel"))
    assert run_python(CODE).stdout.strip() == RIGHT
    again = run_python(CODE + "; print(cr.load('planar_2r').compiled.kernel('gravity_torque').cached)")
    assert again.stdout.split("\n")[:2] == [RIGHT, "True"]


@pytest.mark.slow
def test_killed_at_any_time(kernels):
    """Processes that fill a cache are killed at random; every entry that is there afterwards is whole and right."""
    code = """
import itertools, numpy as np, chainrule as cr
from chainrule.compile.runtime import memory_cache
from chainrule.compile.runtime import disk_cache
for k in itertools.count():
    cr.load("planar_2r").scale_masses(1.0 + k % 40).gravity_torque([0.1, 0.2])
    if k % 40 == 39:
        disk_cache.clear()
        memory_cache.clear()
"""
    rng = random.Random(0)
    for _ in range(25):
        worker = subprocess.Popen([sys.executable, "-c", code])
        for _ in range(rng.randrange(1, 20)):
            before = set(kernels.glob("*"))
            eventually(lambda before=before: set(kernels.glob("*")) != before)
        worker.kill()
        worker.wait()
    for path in kernels.glob("*.kernel"):
        assert disk_cache.read(path.stem) is not None
    works(built())


# --- no room, no home, no memory ---


def test_a_full_disk_leaves_nothing_and_the_answer_is_right(kernels):
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
    done = run_python(limit + CODE)
    assert done.stdout.strip() == RIGHT
    assert "compiled kernels are not kept on disk: [Errno 27]" in done.stderr
    assert not list(kernels.iterdir())


def test_a_full_disk_without_room_for_a_secret(kernels, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (5, 5))\n"
    assert run_python(limit + CODE).stdout.strip() == RIGHT
    assert not list(kernels.iterdir())
    assert not list((tmp_path / "state" / "chainrule").iterdir())
    assert run_python(CODE).stdout.strip() == RIGHT
    assert len(list(kernels.glob("*.kernel"))) == 2  # the kernel, and the call on arrays of all kernels


WITHOUT_SETTINGS = ("CHAINRULE_CACHE", "XDG_CACHE_HOME", "XDG_STATE_HOME", "HOME")


@pytest.mark.parametrize("home", ["/proc/nobody", "/dev/null", None], ids=["read-only", "a file", "none"])
def test_a_home_that_cannot_be_used_is_no_error_and_no_warning(home):
    environment = {name: value for name, value in os.environ.items() if name not in WITHOUT_SETTINGS}
    code = CODE
    if home is None:
        code = "import pwd\ndef getpwuid(user): raise KeyError(user)\npwd.getpwuid = getpwuid\n" + CODE
    else:
        environment["HOME"] = home
    done = run_python(code, env=environment)
    assert done.stdout.strip() == RIGHT
    assert not done.stderr


OUT_OF_MEMORY = """
import ctypes, resource, threading
import numpy as np, chainrule as cr
robot = cr.load("quadruped")
q = robot.random_state(np.random.default_rng(0), (64,))
v = np.random.default_rng(1).normal(size=(64, robot.nv))
call = robot.compiled.kernel("coriolis_matrix").ufunc
expected, out = call(q, v), [np.empty((64, robot.nv, robot.nv)) for _ in range(4)]
workers = [threading.Thread(target=lambda k=k: [call(q, v, out=out[k]) for _ in range(50)]) for k in range(1, 4)]
begun = threading.Barrier(4)
for worker in workers:
    run = worker.run
    worker.run = lambda run=run: (begun.wait(), run())
    worker.start()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used, resource.getrlimit(resource.RLIMIT_AS)[1]))
while libc.malloc(1 << 16):  # what is left is too small for a tile, and enough for Python
    pass
begun.wait()
call(q, v, out=out[0])
for worker in workers:
    worker.join()
assert all((one == expected).all() for one in out)
try:
    np.empty(1 << 26)
except MemoryError:
    print("no memory, right numbers")
"""


def test_a_kernel_without_memory_for_its_tiles_gives_the_right_numbers():
    assert run_python(OUT_OF_MEMORY).stdout.strip() == "no memory, right numbers"


SCATTERED = """
import ctypes, numpy as np, chainrule as cr
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
reserve = lambda size: libc.mmap(None, size, 0, 0x4022, -1, 0)  # private, anonymous, without a claim on memory
cr.load("pendulum").mass_matrix(np.zeros((3, 1)))
block, size = reserve(4 << 30), 1 << 30
while size >= 3 * 4096:  # fill all holes above the block but those of a page or two
    address = reserve(size)
    if address < block:
        libc.munmap(address, size)
        size = size // 2 if size > 8 * 4096 else size - 4096
zeros = np.zeros((3, 3))
print(cr.load("planar_3r").forward_dynamics(zeros, zeros, zeros).shape)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for memory")
def test_code_and_its_constants_lie_together_where_free_memory_is_scattered():
    """Addresses of constants are relative to the code, within 2 GiB: else the compiler would end the process."""
    assert run_python(SCATTERED).stdout.strip() == "(3, 3)"


def test_a_kernel_whose_reserve_does_not_fit_is_a_memory_error():
    code = """
import resource, numpy as np, chainrule as cr
from chainrule.compile.fast_calls import gufunc
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 24), resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    gufunc.Reserve(1 << 28)
except MemoryError:
    print("MemoryError")
"""
    assert run_python(code).stdout.strip() == "MemoryError"


def test_a_forked_child_finds_no_reserve_taken():
    code = """
import os
from chainrule.compile.fast_calls import gufunc
reserve = gufunc.Reserve(100)
reserve.fields[0] = 1  # as if another thread had it
child = os.fork()
if child == 0:
    os._exit(7 if reserve.fields[0] == 0 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), reserve.fields[0])
"""
    assert run_python(code).stdout.split() == ["7", "1"]


# --- clocks and versions ---


def test_a_clock_that_goes_back_costs_old_entries_not_new_ones(kernels, monkeypatch):
    built("mass_matrix")
    (old,) = kernels.glob("*.kernel")
    os.utime(old, (time.time() + 1e8,) * 2)
    (kernels / "left.part").touch()
    os.utime(kernels / "left.part", (time.time() + 1e8,) * 2)
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", str(old.stat().st_size + 10))
    built()
    assert not old.exists()
    assert not (kernels / "left.part").exists()
    assert built().cached


def test_versions_that_share_a_cache_do_not_share_entries(kernels, tmp_path):
    """Another version computes otherwise; each finds its own entries again, and none finds the other's."""
    other = tmp_path / "other"
    shutil.copytree(Path(cr.__file__).parent, other / "chainrule", ignore=shutil.ignore_patterns("__pycache__"))
    text = other / "chainrule" / "algorithms" / "rnea.py"
    text.write_text(text.read_text() + "\n# another version\n")
    code = CODE + "; print(cr.load('planar_2r').compiled.kernel('gravity_torque').cached)"
    there = {**os.environ, "PYTHONPATH": str(other)}
    seen = [run_python(code, env=environment).stdout.split("\n")[:2] for environment in (None, there, None, there)]
    assert [answer for answer, _ in seen] == [RIGHT] * 4
    assert [cached for _, cached in seen] == ["False", "False", "True", "True"]


# --- threads ---


BATCH = """
import ctypes, threading
import numpy as np, chainrule as cr
from chainrule.compile.runtime import threads
q = np.random.default_rng(0).normal(size=(40_000, 7))
robot = cr.load("panda")
cr.set_threads(3)
expected = robot.gravity_torque(q)
"""


def test_worker_threads_that_die_are_not_waited_for():
    code = """
for _ in range(3):
    for worker in threads.pool()._threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(SystemExit))
    assert (robot.gravity_torque(q) == expected).all()
"""
    run_python(BATCH + code + "import os; os._exit(0)  # at its end Python would wait for threads that may be dead")


def test_threads_that_cannot_be_started_are_done_without():
    code = """
def refuse(self):
    raise RuntimeError("can't start new thread")

cr.set_threads(4)  # a new pool
threading.Thread.start = refuse
assert (robot.gravity_torque(q) == expected).all()
"""
    run_python(BATCH + code)


def test_no_part_runs_on_when_a_batch_has_failed():
    running, ended = [], []

    def fail():
        raise KeyboardInterrupt

    def work():
        running.append(1)
        time.sleep(0.05)
        ended.append(1)

    cr.set_threads(3)
    try:
        for _ in range(10):
            with pytest.raises(KeyboardInterrupt):
                threads.run_all([fail, work, work])
            assert len(running) == len(ended)
        with pytest.raises(KeyboardInterrupt):
            threads.run_all([work, fail, work])
    finally:
        cr.set_threads(None)


def test_a_fork_while_another_thread_computes_a_property_leaves_a_child_that_computes_it():
    code = """
import faulthandler, functools, os, threading
import chainrule as cr
from chainrule.model import Model
robot = cr.load("planar_2r")
prop = next(value for value in vars(Model).values() if isinstance(value, functools.cached_property))
begun, go_on, compute = threading.Event(), threading.Event(), prop.func

def slow(model):
    if threading.current_thread() is worker:
        begun.set()
        go_on.wait()
    return compute(model)

prop.func = slow
vars(robot.model).pop(prop.attrname, None)
worker = threading.Thread(target=lambda: prop.__get__(robot.model))
worker.start()
begun.wait()
child = os.fork()
if child == 0:
    faulthandler.dump_traceback_later(500, exit=True)
    prop.__get__(robot.model)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
go_on.set()
worker.join()
"""
    assert run_python(code).stdout.strip() == "7"


def test_no_file_uses_a_cached_property_with_a_lock():
    wrong = [
        str(path)
        for path in Path(cr.__file__).parent.rglob("*.py")
        if path.name != "lazy.py" and "from functools import cached_property" in path.read_text(encoding="utf-8")
    ]
    assert not wrong, "import cached_property from chainrule.lazy"
