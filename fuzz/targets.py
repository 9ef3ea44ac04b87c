"""What is fuzzed: a function of bytes for each format, its first inputs and the mutator that knows its structure.

A target may return, raise a `ChainruleError`, and warn as the library declares. Everything else is a finding: another
exception, another warning, too much time or memory, a crash. `WrongError` is raised where something was read that
should not have been, or was read as something else.

How to add a target: write a class with `seeds` and `run`, decorate it with `target`, and give it a mutator. Recordings
of motions are in recordings.py, the studio's messages in page.py.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import struct
import sys
from pathlib import Path
from typing import Any

import numpy as np

import chainrule as cr
from chainrule.errors import ChainruleError
from fuzz import mutate, page, recordings  # noqa: F401  (they enter their targets into the list)
from fuzz.registry import CORPUS, SEEDS, TARGETS, Target, WrongError, target  # noqa: F401

ORTHONORMAL = 1e-6
MAX_EXAMINED_DOFS = 12


def examine(robot: cr.Robot) -> None:
    """Use a robot that was loaded: it is saved and read again, and its functions are evaluated as written."""
    from chainrule.formats import native

    model = robot.model
    if native.from_native(native.to_json(model)) != model:
        raise WrongError("the robot changes when it is written as JSON and read again")
    for joint in model.joints:
        _refuse_skewed(joint.origin.rotation, f"the origin of joint {joint.name!r}")
    for frame in model.frames:
        _refuse_skewed(frame.origin.rotation, f"the origin of frame {frame.name!r}")
    if model.nv > MAX_EXAMINED_DOFS or model.constraints:  # closing a loop as written takes long
        return
    written = robot.reference
    q, zero = written.neutral(), np.zeros(robot.nv)
    with np.errstate(all="ignore"):  # numbers beyond all measure may overflow where they are used
        calls = (written.poses, (q,)), (written.inverse_dynamics, (q, zero, zero)), (written.mass_matrix, (q,))
        for function, arguments in calls:
            with contextlib.suppress(ChainruleError):
                function(*arguments)


def _refuse_skewed(rotation: Any, where: str) -> None:
    R = np.array([list(row) for row in rotation], dtype=float)
    if not (abs(R @ R.T - np.eye(3)).max() < ORTHONORMAL and np.linalg.det(R) > 0):
        raise WrongError(f"{where} is no rotation: {R.tolist()}")


class RobotFile:
    """A robot file of one suffix."""

    suffix = ""
    samples: tuple[str, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"input{self.suffix}"

    def seeds(self) -> list[bytes]:
        """The sample files."""
        return [(SEEDS / name).read_bytes() for name in self.samples]

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Load the file."""
        self.path.write_bytes(data)
        robot = cr.load(self.path)
        if thorough:
            examine(robot)


@target("urdf", mutate.xml)
class Urdf(RobotFile):
    """URDF."""

    suffix, samples = ".urdf", ("arm.urdf", "mimic.urdf", "floating.urdf")


@target("sdf", mutate.xml)
class Sdf(RobotFile):
    """SDF."""

    suffix, samples = ".sdf", ("arm.sdf", "nested.sdf")


@target("mjcf", mutate.xml)
class Mjcf(RobotFile):
    """MJCF."""

    suffix = ".xml"
    samples = ("arm.xml", "loop.xml", "geoms.xml", "tied.xml", "actuated.xml", "copies.xml", "soft.xml")


@target("toml", mutate.toml_text)
class Toml(RobotFile):
    """The library's own format, as TOML."""

    suffix, samples = ".toml", ("arm.toml", "spherical.toml", "free.toml", "loop.toml")


@target("json", mutate.json_text)
class Json(RobotFile):
    """The library's own format, as JSON."""

    suffix = ".json"

    def seeds(self) -> list[bytes]:
        """The TOML samples, written as JSON."""
        from chainrule.formats import native

        return [
            native.to_json(native.from_native((SEEDS / name).read_text(encoding="utf-8"))).encode()
            for name in Toml.samples
        ]


# --- meshes ---

CUBE = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 5, 7), (1, 7, 3)]  # fmt: skip


