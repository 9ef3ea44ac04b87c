"""Kernels on disk: found again, never trusted blindly, within bounds."""

import subprocess
import sys

import pytest

import chainrule as cr
from chainrule.compile.kernel import Kernel
from chainrule.compile.load import cache, engine
from chainrule.core.mechanism import fingerprint
from compile.support import built, works


@pytest.fixture
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def test_a_second_kernel_comes_from_the_cache(empty_cache):
    assert not built().cached
    again = built()
    assert again.cached
    works(again)
    assert again.instructions == built().tape.instructions.__len__()
    assert (empty_cache.stat().st_mode & 0o077) == 0


@pytest.mark.parametrize(
    "damage", ["truncated", "changed", "empty", "another key", "no header", "not ours", "facts", "nested"]
)
def test_an_entry_that_cannot_be_trusted_is_built_again(empty_cache, damage):
    built()
    (path,) = empty_cache.glob("*.kernel")
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "changed":
        path.write_bytes(content[:-100] + bytes(100))
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "another key":
        built("mass_matrix")
        other = next(p for p in empty_cache.glob("*.kernel") if p != path)
        path.write_bytes(other.read_bytes())
    elif damage == "facts":
        path.write_bytes(content.replace(b'"flops"', b'"flips"', 1))
    elif damage == "nested":
        path.write_bytes(b"[" * 100_000 + content)
    elif damage == "no header":
        path.write_bytes(b"\x7fELF" + content)
    else:
        path.chmod(0o666)
    kernel = built()
    assert not kernel.cached
    works(kernel)


def test_the_key_holds_everything_that_shapes_a_kernel(monkeypatch, empty_cache):
    built()
    other = cr.load("planar_2r").scale_masses(2.0)
    assert not Kernel(other.model, "gravity_torque", fingerprint(other.model), {}).cached
    monkeypatch.setattr(engine, "version", lambda: "another compiler")
    assert not built().cached
    monkeypatch.undo()
    monkeypatch.setenv("CHAINRULE_CACHE", str(empty_cache))
    monkeypatch.setattr(cache, "source_digest", lambda: "another algorithm")
    assert not built().cached


def test_a_cache_that_cannot_be_written_or_is_off_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    for place in (str(blocked / "inside"), "off"):
        monkeypatch.setenv("CHAINRULE_CACHE", place)
        works(built())
        assert not built().cached


def test_a_cache_without_a_home_or_with_a_wrong_bound(monkeypatch, empty_cache):
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", "512M")
    with pytest.raises(cr.ShapeError, match="must be a number of bytes, got '512M'"):
        built()
    monkeypatch.delenv("CHAINRULE_CACHE_BYTES")

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache, "folder", homeless)
    works(built())


def test_the_cache_keeps_within_its_bound(empty_cache, monkeypatch):
    built()
    size = next(empty_cache.glob("*.kernel")).stat().st_size
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", str(2 * size))
    for name in ("mass_matrix", "bias", "inverse_dynamics"):
        built(name)
    assert sum(p.stat().st_size for p in empty_cache.glob("*.kernel")) <= 3 * size
    assert cache.clear() >= 1
    assert not list(empty_cache.glob("*"))


def test_two_processes_may_fill_the_cache_at_once(empty_cache):
    code = "import chainrule as cr; print(cr.load('planar_3r').gravity_torque([0.1, 0.2, 0.3]).tolist())"
    workers = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {worker.communicate()[0] for worker in workers}
    assert len(answers) == 1
    assert all(worker.returncode == 0 for worker in workers)
    assert not list(empty_cache.glob("*.part"))
