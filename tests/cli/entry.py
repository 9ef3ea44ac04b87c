"""The entry point in this process: as fast as the command itself."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from chainrule.cli import main


def run(*words):
    """The output, the errors and the exit code of a command."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["chainrule", *words]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as exit_,
    ):
        main()
    return SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue(), returncode=exit_.value.code or 0)
