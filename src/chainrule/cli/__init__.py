"""The command line: `main` has the group, `console` and `joints` what all commands share, each command its own file.

How to add a command `NAME`
---------------------------
1. Write `cli/NAME.py` with a function `NAME` under `@console.command(...)`. Its docstring is the text of
   `chainrule NAME --help`, and its first sentence stands in the list of `chainrule --help`. The arguments of
   `command` are examples, lines that can be typed as they are; the help shows them, and a test runs them.
2. Take the robot with `@console.robot_options`, the last of the decorators: it gives ROBOT and the options of loading
   it, and hands the loaded `robot` to the function. A command with two robots takes `@console.loading_options`, which
   hands it a `loading` with which it loads by itself.
3. Take joint values as options of the types `joints.CONFIGURATION` and `joints.JOINT_VALUES`, and turn them into arrays
   with `joints.positions` and `joints.velocities`, which know of `@console.degrees_option`. A choice among names is a
   `console.OneOf`, which the shell completes.
4. Compute with public methods of the robot. What the library refuses is a `ChainruleError`: `main` prints it as one
   line, in which keywords have become options, and exits with 1. What is typed wrongly is a `click.UsageError`, which
   exits with 2.
5. Print to stdout what was asked for, with names of joints and with units: lines with `console.echo`, tables with
   `console.terminal`, and with `@console.json_option` one line of JSON with `console.print_json`; print
   `written: FILE` to stderr with `console.report_files`. Names that come from files pass through `console.plain` before
   rich sees them. Work of more than a second runs under `console.progress`.
6. Add the name to `COMMANDS` in `cli/main.py`. From outside the package, `chainrule.cli.cli.add_command` does the same.
7. Add `tests/cli/test_NAME.py`: a right call, its JSON, and a wrong call that ends in one line.

`tests/cli/test_recipe_command.py` follows these steps from outside the package.
"""

from chainrule.cli.main import cli, main

__all__ = ["cli", "main"]
