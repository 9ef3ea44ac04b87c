"""A study of 24 activities and 100 people, from motions to the report: seconds, memory, and the share of the kernel.

python benchmarks/study.py [--people 100] [--output benchmarks/results]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from chainrule import study
from chainrule.cli.benchmark.figures import write_figures
from chainrule.study.torques import TorqueFunction


def kernel_seconds(person: study.Subject, states: int) -> float:
    """The time in which the kernel alone computes so many states: the best of five, in one batch of 131,072."""
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 131_072, 7))
    motion = study.Motion("random", np.arange(len(q)) / 1000, q, qd, qdd)
    function = TorqueFunction(person.base)
    function(person, motion)
    best = min(_seconds(lambda: function(person, motion)) for _ in range(5))
    return best * states / len(q)


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    options = parser.parse_args()
    people = study.population(options.people)
    study.run(people[0], [2])  # compiled before the clock starts
    content = study.activities()
    source = study.Synthetic(people, content, content.choose("all"))
    start = time.perf_counter()
    motions = sum(len(motion) for name in source.activities for _, motion in source.motions(name))
    made = time.perf_counter() - start
    start = time.perf_counter()
    for name in source.activities:
        for _ in study.Study(source).torques(name):
            pass
    with_torques = time.perf_counter() - start
    start = time.perf_counter()
    result = study.Study(source).run()
    computed = time.perf_counter() - start
    sizing = study.size(result)
    sized = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        study.write_report(result, Path(folder) / "out.html", sizing=sizing)
        reported = time.perf_counter() - start
        start = time.perf_counter()
        one = study.run(people[0], ["drink_with_cup"])
        study.write_report(one, Path(folder) / "one.html", sizing=study.size(one))
        single = time.perf_counter() - start
    alone = kernel_seconds(people[1], motions)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    figures = {
        "states": motions,
        "seconds_motions": made,
        "seconds_torques": with_torques - made,
        "seconds_kernel_alone": alone,
        "torques_over_kernel": (with_torques - made) / alone,
        "seconds_statistics": computed - with_torques,
        "seconds_to_result": computed,
        "seconds_to_drives": sized,
        "seconds_to_report": reported,
        "seconds_one_motion_to_page": single,
        "memory_gb": memory,
    }
    for name, value in figures.items():
        print(f"{name:28} {value:,.3g}" if isinstance(value, float) else f"{name:28} {value:,}")
    if options.output:
        write_figures(options.output, "study", {"human_arm": {"people": options.people, **figures}})


if __name__ == "__main__":
    main()
