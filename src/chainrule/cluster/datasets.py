"""Data sets of recorded motions: torques, terms, wrenches and statistics of more than memory holds.

Files are streamed a few rows at a time, in this process or on a cluster. A result gets its name when it is whole, and
says what shaped it, so that after a crash the same call goes on where it stopped. A file that cannot be read is set
aside and reported, and the others go on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any

from chainrule.arguments import as_list, flag, one_of
from chainrule.calls import explains_arguments
from chainrule.cluster.client import connect
from chainrule.cluster.files import FACTS, DataFile, Folder, find_files
from chainrule.cluster.pieces import FilePiece, Finished, RobotOf, RowReader, Work
from chainrule.cluster.products import ColumnFunction, Results, SummaryProduct
from chainrule.cluster.reading import Reading, read_columns
from chainrule.cluster.result_columns import Computation
from chainrule.cluster.stream import Outcome, run_tasks
from chainrule.cluster.targets import Solving, TargetReading
from chainrule.errors import FormatError, MotionWarning, ShapeError, UnknownNameError, quoted, short_repr, warn_user
from chainrule.robot.robot import Robot
from chainrule.statistics.statistics import Statistics

ASIDE = "_set_aside.json"
"""A file in a folder of results, which says what is missing and why."""

COMPRESSIONS = ("snappy", "zstd", "lz4", "gzip", "none")
DERIVATIVES = ("auto", "given", "computed")
RECORDING_OPTIONS = ("rate", "constant", "smoothing", "cutoff", "noise", "time_unit", "sort")


@dataclass(frozen=True, eq=False)
class Report:
    """The files of a data set, and what became of them."""

    folder: str | None
    """Where the results are."""
    written: tuple[str, ...]
    """Results made by this call, by their names below the folder."""
    kept: tuple[str, ...]
    """Results that were there from an earlier call."""
    set_aside: Mapping[str, str]
    """Files without a result, and why."""
    notes: Mapping[str, tuple[str, ...]]
    """What had to be assumed about files."""
    rows: int
    """Of all results."""

    def __repr__(self) -> str:
        return (
            f"<Report: {self.rows} rows, {len(self.written)} files written, {len(self.kept)} kept, "
            f"{len(self.set_aside)} set aside>"
        )


@dataclass(frozen=True, eq=False)
class DatasetStatistics(Mapping[str, Statistics]):
    """Statistics of a data set, for each joint: "angle", "speed", "acceleration", "torque" and "power".

    Extremes say the file and the row in it. `groups` has the same by the value of a partition.
    """

    overall: Mapping[str, Statistics]
    groups: Mapping[str, Mapping[str, Statistics]]
    report: Report

    def __getitem__(self, quantity: str) -> Statistics:
        if quantity not in self.overall:
            raise UnknownNameError.of("quantity", quantity, self.overall, "the statistics of a data set")
        return self.overall[quantity]

    def __iter__(self) -> Iterator[str]:
        return iter(self.overall)

    def __len__(self) -> int:
        return len(self.overall)

    def __repr__(self) -> str:
        return f"<DatasetStatistics of {self.report.rows} rows: {', '.join(self.overall)}>"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Parquet files of recorded motions, or of states; made by `cr.dataset`."""

    files: tuple[DataFile, ...]
    reading: Reading
    storage: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files)

    def __iter__(self) -> Iterator[DataFile]:
        return iter(self.files)

    def __repr__(self) -> str:
        parts = f", by {', '.join(self.partitions)}" if self.partitions else ""
        return f"<Dataset: {len(self)} files, {sum(file.size for file in self.files) / 1e9:.3g} GB{parts}>"

    @property
    def partitions(self) -> dict[str, tuple[str, ...]]:
        """The values of each key of its folders "key=value"."""
        found: dict[str, set[str]] = {}
        for file in self.files:
            for key, value in file.partitions.items():
                found.setdefault(key, set()).add(value)
        return {key: tuple(sorted(values)) for key, values in found.items()}

    def where(self, **values: Any) -> Dataset:
        """The part whose folders have these values: where(subject="7"), or where(subject=["7", "8"])."""
        known = self.partitions
        wanted: dict[str, set[str]] = {}
        for key, value in values.items():
            if key not in known:
                raise UnknownNameError.of("partition", key, known, "the data set")
            several = value if isinstance(value, (list, tuple, set)) else [value]
            wanted[key] = {str(one) for one in several}
            for one in wanted[key]:
                if one not in known[key]:
                    raise UnknownNameError.of(f"value of {key!r}", one, known[key], "the data set")
        kept = [file for file in self.files if all(file.partitions.get(k) in v for k, v in wanted.items())]
        if not kept:
            raise ShapeError(f"no file of the data set has {wanted!r:.200} together")
        return replace(self, files=tuple(kept))

    # What is computed

    def torques(self, robot: RobotOf, folder: str | PathLike[str], **options: Any) -> Report:
        """The torques of all motions, in columns "tau.JOINT"; the options are those of `evaluate`."""
        return self._results(robot, Computation("torques"), folder, options)

    def terms(self, robot: RobotOf, folder: str | PathLike[str], **options: Any) -> Report:
        """Torques by cause, in columns "gravity.JOINT" and so on, as of `robot.torque_terms`."""
        return self._results(robot, Computation("terms"), folder, options)

    def wrenches(self, robot: RobotOf, folder: str | PathLike[str], **options: Any) -> Report:
        """The wrenches that joints carry, in columns "JOINT.mx" to "JOINT.fz", as of `robot.joint_wrenches`."""
        return self._results(robot, Computation("wrenches"), folder, options)

    def evaluate(
        self,
        robot: RobotOf,
        function: str,
        folder: str | PathLike[str],
        *,
        cluster: Any = None,
        workers: int | None = None,
        compression: str = "snappy",
        storage_options: Mapping[str, Any] | None = None,
        progress: bool | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Report:
        """Any function of the state, such as "mass_matrix", into columns "mass_matrix.0.1".

        Results lie in the folder under the names of their files, partitions included. The same call again makes only
        what is missing, and what belongs to a file that has changed.

        Parameters
        ----------
        robot
            The robot; or a function of a file's partitions that gives it, such as lambda p: arms[p["subject"]].
        function
            The name of a function of the robot, as in `robot.compiled.kernel`.
        folder
            Where results go: a path, or an address of fsspec.
        cluster
            The address of a scheduler of Dask, a Client or a Cluster; the client in use, if there is one.
        workers
            So many processes of this machine in place of a cluster. With neither, this process computes.
        compression
            Of the Parquet files: "snappy", "zstd", "lz4", "gzip" or "none".
        storage_options
            For the folder, as fsspec takes them; those of the data set unless given.
        progress
            Whether a bar is shown; on a terminal it is, after a second.
        options
            Of the function, such as {"link": "hand"}.
        """
        given = {
            "cluster": cluster, "workers": workers, "compression": compression, "storage_options": storage_options,
            "progress": progress,
        }  # fmt: skip
        return self._results(robot, Computation(function, dict(options or {})), folder, given)

    def inverse_kinematics(
        self,
        robot: RobotOf,
        folder: str | PathLike[str],
        *,
        options: Mapping[str, Any] | None = None,
        **run: Any,
    ) -> Report:
        """The inverse kinematics of targets, into columns "q.JOINT", "success", "reason" and errors in m and rad.

        A row of a file is a target: columns x, y, z, with qx, qy, qz, qw or roll, pitch, yaw where it has an
        orientation; or lists in a column "pose", of 16 numbers (the rows of a matrix), 7, 6 or 3. `columns` of
        `cr.dataset` gives other names. Points alone need options={"task": "position"}.

        Parameters
        ----------
        robot, folder
            As in `evaluate`.
        options
            Of `robot.inverse_kinematics`: link, task, tolerance, restarts and so on. Each target has the solution that
            it would have alone.
        run
            cluster, workers, compression, storage_options and progress, as in `evaluate`.
        """
        reading = TargetReading(self.reading.columns, self.reading.degrees, self.reading.keep)
        return self._results(robot, Solving(dict(options or {})), folder, run, reading)

    def statistics(
        self,
        robot: RobotOf,
        folder: str | PathLike[str] | None = None,
        *,
        by: str | None = None,
        cluster: Any = None,
        workers: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        progress: bool | None = None,
    ) -> DatasetStatistics:
        """Statistics of angles, speeds, accelerations, torques and powers of each joint, over all motions.

        by: a partition, for statistics of each of its values too. folder: keeps those of each file there, so that the
        same call goes on after a crash. The other options are those of `evaluate`.
        """
        if by is not None and by not in self.partitions:
            raise UnknownNameError.of("partition", by, self.partitions, "the data set")
        place = None if folder is None else self._folder(folder, storage_options)
        work = Work(robot, self.reading, SummaryProduct(), place, self.storage)
        parts: dict[str | None, Merged] = {}
        finished = []
        for one in self._finish(work, cluster, workers, progress):
            finished.append(replace(one, statistics={}))
            if one.status != "set aside":
                for group in {None, None if by is None else one.piece.file.partitions.get(by)}:
                    parts.setdefault(group, Merged()).add(one.statistics)
        report = self._report(work, finished)
        overall = parts.pop(None).total()
        return DatasetStatistics(overall, {str(group): part.total() for group, part in parts.items()}, report)

    def _results(
        self,
        robot: RobotOf,
        computation: ColumnFunction,
        folder: str | PathLike[str],
        given: Mapping[str, Any],
        reading: RowReader | None = None,
    ) -> Report:
        options = dict(given)
        compression = one_of(COMPRESSIONS, options.pop("compression", "snappy"), "compression", "a Parquet file")
        place = self._folder(folder, options.pop("storage_options", None))
        work = Work(robot, reading or self.reading, Results(computation, compression), place, self.storage)
        run = {name: options.pop(name, None) for name in ("cluster", "workers", "progress")}
        if options:
            known = (*run, "compression", "storage_options")
            raise UnknownNameError.of("option", next(iter(options)), known, "a computation of a data set")
        return self._report(work, list(self._finish(work, **run)))

    def _folder(self, folder: Any, storage: Mapping[str, Any] | None) -> Folder:
        return Folder.at(folder, self.storage if storage is None else storage)

    def _finish(self, work: Work, cluster: Any, workers: int | None, progress: bool | None) -> Iterator[Finished]:
        """The records of all pieces, as they are finished."""
        if not (isinstance(work.robot, Robot) or callable(work.robot)):
            raise ShapeError(f"robot must be a Robot, or a function that gives one, got {short_repr(work.robot)}")
        first = work.robot_for(self.files[0])
        work.product.check(first)
        work.reading.check(first)
        if work.folder is not None:
            work.folder.refuse_inputs(self.files)
            _claim(work)
        with _sweeping(work.folder, self.files), connect(cluster, workers) as client:
            if client is not None:
                _refuse_own_memory(work.folder, self.files)
            again: list[tuple[FilePiece, ...]] = []
            run = partial(run_tasks, work.finish, client=client, name=_name, doing="data set", unit="tasks")
            for outcome in run(list(work.tasks(self.files)), progress=progress):
                if outcome.error is not None and len(outcome.task) > 1:
                    again += [(piece,) for piece in outcome.task]  # one of them has killed its worker: which?
                else:
                    yield from _records(outcome)
            for outcome in run(again, progress=progress):
                yield from _records(outcome)

    def _report(self, work: Work, finished: Sequence[Finished]) -> Report:
        aside = {one.piece.name: one.reason for one in finished if one.status == "set aside"}
        if len(aside) == len(finished):
            name, reason = next(iter(aside.items()))
            raise FormatError(f"no file of the data set could be read; {name!r}: {reason}")
        if work.folder is not None:
            work.folder.write_json(ASIDE, aside)
        if aside:
            first = "; ".join(f"{name!r}: {reason}" for name, reason in list(aside.items())[:3])
            warn_user(f"{len(aside)} of {len(finished)} files are set aside, {first}", MotionWarning)
        doubtful = [(one.piece.name, one.doubts[0]) for one in finished if one.doubts]
        if doubtful:
            first = "; ".join(f"{name!r}: {doubt}" for name, doubt in doubtful[:3])
            warn_user(
                f"look at {len(doubtful)} of {len(finished)} files, whose notes are in the report, {first}",
                MotionWarning,
            )
        return Report(
            None if work.folder is None else work.folder.url,
            tuple(one.piece.name for one in finished if one.status == "written"),
            tuple(one.piece.name for one in finished if one.status == "kept"),
            aside,
            {one.piece.name: one.notes for one in finished if one.notes},
            sum(one.rows for one in finished),
        )


def _records(outcome: Outcome[tuple[FilePiece, ...], list[Finished]]) -> list[Finished]:
    """The records of a task; of one whose worker died, that its piece is set aside."""
    if outcome.value is not None:
        return outcome.value
    error = outcome.error
    if isinstance(error, OSError):
        raise FormatError(f"results cannot be written: {error}") from error
    return [Finished(piece, "set aside", reason=str(error)) for piece in outcome.task]


@contextmanager
def _sweeping(folder: Folder | None, files: Sequence[DataFile]) -> Iterator[None]:
    """Remove at the end what workers have left unfinished that died or were stopped, as by an interrupt."""
    try:
        yield
    finally:
        if folder is not None:
            with suppress(OSError):
                folder.sweep([file.name for file in files])


def _refuse_own_memory(folder: Folder | None, files: Sequence[DataFile]) -> None:
    """Raise where a path is in the memory of this process, which workers do not see."""
    paths = [file.path for file in files] + ([] if folder is None else [folder.url])
    for path in paths:
        if path.startswith("memory:"):
            raise ShapeError(
                f"{path!r} is in the memory of this process, which workers do not see; take files, or compute here, "
                "without cluster and workers"
            )


def _name(pieces: tuple[FilePiece, ...]) -> str:
    return quoted((piece.name for piece in pieces), 2)


def _claim(work: Work) -> None:
    """Write what shapes the results into their folder, or refuse one with other results."""
    assert work.folder is not None
    facts, found = work.describe(), work.folder.read_json(FACTS)
    if found is None:
        try:
            work.folder.write_json(FACTS, facts)
        except (OSError, ValueError) as error:
            raise FormatError(f"results cannot be written to {work.folder.url!r}: {error}") from error
    elif found != facts:
        different = [name for name in facts if not isinstance(found, dict) or found.get(name) != facts[name]]
        was = found.get(different[0]) if isinstance(found, dict) else found
        raise ShapeError(
            f"folder {work.folder.url!r} holds other results: {different[0]} was {short_repr(was, 120)}, and is "
            f"{short_repr(facts[different[0]], 120)} now; choose another folder, or remove that one"
        )


class Merged:
    """Statistics merged as they come, equal weights first, as a binary counter adds: few are kept at a time."""

    def __init__(self) -> None:
        self.parts: list[tuple[int, Mapping[str, Statistics]]] = []

    def add(self, new: Mapping[str, Statistics]) -> None:
        """Add those of a piece."""
        self.parts.append((1, new))
        while len(self.parts) > 1 and self.parts[-2][0] == self.parts[-1][0]:
            self._merge_last()

    def total(self) -> Mapping[str, Statistics]:
        """Those of all pieces together."""
        while len(self.parts) > 1:
            self._merge_last()
        return self.parts[0][1]

    def _merge_last(self) -> None:
        (a, first), (b, second) = self.parts[-2:]
        self.parts[-2:] = [(a + b, {kind: first[kind].merge(second[kind]) for kind in first})]


@explains_arguments
def dataset(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]],
    *,
    columns: Mapping[str, str] | None = None,
    time: str | None = None,
    motion: str | None = None,
    derivatives: str = "auto",
    degrees: bool | None = None,
    keep: Sequence[str] = (),
    storage_options: Mapping[str, Any] | None = None,
    **recording: Any,
) -> Dataset:
    """Parquet files of recorded motions, to be computed in whole, whatever their size.

    Nothing is read yet but the list of files.

    Parameters
    ----------
    paths
        A folder, a file, a pattern such as "motions/*.parquet" or "motions/**/*.parquet", or several; on this machine
        or at an address of fsspec, such as "s3://bucket/motions". Folders "subject=7" are partitions.
    columns
        Columns by what they hold: {"elbow": "angle 3", "qd.elbow": "speed 3"}, or {"q": "observation.state"} where all
        joints stand in one column of lists. Others are found by the names of joints.
    time
        The column of the time.
    motion
        The column that numbers the motions of a file, such as "episode_index"; a file is one motion otherwise.
    derivatives
        "given": velocities and accelerations are columns of the file, each row a state of its own; "computed": from
        positions, as by `Trajectory.load`; "auto": given, where all of their columns are there.
    degrees
        Whether angles, and their rates, are in degrees, where headings do not say it.
    keep
        Further columns that results hand on.
    storage_options
        Of fsspec: keys, endpoints.
    recording
        For computed derivatives, as in `Trajectory.load`: rate, constant, smoothing, cutoff, noise, time_unit, sort.

    >>> import tempfile, chainrule as cr
    >>> robot, folder = cr.load("planar_2r"), tempfile.mkdtemp()
    >>> robot.simulate([0.3, 0.1], None, 0.5).save(f"{folder}/swing.parquet")  # doctest: +SKIP
    >>> cr.dataset(folder).torques(robot, f"{folder}/torques", workers=2)  # doctest: +SKIP
    <Report: 501 rows, 1 files written, 0 kept, 0 set aside>
    """
    for name in recording:
        if name not in RECORDING_OPTIONS:
            raise UnknownNameError.of("option", name, RECORDING_OPTIONS, "a data set")
    storage = dict(storage_options or {})
    reading = Reading(
        columns=read_columns(columns),
        time=_column_name(time, "time"),
        motion=_column_name(motion, "motion"),
        derivatives=one_of(DERIVATIVES, derivatives, "derivatives", "a data set"),
        degrees=None if degrees is None else flag(degrees, "degrees"),
        keep=tuple(str(name) for name in as_list(keep, "keep")),
        options=recording,
    )
    return Dataset(find_files(paths, storage), reading, storage)


def _column_name(value: Any, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ShapeError(f"{what} must be the name of a column, got {short_repr(value)}")
    return value
