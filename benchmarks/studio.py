"""The studio: updates a second from slider to picture, time to a usable page, memory of a long simulation, ten tabs.

python benchmarks/studio.py [--robot NAME] [--seconds S] [--minutes M] [--tabs N] [--cases NAME ..] [--output FOLDER]

slider     A browser (Chromium without a window, drawing in software) moves a slider of a 7-joint arm at each frame,
           with all panels on. Counted are updates that reach the page, and those that the server sends to a tab
           without a browser, which is what it manages by itself. 30 a second are needed, 60 wanted.
start      From the command to a page whose slider is there, with a warm cache. 3 s are the bar.
memory     Resident memory while a tab simulates for M minutes, every ten seconds; its slope after the first minute.
tabs       N tabs without browsers, all moved at once: updates a second of each.

A browser that draws in software takes most of the time that is measured with it; a graphics card takes none of it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from chromium import FLAGS, NAMES
from studio.conftest import SIZE
from studio.tab import Tab, eventually, is_blank, session_of
from studio.visitor import Visitor

from chainrule.cli.benchmark.figures import write_figures
from chainrule.studio import open_studio

COUNT_FRAMES = """(seconds) => new Promise((done) => {
  const input = document.querySelector('.mantine-Slider-thumb');
  input.focus();
  let frames = 0, updates = 0, last = null, start = performance.now();
  const shown = () => input.getAttribute('aria-valuenow');
  function frame() {
    frames += 1;
    if (shown() !== last) { updates += 1; last = shown(); }
    const key = Math.floor(frames / 40) % 2 ? 'ArrowLeft' : 'ArrowRight';
    input.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
    const elapsed = (performance.now() - start) / 1000;
    if (elapsed < seconds) requestAnimationFrame(frame); else done([frames / elapsed, updates / elapsed]);
  }
  requestAnimationFrame(frame);
})"""


def chromium(playwright):
    import shutil

    path = next(filter(None, map(shutil.which, NAMES)))
    return playwright.chromium.launch(executable_path=path, args=FLAGS)


def resident_mb() -> float:
    """The memory of this process, in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def drive(session, seconds: float) -> None:
    """Move the robot 120 times a second, as a slider does that is dragged."""
    home, end, k = session.state.q, time.monotonic() + seconds, 0
    while time.monotonic() < end:
        session.move(home + 0.3 * np.sin(0.05 * k), by="benchmark")
        k += 1
        time.sleep(1 / 120)


def count_redraws(session, seconds: float) -> tuple[float, float]:
    """Updates a second that a session sends while its robot is moved, and ms of the processor that each takes."""
    used, redraw = [], session._redraw

    def timed() -> None:
        start = time.thread_time()
        redraw()
        used.append(time.thread_time() - start)

    session._redraw = timed
    drive(session, seconds)
    session._redraw = redraw
    return len(used) / seconds, 1e3 * float(np.mean(used))


def measure_slider(robot: str, seconds: float) -> dict[str, float]:
    from playwright.sync_api import sync_playwright

    figures: dict[str, float] = {}
    with open_studio(robot, port=0) as studio:
        visitor = Visitor(studio)
        session = session_of(studio)
        drive(session, 1.0)
        rate, used = count_redraws(session, seconds)
        figures |= {"updates a second of the server": rate, "ms of the processor for an update": used}
        visitor.close()
        eventually(lambda: not studio.sessions)
        with sync_playwright() as playwright:
            browser = chromium(playwright)
            tab = Tab(browser.new_page(viewport=SIZE))
            tab.open(studio.address)
            session = session_of(studio)
            eventually(lambda: not is_blank(tab.canvas()))
            before = session.state.q.copy()
            tab.page.evaluate(COUNT_FRAMES, seconds)  # until shaders are compiled
            frames, updates = tab.page.evaluate(COUNT_FRAMES, seconds)
            eventually(lambda: not np.allclose(before, session.state.q))
            figures["frames a second of the browser"] = frames
            figures["slider updates a second on the page"] = updates
            browser.close()
    return figures


