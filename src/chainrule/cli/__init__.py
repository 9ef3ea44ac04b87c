"""The command line: one file for each command."""

from chainrule.cli.main import cli, main

__all__ = ["cli", "main"]
