"""Pieces of a study on a cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from chainrule.cluster.client import connect
from chainrule.cluster.stream import run_tasks
from chainrule.study.pieces import PieceResult, StudyPiece, compute


def compute_pieces(
    pieces: Iterable[StudyPiece], cluster: Any = None, workers: int | None = None
) -> Generator[tuple[StudyPiece, PieceResult], None, None]:
    """The pieces with what each of them gives, in order; the first one that fails ends the study with its error."""
    with connect(cluster, workers) as client:
        for outcome in run_tasks(compute, pieces, client):
            yield outcome.task, outcome.get()