class MeshFile:
    """A mesh file of one suffix, for pictures and as part of an MJCF model."""

    suffix = ""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"input{self.suffix}"
        self.robot = folder / "body.xml"
        self.robot.write_text(
            f'<mujoco><asset><mesh name="m" file="{self.path.name}"/></asset><worldbody><body name="b"><joint/>'
            '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>'
        )

    def seeds(self) -> list[bytes]:
        """A cube."""
        raise NotImplementedError

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Read the mesh, and let MuJoCo weigh it."""
        from chainrule.formats import meshes

        self.path.write_bytes(data)
        if thorough:
            with contextlib.suppress(ChainruleError):
                cr.load(self.robot)
        mesh = meshes.load(self.path)
        if not (np.isfinite(mesh.points).all() and mesh.points.shape[1:] == mesh.triangles.shape[1:] == (3,)):
            raise WrongError(f"a mesh with points {mesh.points.shape} and triangles {mesh.triangles.shape}")


@target("stl", mutate.mixed((3, mutate.word), (1, mutate.any_bytes), (2, mutate.text)))
class Stl(MeshFile):
    """STL, binary and text."""

    suffix = ".stl"

    def seeds(self) -> list[bytes]:
        """A cube in both forms."""
        binary = b"\0" * 80 + struct.pack("<I", len(FACES))
        text = "solid cube\n"
        for face in FACES:
            corners = [CUBE[i] for i in face]
            binary += struct.pack("<12fH", 0, 0, 0, *(x for corner in corners for x in corner), 0)
            vertices = "".join(f"vertex {x} {y} {z}\n" for x, y, z in corners)
            text += f"facet normal 0 0 0\nouter loop\n{vertices}endloop\nendfacet\n"
        return [binary, f"{text}endsolid cube\n".encode()]


@target("obj", mutate.text)
class Obj(MeshFile):
    """Wavefront OBJ."""

    suffix = ".obj"

    def seeds(self) -> list[bytes]:
        """A cube, plainly and with all that a face may name."""
        vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in CUBE)
        plain = "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES)
        full = "".join(f"f {a + 1}/1/1 {b - 8}//1 {c + 1}/1\n" for a, b, c in FACES)
        return [
            (vertices + plain).encode(),
            f"# cube\nmtllib a.mtl\no cube\n{vertices}vn 0 0 1\nvt 0 0\n{full}".encode(),
        ]


@target("msh", mutate.binary)
class Msh(MeshFile):
    """MuJoCo's binary meshes."""

    suffix = ".msh"

    def seeds(self) -> list[bytes]:
        """A cube with and without faces."""
        points = struct.pack("<24f", *(x for corner in CUBE for x in corner))
        faces = struct.pack("<36i", *(i for face in FACES for i in face))
        return [
            struct.pack("<4i", 8, 0, 0, 12) + points + faces,
            struct.pack("<4i", 8, 8, 8, 0) + points + points + b"\0" * 64,
        ]


# --- trajectories ---


class TrajectoryFile:
    """A file of a trajectory, of one suffix."""

    suffix = ""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / f"input{self.suffix}"
        self.robots = [cr.load("planar_2r").reference, cr.load("four_bar").reference]

    def seeds(self) -> list[bytes]:
        """A short motion of each robot, and a batch of them."""
        arm, loop = self.robots
        motions = [_motion(arm, ()), _motion(loop, ()), _motion(arm, (2,))]
        found = []
        for motion in motions:
            motion.save(self.path)
            found.append(self.path.read_bytes())
        return found

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Read the trajectory, and use it."""
        self.path.write_bytes(data)
        motion = self.load()
        repr(motion), len(motion), motion.duration, motion.batch
        if thorough and motion.robot.nv <= MAX_EXAMINED_DOFS:
            with np.errstate(all="ignore"), contextlib.suppress(ChainruleError):
                examine(cr.Robot(motion.robot.model))
                motion[:1].robot.reference.potential_energy(motion.q)

    def load(self) -> Any:
        """The trajectory in the file."""
        return cr.Trajectory.load(self.path)


def _motion(robot: cr.Robot, batch: tuple[int, ...]) -> Any:
    """A trajectory of three samples."""
    rng, n = np.random.default_rng(0), robot.nv
    widths = {"q": robot.nq, "work": 3, "states": 1}
    columns = ("q", "qd", "qdd", "tau", "friction", "work", "states")
    arrays: dict[str, Any] = {name: rng.normal(size=(*batch, 3, widths.get(name, n))) for name in columns}
    return cr.Trajectory(robot=robot, t=np.array([0.0, 0.1, 0.2]), **arrays, method="rk4", status="finished")


@target("npz", mutate.npz)
class Npz(TrajectoryFile):
    """Trajectories as NumPy archives."""

    suffix = ".npz"


@target("parquet", mutate.parquet)
class Parquet(TrajectoryFile):
    """Trajectories as Parquet files."""

    suffix = ".parquet"


@target("csv", mutate.text)
class Csv(TrajectoryFile):
    """Trajectories as CSV."""

    suffix = ".csv"

    def load(self) -> Any:
        """The trajectory in the file, for a robot of two joints."""
        return cr.Trajectory.load(self.path, self.robots[0])


# --- cache entries ---


@target("cache", mutate.cache_entry)
class CacheEntry:
    """Entries of the cache of compiled kernels: one that was changed is never believed."""

    key = "0123456789abcdef" * 4

    def __init__(self, folder: Path) -> None:
        from chainrule.compile.runtime import disk_cache

        self.cache = disk_cache
        self.entry = disk_cache.CacheEntry(
            bytes(range(256)), {"robot": "r", "function": "pose", "bits": 64, "shape": [4, 4]}
        )
        disk_cache.write(self.key, self.entry)
        stored = [path for path in disk_cache.entries() if self.key in path.name]
        if not stored:
            raise RuntimeError(f"the cache in {os.environ.get('CHAINRULE_CACHE')} keeps nothing")
        self.path = stored[0]
        self.content = self.path.read_bytes()

    def seeds(self) -> list[bytes]:
        """An entry as it was written, and one of other facts."""
        return [self.content]

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Read the entry and its facts."""
        self.path.write_bytes(data)
        entry = self.cache.read(self.key)
        if entry is not None and (entry.code != self.entry.code or entry.facts != self.entry.facts):
            raise WrongError("an entry that was changed is believed")
        if entry is None and data == self.content:
            raise WrongError("an entry that is whole is not read")
        facts = self.cache.facts_of(self.path)
        if facts is not None and not isinstance(facts, dict):
            raise WrongError(f"the facts of an entry are {facts!r:.60}")


