"""A loop that holds a robot on the network, and a Panda at 1 kHz to try it on, which a second process plays.

    python examples/robot_over_udp.py              time is counted in ticks: the robot waits for its answer
    python examples/robot_over_udp.py --real       time is that of the clock, for a minute: the robot waits for nobody
    python examples/robot_over_udp.py --c          the loop is robot_over_udp.c, with the law and the observer exported
    python examples/robot_over_udp.py --ticks N    so many ticks

Packets take 1 to 3 ms each way, one in a hundred is lost, and joints are measured in steps of an encoder. A robot that
hears nothing for 20 ms brakes by itself, as real ones do; a loop that hears nothing for 20 ms stops.
"""

import argparse
import contextlib
import heapq
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import chainrule as cr

RATE = 1000  # ticks a second
RESOLUTION = 2 * np.pi / 2**20  # of the encoders, in rad
PATIENCE = 20  # ticks without a packet after which both sides stop
STATE, COMMAND = struct.Struct("<I7i"), struct.Struct("<I7d")  # tick and counts; tick and torques beyond gravity


class Line:
    """A line that packets travel on for 1 to 3 ms, some never arriving: time is counted in ticks."""

    def __init__(self, seed, loss=0.01, cut=None):
        self.rng, self.loss, self.cut, self.packets = np.random.default_rng(seed), loss, cut, []

    def send(self, tick, packet):
        """Put a packet on the line, unless it is lost."""
        if self.rng.random() >= self.loss and (self.cut is None or tick < self.cut):
            heapq.heappush(self.packets, (tick + int(self.rng.integers(1, 4)), packet))

    def arrived(self, tick):
        """The packets that come out by a tick."""
        while self.packets and self.packets[0][0] <= tick:
            yield heapq.heappop(self.packets)[1]


class PlayedRobot:
    """A Panda that takes torques beyond gravity, keeps the last one, and brakes when none comes for too long."""

    def __init__(self, cut=None):
        self.robot = cr.load("panda").edit(joints={"*": {"rotor": 0.1}})
        self.q, self.qd, self.tau = self.robot.home(), np.zeros(7), np.zeros(7)
        self.there, self.back = Line(1, cut=cut), Line(2)
        self.tick, self.newest, self.heard, self.braking = 0, -1, 0, False
        self.tip, self.off = self.robot.pose(self.q)[:3, 3], 0.0

    def step(self, commands):
        """One tick with the packets that came from the loop: the packets that reach it."""
        for packet in commands:
            self.back.send(self.tick, packet)
        for packet in self.back.arrived(self.tick):
            number, *tau = COMMAND.unpack(packet)
            self.heard = self.tick
            if number > self.newest:  # one that was overtaken on its way is of no use
                self.newest, self.tau = number, np.array(tau)
        self.braking |= self.tick - self.heard > PATIENCE
        push = np.sin(2 * np.pi * self.tick / RATE) * np.array([1.0, 2.0, 1.0, 1.0, 0.3, 0.3, 0.1])  # what nobody knows
        if self.braking:  # brakes carry the robot
            self.qd = 0.9 * self.qd
        else:
            tau = self.tau + push + self.robot.gravity_torque(self.q)
            self.qd = self.qd + self.robot.forward_dynamics(self.q, self.qd, tau) / RATE
        self.q = self.q + self.qd / RATE
        if not self.braking:
            self.off = max(self.off, float(np.linalg.norm(self.robot.pose(self.q)[:3, 3] - self.tip)))
        self.there.send(self.tick, STATE.pack(self.tick, *np.rint(self.q / RESOLUTION).astype(int)))
        self.tick += 1
        return list(self.there.arrived(self.tick))

    def report(self):
        """What became of it, in a line."""
        held = "braked and at rest" if self.braking and np.abs(self.qd).max() < 1e-6 else "held to the end"
        return f"{self.tick} ticks, never more than {1000 * self.off:.2f} mm off; {held}"


class Holder:
    """The loop: joints from counts, velocities from an observer, computed torque less what it cannot explain."""

    def __init__(self):
        robot = cr.load("panda").edit(joints={"*": {"rotor": 0.1}}, gravity=(0, 0, 0))  # the robot carries itself
        self.velocity = cr.VelocityObserver(robot, RATE, resolution=RESOLUTION, acceleration=20.0)
        law = cr.ComputedTorque(robot, robot.home(), bandwidth=8.0)
        self.law, self.newest = cr.Compensated(law, gain=30.0), -1

    def answer(self, packet):
        """The command for a state; None where it was overtaken by a newer one."""
        tick, *counts = STATE.unpack(packet)
        if tick <= self.newest:
            return None
        self.newest = tick
        q = np.array(counts) * RESOLUTION
        return COMMAND.pack(tick, *self.law(tick / RATE, q, self.velocity(q)))


