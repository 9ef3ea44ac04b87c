"""Kernels on disk: found again, never trusted blindly, within bounds."""

import os
import subprocess
import sys

import pytest

import chainrule as cr
from chainrule.compile.kernel import Kernel
from chainrule.compile.runtime import disk_cache, engine, private_files, threads
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
    assert not Kernel(other.model, "gravity_torque", other.model.digest(), {}).cached
    monkeypatch.setattr(engine, "version", lambda: "another compiler")
    assert not built().cached
    monkeypatch.undo()
    monkeypatch.setenv("CHAINRULE_CACHE", str(empty_cache))
    monkeypatch.setattr(disk_cache, "source_digest", lambda: "another algorithm")
    assert not built().cached


def test_a_cache_that_cannot_be_written_or_is_off_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("CHAINRULE_CACHE", str(blocked / "inside"))
    with pytest.warns(disk_cache.CacheWarning, match="is not a folder"):
        works(built())
    assert not built().cached
    monkeypatch.setenv("CHAINRULE_CACHE", "off")
    works(built())
    assert not built().cached


def test_a_cache_without_a_home_or_with_a_wrong_bound(monkeypatch, empty_cache):
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", "512M")
    with pytest.raises(cr.ShapeError, match="must be a number of bytes, got '512M'"):
        built()
    monkeypatch.delenv("CHAINRULE_CACHE_BYTES")

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(disk_cache, "folder", homeless)
    with pytest.warns(disk_cache.CacheWarning, match="Could not determine home directory"):
        works(built())


def test_the_cache_keeps_within_its_bound(empty_cache, monkeypatch):
    built()
    size = next(empty_cache.glob("*.kernel")).stat().st_size
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", str(2 * size))
    for name in ("mass_matrix", "bias", "inverse_dynamics"):
        built(name)
    assert sum(p.stat().st_size for p in empty_cache.glob("*.kernel")) <= 3 * size
    assert disk_cache.clear() >= 1
    assert not list(empty_cache.glob("*"))


def test_two_processes_may_fill_the_cache_at_once(empty_cache):
    code = "import chainrule as cr; print(cr.load('planar_3r').gravity_torque([0.1, 0.2, 0.3]).tolist())"
    workers = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {worker.communicate()[0] for worker in workers}
    assert len(answers) == 1
    assert all(worker.returncode == 0 for worker in workers)
    assert not list(empty_cache.glob("*.part"))


# --- who can change what is loaded ---

CODE = "import chainrule as cr; print(cr.load('planar_2r').gravity_torque([0.1, 0.2]).round(9).tolist())"
RIGHT = str(cr.load("planar_2r").reference.gravity_torque([0.1, 0.2]).round(9).tolist())


def run_code(code=CODE, cwd=None, **environment):
    """What a process prints and warns of; None removes a variable."""
    variables = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={name: value for name, value in variables.items() if value is not None},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("word", ["off", "0", "no", "No", "false", "FALSE", "none", "disabled", " off "])
def test_words_that_mean_off_are_off(word, monkeypatch):
    monkeypatch.setenv("CHAINRULE_CACHE", word)
    assert not disk_cache.is_enabled()


def test_off_makes_no_folder(tmp_path):
    assert run_code(cwd=tmp_path, CHAINRULE_CACHE="false").stdout.strip() == RIGHT
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", ["on", "1", "yes", "True", ""])
def test_words_that_mean_on_are_the_default_folder(word, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CHAINRULE_CACHE", word)
    assert disk_cache.is_enabled()
    if sys.platform == "linux":
        assert disk_cache.folder() == tmp_path / "chainrule"


@pytest.mark.parametrize("place", ["kernels", "../kernels"])
def test_a_relative_folder_is_refused_and_said_once(place, tmp_path):
    (tmp_path / "here").mkdir()
    twice = CODE + "; cr.load('planar_3r').gravity_torque([0.1, 0.2, 0.3])"
    done = run_code(twice, cwd=tmp_path / "here", CHAINRULE_CACHE=place)
    assert done.stdout.strip() == RIGHT
    assert done.stderr.count("CHAINRULE_CACHE must be an absolute path, or 'off', got") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["here"]
    assert not list((tmp_path / "here").iterdir())


def test_a_home_that_is_no_absolute_path_is_refused(tmp_path):
    done = run_code(cwd=tmp_path, CHAINRULE_CACHE=None, XDG_CACHE_HOME=None, XDG_STATE_HOME=None, HOME="here")
    assert done.stdout.strip() == RIGHT
    assert "must be an absolute path" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_entry_that_somebody_else_has_made_is_not_believed(empty_cache, tmp_path, monkeypatch):
    """Everything about an entry can be computed by anyone but its authentication, which takes the user's secret."""
    built()
    (path,) = empty_cache.glob("*.kernel")
    heavy = cr.load("planar_2r").scale_masses(666.0).model
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "attacker"))
    monkeypatch.setenv("CHAINRULE_CACHE", str(tmp_path / "forged"))
    Kernel(heavy, "gravity_torque", heavy.digest(), {})
    (forged,) = (tmp_path / "forged").glob("*.kernel")
    entry = disk_cache.read(forged.stem)
    monkeypatch.setenv("CHAINRULE_CACHE", str(empty_cache))
    disk_cache.write(path.stem, entry)  # whole and right, with the attacker's secret
    assert Kernel(cr.load("planar_2r").model, "gravity_torque", cr.load("planar_2r").model.digest(), {}).cached
    monkeypatch.undo()
    monkeypatch.setenv("CHAINRULE_CACHE", str(empty_cache))
    kernel = built()
    assert not kernel.cached
    works(kernel)
    assert built().cached


