"""Writing a report: the page, its data beside it, and a PDF where one is asked for."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from chainrule.arguments import file_path
from chainrule.errors import ChainruleError, MissingPackageError, ShapeError
from chainrule.study.report import data, page
from chainrule.study.sizing import Sizing
from chainrule.study.study import Result
from chainrule.study.tracking import Followed
from chainrule.symbolic.documents import pdf

SUFFIXES = (".html", ".pdf")


def write_report(
    result: Result,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    sizing: Sizing | None = None,
    balanced: Sizing | None = None,
    followed: Mapping[str, Followed] | None = None,
    settings: Mapping[str, str] | None = None,
    beside: bool = True,
) -> list[Path]:
    """Write the report of a study, and return the files written.

    Parameters
    ----------
    result
        Of the study.
    path
        The page: .html, or .pdf, which a browser prints.
    title
        Of the page.
    sizing, balanced, followed
        Drives, drives beside balancing springs, and activities followed by the drives, where they were computed.
    settings
        Sentences for "How this was computed", by what they are about: the command, the files.
    beside
        Whether the numbers are written beside the page: .json, and .parquet where pyarrow is installed.
    """
    target = file_path(path, "report")
    if target.suffix.lower() not in SUFFIXES:
        raise ShapeError(f"a report is written to .html or .pdf, got {target.name!r}")
    named = title or f"Joint torques of {result.robot.name}"
    text = page.html(result, title=named, sizing=sizing, balanced=balanced, followed=followed, settings=settings)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix.lower() == ".html":
            target.write_text(text, "utf-8")
        else:
            with tempfile.TemporaryDirectory() as folder:
                source = Path(folder) / "page.html"
                source.write_text(text, "utf-8")
                pdf.print_pdf(source, target)
        written = [target]
        if beside:
            data.write_json(data.facts(result, sizing), target.with_suffix(".json"))
            written.append(target.with_suffix(".json"))
            try:
                data.write_parquet(result, target.with_suffix(".parquet"))
                written.append(target.with_suffix(".parquet"))
            except MissingPackageError:  # the table of JSON says the same
                pass
    except OSError as error:
        raise ChainruleError(f"the report cannot be written to {target}: {error}") from error
    return written
