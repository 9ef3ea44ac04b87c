"""Pieces of a study: some motions of one activity each, computed in this process or in another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chainrule.display.text import FieldsShown
from chainrule.errors import ChainruleError
from chainrule.study.kept import KeptStates
from chainrule.study.motions import Motions, MotionSource
from chainrule.study.statistics import Collector
from chainrule.study.subjects import Subject
from chainrule.study.torques import MotionTorques, torques_of

MOTIONS_PER_PIECE = 16
"""Motions of a piece, about: a third of a second of work."""

MAX_PIECES = 256
"""Pieces of an activity. What each of them sends back is bounded, whatever the number of its motions."""


@dataclass(frozen=True, eq=False, repr=False)
class StudyPiece(FieldsShown):
    """Some motions of one activity, to be computed. It is small: motions are made where they are computed."""

    activity: str
    start: int
    """The number of the first motion."""
    count: int
    motions: Motions
    kept: KeptStates
    """An empty one, which knows what it is to keep."""
    prepare: Callable[[Subject], Subject] | None = None

    def __str__(self) -> str:
        first, last = (self.motions.subject_of(place).name for place in (0, self.count - 1))
        who = first if first == last else f"{first} to {last}"
        return f"activity {self.activity!r}, motions {self.start + 1} to {self.start + self.count} ({who})"


@dataclass(eq=False)
class PieceResult:
    """Results of a piece: statistics, states, and the first motion of the activity if it is in the piece."""

    collector: Collector
    kept: KeptStates
    example: MotionTorques | None = None

    def join(self, other: PieceResult) -> PieceResult:
        """This part, with that of the next piece taken in."""
        self.collector.join(other.collector)
        self.kept.join(other.kept)
        return self


def split(
    source: MotionSource, activity: str, prepare: Callable[[Subject], Subject] | None = None
) -> Iterator[StudyPiece]:
    """The motions of an activity in pieces of nearly equal size, which depend on nothing but the study itself."""
    motions, samples = source.count(activity), source.samples(activity)
    pieces = min(MAX_PIECES, -(-motions // MOTIONS_PER_PIECE))
    for k in range(pieces):
        start, stop = k * motions // pieces, (k + 1) * motions // pieces
        made = source.motions(activity, start, stop)
        yield StudyPiece(activity, start, stop - start, made, KeptStates.of(motions, samples), prepare)


def compute(piece: StudyPiece) -> PieceResult:
    """The torques of a piece's motions, and their statistics."""
    part = PieceResult(Collector(piece.activity), piece.kept.empty())
    number = piece.start
    try:
        for torques in torques_of(piece.motions, piece.prepare):
            if number == 0:
                part.example = torques
            part.collector.add(torques, number)
            part.kept.add(torques, number)
            number += 1
    except ChainruleError as error:
        who = piece.motions.subject_of(number - piece.start).name
        where = who if repr(piece.activity) in str(error) else f"{who}, activity {piece.activity!r}"
        raise type(error)(f"{where}: {error}") from error
    return part
