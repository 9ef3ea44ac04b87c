"""A short run of the fuzzer with a fixed seed, and what the fuzzer itself must notice."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

import pytest

if sys.platform == "win32":
    pytest.skip("the guards of the fuzzer need POSIX", allow_module_level=True)

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from waiting import eventually  # noqa: E402

from fuzz import counters, findings, report  # noqa: E402
from fuzz.__main__ import replay  # noqa: E402
from fuzz.campaign import Campaign  # noqa: E402
from fuzz.minimize import minimize  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402

INPUTS = int(os.environ.get("CHAINRULE_FUZZ_INPUTS", "100"))


def test_nothing_but_answers_and_refusals_comes_of_damaged_inputs(tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINRULE_FUZZ_HANG_SECONDS", "300")  # a busy machine is no finding
    campaign = Campaign(list(TARGETS), tmp_path / "findings", seed=11, inputs=INPUTS, say=lambda line: None)
    campaign.run(tmp_path / "counters.json")
    texts = [f"{f.target}: {f.text}\n{f.data[:300]!r}" for f in findings.stored(tmp_path / "findings")]
    assert not campaign.found, "\n".join([*campaign.found, *texts])
    counts = counters.load(tmp_path / "counters.json")
    assert set(counts) == set(TARGETS)
    for name, found in counts.items():
        assert found.inputs >= INPUTS, name
        assert sum(found.kinds.values()) == found.inputs, name


SPOILED = """
    import os
    import threading
    import warnings
    from chainrule.errors import ChainruleError, ModelWarning
    from fuzz import mutate
    from fuzz.targets import target

    class Spoiled:
        words = (b"fine", b"refuse", b"error", b"memory", b"warning", b"note", b"loop")

        def __init__(self, folder):
            pass

        def seeds(self):
            return list(self.words)

        def run(self, data, *, thorough):
            if b"error" in data:
                {}["key"]
            if data == b"refuse":
                raise ChainruleError("no")
            if data == b"memory":
                bytearray(1 << 40)
            if data == b"warning":
                warnings.warn("odd", RuntimeWarning)
            if data == b"note":
                warnings.warn("odd", ModelWarning)
            if data == b"abort":
                os.abort()
            while data == b"loop":
                pass

    @target("spoiled", mutate.text)
    class Some(Spoiled):
        pass

    @target("waiting", mutate.text)
    class Waiting(Spoiled):
        words = (b"fine", b"wait")

        def run(self, data, *, thorough):
            if data == b"wait":
                threading.Event().wait()

    @target("dying", mutate.text)
    class Dying(Spoiled):
        words = (b"fine", b"abort")
"""


def test_errors_hangs_warnings_memory_and_crashes_are_noticed_and_their_inputs_kept(tmp_path, monkeypatch):
    (tmp_path / "spoiled.py").write_text(textwrap.dedent(SPOILED), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    folder = tmp_path / "findings"
    campaign = Campaign(["spoiled", "dying"], folder, inputs=0, plugins=["spoiled"], say=lambda line: None)
    campaign.run()
    kept = {(finding.target, finding.kind): finding.data for finding in findings.stored(folder)}
    assert kept == {
        ("spoiled", "error"): b"error", ("spoiled", "memory"): b"memory", ("spoiled", "warning"): b"warning",
        ("spoiled", "hang"): b"loop", ("dying", "crash"): b"abort",
    }  # fmt: skip
    assert campaign.counts["spoiled"].kinds["loaded"] == 2
    assert campaign.counts["spoiled"].kinds["refused"] == 1
    assert campaign.counts["spoiled"].longest_seconds > 1
    assert campaign.counts["dying"].kinds["crash"] == 1


@pytest.mark.slow
def test_an_input_that_waits_for_ever_is_kept_with_where_it_waits(tmp_path, monkeypatch):
    (tmp_path / "spoiled.py").write_text(textwrap.dedent(SPOILED), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("fuzz.campaign.STILL_SECONDS", 30.0)
    folder = tmp_path / "findings"
    Campaign(["waiting"], folder, inputs=0, plugins=["spoiled"], say=lambda line: None).run()
    (finding,) = findings.stored(folder)
    assert (finding.kind, finding.data) == ("hang", b"wait")
    assert re.search(r"spoiled\.py\", line \d+ in run", finding.text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_in_the_background_stops_when_told_to_and_leaves_no_worker(tmp_path, number):
    words = [sys.executable, "-u", "-m", "fuzz", "obj", "--findings", str(tmp_path / "findings")]
    words += ["--record", str(tmp_path / "counters.json")]
    deaf = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # as a shell starts what runs in the background
    run = subprocess.Popen([*deaf, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    if not children.exists():
        run.kill()
        pytest.skip("no list of child processes here")
    eventually(lambda: run.poll() is not None or children.read_text(encoding="ascii").split())
    worker = int(children.read_text(encoding="ascii").split()[0])
    run.send_signal(number)
    out, _ = run.communicate()
    assert b"stopped" in out
    assert (tmp_path / "counters.json").exists()
    assert not Path(f"/proc/{worker}").exists()


def test_findings_are_made_small():
    assert minimize(b"aaa bbb\nccc X ddd\neee Y\n" * 20, lambda data: b"X" in data and data.endswith(b"Y")) != b""
    assert minimize(b"one two\nthree X four\n", lambda data: b"X" in data) == b"X"


def test_a_finding_that_is_mended_is_said_to_be_and_can_join_the_corpus(tmp_path, capsys):
    from fuzz.guard import Outcome

    findings.store(
        tmp_path, "obj", b"v 0 0 0\nf 1 2 99999999999999999999999", Outcome("error", "OverflowError", 0.0, "x")
    )
    assert replay(tmp_path) == 0
    assert capsys.readouterr().out.startswith("mended")
    assert replay(tmp_path, tmp_path / "corpus") == 0
    assert not findings.stored(tmp_path)
    assert len(list((tmp_path / "corpus" / "obj").iterdir())) == 1


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "cache"])
def test_mutators_give_bytes_and_the_same_ones_for_the_same_seed(name, tmp_path, monkeypatch):
    monkeypatch.setenv("CHAINRULE_KERNELS", "off")
    monkeypatch.chdir(tmp_path)
    target = TARGETS[name](tmp_path)
    seeds = target.seeds()

    def some():
        rng = Random(5)
        return [target.mutator(rng, seeds[k % len(seeds)], seeds) for k in range(60)]

    first = some()
    assert all(isinstance(data, bytes) for data in first)
    assert len(set(first)) > 40
    assert first == some()


def test_the_report_rewrites_the_table_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", encoding="utf-8")
    counts = {"urdf": counters.Counters(inputs=1200, longest_seconds=0.5), "json": counters.Counters(inputs=34)}
    counts["json"].kinds["error"] = 2
    report.rewrite(page, counts)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "old" not in text
    assert re.search(r"\| urdf \| 1,200 \|", text)
    assert re.search(r"\| \*\*all\*\* \| 1,234 \|", text)


def test_the_page_has_the_markers():
    text = report.PAGE.read_text(encoding="utf-8")
    assert report.BEGIN in text
    assert report.END in text
