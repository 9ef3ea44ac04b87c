"""Outputs on docs/command_line.md, and the commands of README.md: typed again."""

import re
import shlex
from pathlib import Path

import pytest

from chainrule.cli.main import COMMANDS
from cli.entry import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def shown(page):
    """The commands of all console blocks, and what stands below each."""
    for block in re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL):
        for part in block.split("$ ")[1:]:
            line, _, output = part.partition("\n")
            yield line, output


def without_trailing_spaces(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def words_and_numbers(text):
    """The text without its numbers and the gaps that they fill, and the numbers."""
    lines = without_trailing_spaces(text)
    return re.sub(r" +", " ", NUMBER.sub("#", lines)), [float(x) for x in NUMBER.findall(lines)]


@pytest.fixture
def run_line(monkeypatch, tmp_path):
    """A function that runs a line in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run_words(line):
        words = shlex.split(line, comments=True)
        assert words[0] == "chainrule"
        return run(*words[1:])

    return run_words


EXAMPLES = list(shown(PAGE))


@pytest.mark.parametrize(("line", "expected"), EXAMPLES, ids=[line for line, _ in EXAMPLES])
def test_the_page_shows_what_is_printed(line, expected, run_line):
    done = run_line(line)
    words, numbers = words_and_numbers(done.stdout + done.stderr)
    expected_words, expected_numbers = words_and_numbers(expected)
    assert words == expected_words
    assert numbers == pytest.approx(expected_numbers, rel=1e-4, abs=1e-9)


def test_the_page_names_every_command():
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)) == {*COMMANDS}


@pytest.mark.parametrize("line", re.findall(r"^chainrule .*", README, flags=re.MULTILINE))
def test_the_commands_of_the_readme_run(line, run_line):
    done = run_line(line)
    assert done.returncode == 0, done.stderr