# --- command lines ---

SLOW_COMMANDS = ("simulate", "workspace", "equations", "export", "ik", "demo", "bench")
EXCLUDED_COMMANDS = ("bench", "demo")
"""Measurements and shows, which take seconds each."""
CONTROL_CHARACTERS = frozenset(chr(i) for i in (*range(32), *range(127, 160))) - {"\n", "\t"}


@target("command_line", mutate.command)
class CommandLine:
    """Command lines: words on lines of their own, run in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "arm.urdf").write_bytes((SEEDS / "arm.urdf").read_bytes())
        (folder / "odd.json").write_bytes((SEEDS / "odd.json").read_bytes())
        import chainrule.symbolic  # noqa: F401  (whatever a stopped import would leave half made)

        main = importlib.import_module("chainrule.cli.main")  # the package has a function of this name
        self.cli = main.cli
        for name in main.COMMANDS:
            self.cli.get_command(None, name)

    def seeds(self) -> list[bytes]:
        """Commands that work."""
        lines = (SEEDS / "commands.txt").read_text(encoding="utf-8").splitlines()
        return ["\n".join(line.split()).encode() for line in lines]

    def run(self, data: bytes, *, thorough: bool) -> None:
        """Run the command; what it prints as JSON is JSON, and nothing it prints commands a terminal."""
        import click

        plain = data.translate(bytes.maketrans(b"/~", b"__"), b"\0")  # nothing outside the folder; no word holds a NUL
        words = [word.decode("utf-8", "surrogateescape") for word in plain.split(b"\n")]
        words = [word for word in words if word not in EXCLUDED_COMMANDS]
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape"), io.StringIO()
        code: object = 0
        kept = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, err
        try:
            code = self.cli(words, standalone_mode=False, prog_name="chainrule")
        except SystemExit as end:
            code = end.code
        except (click.ClickException, click.Abort, OSError):
            code = 2
        finally:
            sys.stdout, sys.stderr = kept
        out.flush()
        printed = out.buffer.getvalue().decode("utf-8", "replace")
        if not code and "--json" in words and "--help" not in words and "-h" not in words and "--version" not in words:
            self._refuse_bad_json(printed)
        if set(printed) & CONTROL_CHARACTERS:
            raise WrongError(
                f"a control character in the output of {words}: {sorted(set(printed) & CONTROL_CHARACTERS)!r}"
            )

    def _refuse_bad_json(self, printed: str) -> None:
        def refuse(word: str) -> None:
            raise WrongError(f"--json prints {word}, which is not JSON")

        try:
            json.loads(printed, parse_constant=refuse)
        except ValueError as error:
            raise WrongError(f"--json prints what is not JSON: {error}") from error

    def is_long_work(self, data: bytes) -> bool:
        """Whether a command may take as long as it is told to."""
        return any(word in SLOW_COMMANDS for word in data.decode("utf-8", "replace").split("\n"))
