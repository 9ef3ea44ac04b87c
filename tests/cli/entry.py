"""The entry point in this process: as fast as the command itself."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from chainrule.cli import main


def run(*words, encoding="utf-8"):
    """The output, the errors and the exit code of a command; its output must be in the encoding."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n") for _ in range(2))
    with (
        patch.object(sys, "argv", ["chainrule", *words]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as exit_,
    ):
        main()
    out.flush()
    err.flush()
    texts = [stream.buffer.getvalue().decode(encoding) for stream in (out, err)]
    return SimpleNamespace(stdout=texts[0], stderr=texts[1], returncode=exit_.value.code or 0)