def measure_start(robot: str) -> dict[str, float]:
    """Seconds from the command to a page that can be used; the second run has a warm cache."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "chainrule", "studio", robot, "--no-browser", "--port", "0", "--json"]
    figures = {}
    with sync_playwright() as playwright:
        browser = chromium(playwright)
        for _ in range(2):
            start = time.perf_counter()
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            address = json.loads(process.stdout.readline())["address"]
            served = time.perf_counter() - start
            tab = Tab(browser.new_page(viewport=SIZE))
            tab.page.goto(address)
            tab.page.get_by_role("slider").first.wait_for()
            figures = {"seconds to the address": served, "seconds to a usable page": time.perf_counter() - start}
            tab.page.close()
            process.terminate()
            process.wait()
        browser.close()
    return figures


def measure_memory(robot: str, minutes: float) -> dict[str, float]:
    """Memory while a tab replays and simulates without end."""
    with open_studio(robot, port=0) as studio:
        visitor = Visitor(studio)
        session = session_of(studio)
        runner = threading.Thread(target=simulate, args=(session, 60 * minutes), daemon=True)
        samples, start = [], time.monotonic()
        runner.start()
        while runner.is_alive():
            runner.join(timeout=min(10.0, 6 * minutes))
            samples.append((time.monotonic() - start, resident_mb()))
            print(f"  {samples[-1][0]:6.0f} s  {samples[-1][1]:7.1f} MB, sent {visitor.received / 1e6:.1f} MB")
        visitor.close()
    t, mb = np.array(samples[len(samples) // 10 :]).T
    slope = float(np.polyfit(t, mb, 1)[0] * 600) if len(t) > 1 else 0.0
    return {"MB at the end": float(mb[-1]), "MB gained in 10 minutes": slope}


def simulate(session, seconds: float) -> None:
    """Simulate the arm that swings freely, a second at a time, and show every fiftieth of a second."""
    robot, end = session.robot, time.monotonic() + seconds
    q, qd = session.state.q, np.zeros(robot.nv)
    while time.monotonic() < end:
        motion = robot.simulate(q, qd, 1.0, dt=1e-3, record=20)
        for k in range(len(motion.t)):
            session.move(motion.q[k], motion.qd[k], time=float(motion.t[k]))
            time.sleep(0.02)
        q, qd = session.robot.home(), np.zeros(robot.nv)


def measure_tabs(robot: str, seconds: float, count: int) -> dict[str, float]:
    with open_studio(robot, port=0) as studio:
        start = time.perf_counter()
        visitors = [Visitor(studio) for _ in range(count)]
        eventually(lambda: len(studio.sessions) == count)
        opened = time.perf_counter() - start
        rates: list[float] = []
        threads = [
            threading.Thread(target=lambda one=one: rates.append(count_redraws(one, seconds)[0]))
            for one in studio.sessions.values()
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for visitor in visitors:
            visitor.close()
    return {f"seconds to open {count} tabs": opened, f"updates a second of each of {count} tabs": min(rates)}


CASES = ("slider", "start", "memory", "tabs")


def main(robot: str, seconds: float, minutes: float, tabs: int, cases: list[str], output: str | None) -> None:
    measures = {
        "slider": lambda: measure_slider(robot, seconds),
        "start": lambda: measure_start(robot),
        "memory": lambda: measure_memory(robot, minutes),
        "tabs": lambda: measure_tabs(robot, seconds, tabs),
    }
    figures: dict[str, float] = {}
    print(f"{robot}, all panels on")
    for case in cases:
        found = measures[case]()
        for name, value in found.items():
            print(f"{name}: {value:.3g}")
        figures |= found
    if output:
        write_figures(output, "studio", figures)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robot", default="panda")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--tabs", type=int, default=10)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES), metavar="NAME")
    parser.add_argument("--output", metavar="FOLDER", help="a folder for the figures, as JSON")
    main(**vars(parser.parse_args()))