def serve(port, ticks, cut, real):
    """The robot's process: a datagram for each state, and for what the loop answers."""
    robot, line = PlayedRobot(cut), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.connect(("127.0.0.1", port))
    line.setblocking(not real)
    commands, began = [], time.monotonic()
    for k in range(ticks):
        states = robot.step(commands)
        for packet in states:
            send(line, packet)
        if real:
            time.sleep(max(0.0, began + (k + 1) / RATE - time.monotonic()))
        commands = [packet for packet in received(line, None if real else len(states)) if packet]
    line.setblocking(True)
    send(line, b"")  # the end, for who still listens
    print(robot.report(), flush=True)


def send(line, packet):
    """Send a datagram; it is lost where the loop has ended."""
    with contextlib.suppress(ConnectionRefusedError):
        line.send(packet)


def received(line, count):
    """So many datagrams; all that have come, where no count is given."""
    try:
        while count is None or count > 0:
            yield line.recv(256)
            count = None if count is None else count - 1
    except (BlockingIOError, ConnectionRefusedError):
        return


def play(port, ticks, cut, real):
    """Start the robot's process."""
    words = [str(word) for word in ("serve", port, ticks, cut, int(real))]
    return subprocess.Popen([sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True)


def hold(ticks, cut, real):
    """The loop's process, which starts the robot's: what the robot says in the end."""
    line = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    line.bind(("127.0.0.1", 0))
    holder = Holder()
    holder.answer(STATE.pack(0, *np.rint(cr.load("panda").home() / RESOLUTION).astype(int)))  # compiles
    holder = Holder()
    robot = play(line.getsockname()[1], ticks, cut, real)
    while True:
        if real and holder.newest >= 0:
            line.settimeout(PATIENCE / RATE)
        try:
            packet, address = line.recvfrom(256)
        except TimeoutError:
            print(f"no state for {PATIENCE} ticks: the loop stops after tick {holder.newest}")
            break
        if not packet:
            break
        line.sendto(holder.answer(packet) or b"", address)
    return robot.communicate()[0].strip()


def compile_loop(folder):
    """The loop of `robot_over_udp.c`, with the law and the observer of `Holder` as C."""
    holder, program = Holder(), Path(folder) / "loop"
    for name, part in (("law", holder.law), ("velocity", holder.velocity)):
        cr.export(part, "c", Path(folder) / f"{name}.c", rate=RATE)
    sources = [Path(__file__).with_suffix(".c"), Path(folder) / "law.c", Path(folder) / "velocity.c"]
    numbers = [f"-DRESOLUTION={RESOLUTION!r}", f"-DPATIENCE={PATIENCE}"]
    compiler = [os.environ.get("CC", "cc"), "-std=c99", "-O2", "-Wall", *numbers, f"-I{folder}"]
    subprocess.run([*compiler, *sources, "-lm", "-o", program], check=True)
    return program


def hold_in_c(program, ticks, cut, real):
    """The same with the loop as a program: what the robot says in the end."""
    loop = subprocess.Popen([program, *["real"] * real], stdout=subprocess.PIPE, text=True)
    robot = play(int(loop.stdout.readline()), ticks, cut, real)
    said = robot.communicate()[0].strip()
    print(loop.communicate()[0], end="")
    return said


def main(in_c, ticks, real):
    """Hold the robot on a line that stays, and on one that is cut."""
    with tempfile.TemporaryDirectory() as folder:
        program = compile_loop(folder) if in_c else None
        for line, cut in (("the line is up:", ticks), ("the line is cut at half:", ticks // 2)):
            print(f"{line:25}", hold_in_c(program, ticks, cut, real) if program else hold(ticks, cut, real))


if __name__ == "__main__" and sys.argv[1:2] == ["serve"]:
    port, ticks, cut, real = map(int, sys.argv[2:])
    serve(port, ticks, cut, bool(real))
elif __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--c", action="store_true", help="the loop in C, with the exported law and observer")
    parser.add_argument("--real", action="store_true", help="time is that of the clock")
    parser.add_argument("--ticks", type=int, help="2,000, and 60,000 in real time, unless given")
    options = parser.parse_args()
    if options.ticks is not None and options.ticks < 1:
        parser.error(f"--ticks must be positive, got {options.ticks}")
    main(options.c, options.ticks or (60 * RATE if options.real else 2 * RATE), options.real)
