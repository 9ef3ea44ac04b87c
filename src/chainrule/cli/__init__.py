"""The command line: `main` has the group, `console` what all commands share, and each command has a file of its own.

How to add a command `NAME`
---------------------------
1. Write `cli/NAME.py` with a function `NAME` under `@click.command()`. Its docstring is the text of
   `chainrule NAME --help`, and its first sentence stands in the list of `chainrule --help`.
2. Load the robot with `console.load_robot`, which prints warnings as lines. Take numbers as options of the type
   `console.NUMBERS`, and convert degrees with `console.in_radians`.
3. Compute with public methods of the robot. What the user got wrong is raised as a `ChainruleError`: `main` prints
   it as one line and exits with 1.
4. Print to stdout what was asked for: lines with `console.echo`, tables with `console.terminal`, and with `--json` one
   line of JSON with `console.print_json`; print `written: FILE` and the like to stderr. Names that come from files pass
   through `console.plain` before rich sees them.
5. Add the name to `COMMANDS` in `cli/main.py`. From outside the package, `chainrule.cli.cli.add_command` does the same.
6. Add `tests/cli/test_NAME.py`: a right call, its JSON, and a wrong call that ends in one line.

`tests/cli/test_recipe_command.py` follows these steps from outside the package.
"""

from chainrule.cli.main import cli, main

__all__ = ["cli", "main"]