def test_the_secret_is_for_the_users_eyes_only_and_lies_elsewhere(empty_cache):
    built()
    path = private_files.secret_file()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_size == private_files.SECRET_BYTES
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert empty_cache not in path.parents
    assert not list(path.parent.glob("*.part"))


@pytest.fixture
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(private_files, "_secrets", {})
    monkeypatch.setattr(disk_cache, "_warned", set())
    return tmp_path / "state"


@pytest.mark.usefixtures("own_state")
def test_a_secret_that_others_can_read_is_not_used(empty_cache, monkeypatch):
    built()
    private_files.secret_file().chmod(0o640)
    monkeypatch.setattr(private_files, "_secrets", {})
    with pytest.warns(
        disk_cache.CacheWarning, match=r"other users can read the file '.*cache\.key' \(it holds the secret"
    ):
        kernel = built()
    assert not kernel.cached
    works(kernel)


@pytest.mark.usefixtures("own_state")
@pytest.mark.parametrize("size", [0, 7])
def test_half_a_secret_is_replaced(size, empty_cache, monkeypatch):
    built()
    before = private_files.secret()
    private_files.secret_file().write_bytes(before[:size])
    monkeypatch.setattr(private_files, "_secrets", {})
    assert not built().cached
    assert len(private_files.secret()) == private_files.SECRET_BYTES
    assert private_files.secret() != before
    assert built().cached


@pytest.mark.usefixtures("own_state")
def test_many_processes_that_begin_at_once_share_one_secret(empty_cache):
    code = "import chainrule.compile.runtime.private_files as s; input(); print(s.secret().hex())"
    workers = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    for worker in workers:  # all wait for a line
        worker.stdin.write("\n")
        worker.stdin.flush()
    assert len({worker.communicate()[0] for worker in workers}) == 1


def test_a_folder_that_others_can_write_to_or_move_is_refused(tmp_path, own_state):
    place = tmp_path / "parent" / "kernels"
    run_code(CHAINRULE_CACHE=str(place))
    assert "CacheWarning" not in run_code(CHAINRULE_CACHE=str(place)).stderr
    for path, mode in ((place, 0o770), (place.parent, 0o777)):
        before = path.stat().st_mode
        path.chmod(mode)
        done = run_code(CHAINRULE_CACHE=str(place))
        assert done.stdout.strip() == RIGHT
        assert done.stderr.count("compiled kernels are not kept on disk") == 1
        path.chmod(before & 0o777)
    place.parent.chmod(0o1777)  # as /tmp is: users can move what is their own only
    assert "CacheWarning" not in run_code(CHAINRULE_CACHE=str(place)).stderr


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("given", ["kernels", "parent", "entry", "state"])
def test_what_belongs_to_another_user_is_refused(given, tmp_path, own_state):
    place = tmp_path / "parent" / "kernels"
    run_code(CHAINRULE_CACHE=str(place))
    entries = list(place.glob("*.kernel"))
    for path in {"kernels": [place], "parent": [place.parent], "entry": entries, "state": [own_state]}[given]:
        os.chown(path, 12345, -1)
    probe = CODE + "; print(cr.load('planar_2r').compiled.kernel('gravity_torque').cached)"
    done = run_code(probe, CHAINRULE_CACHE=str(place))
    assert done.stdout.split("\n")[:2] == [RIGHT, "False"]
    assert ("belongs to another user" in done.stderr) == (given != "entry")


def test_an_entry_is_neither_a_link_nor_a_pipe(empty_cache, tmp_path):
    built()
    (path,) = empty_cache.glob("*.kernel")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert not built().cached
    path.unlink()
    os.mkfifo(path)
    assert not built().cached
    assert built().cached


@pytest.mark.parametrize("text", ["²", "٣", "-1", "1e9", "9" * 5000])
def test_odd_numbers_in_the_environment_are_refused(text, monkeypatch, empty_cache):
    monkeypatch.setenv("CHAINRULE_CACHE_BYTES", text)
    with pytest.raises(cr.ShapeError, match="CHAINRULE_CACHE_BYTES must be a number of bytes"):
        built()
    monkeypatch.setenv("CHAINRULE_THREADS", text)
    with pytest.raises(cr.ShapeError, match="CHAINRULE_THREADS must be a positive integer"):
        threads.threads()


@pytest.mark.parametrize("setting", ["", "off", "relative", "/absolute"])
def test_the_command_line_says_where_kernels_are(setting, tmp_path):
    for command in (["cache"], ["cache", "--clear"]):
        done = subprocess.run(
            [sys.executable, "-m", "chainrule", *command],
            env={**os.environ, "CHAINRULE_CACHE": str(tmp_path) if setting == "/absolute" else setting},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        assert ("must be an absolute path" in done.stderr) == (setting == "relative")
