// The page: what it shows now, and what changes it. Nothing is loaded and nothing is sent.

import { add, scale, subtract } from "./algebra.js";
import { aboutPanel, energyPanel, handPanel, jointPanel, massPanel, simulationPanel, torquePanel } from "./panels.js";
import { listen, Picture } from "./picture.js";
import { Robot } from "./robot.js";
import { Simulation, STEP } from "./simulation.js";
import { button, checkbox, choice, element } from "./words.js";

const FRAME = 1 / 60;        // s, the longest time that a frame of the page may stand for, before it slows down
const PATIENCE = 12;         // ms of computing in a frame

const find = id => document.getElementById(id);

// Bytes of base64; `inflated` undoes the compression of what Python's zlib wrote.
const bytes = text => Uint8Array.from(atob(text), character => character.charCodeAt(0));
const inflated = async text =>
  new Response(new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();

// Meshes from their bytes: corners as 16-bit parts of a size, indices of triangles as 16 or 32 bits.
async function meshesOf({ parts, mesh_bytes }) {
  const buffer = await inflated(mesh_bytes);
  let start = 0;
  const take = (Kind, count) => {
    const taken = new Kind(buffer, start, count);
    start += 4 * Math.ceil(count * Kind.BYTES_PER_ELEMENT / 4);
    return taken;
  };
  return parts.map(({ corners, triangles, size }) => ({
    corners: Float32Array.from(take(Int16Array, 3 * corners), x => x * size / 32767),
    triangles: take(corners > 65535 ? Uint32Array : Uint16Array, 3 * triangles),
  }));
}

async function start(exported, data) {
  const robot = new Robot(exported, data);
  const picture = new Picture({ canvas: find("picture"), labels: find("labels") }, robot, await meshesOf(data));
  const simulation = data.can_simulate ? new Simulation(robot) : null;
  const state = { mode: "still", q: data.home, qd: robot.zeros(), qdd: robot.zeros(), plays: false, slow: false, said: "" };
  let waiting = false;

  // Everything that is shown, worked out anew; at most once in a frame of the page.
  function refresh() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      show();
    });
  }

  function show() {
    const { q, qd, qdd } = state, poses = robot.poses(q);
    const terms = data.can_load ? robot.terms(q, qd, qdd) : null;
    const axes = picture.hand && robot.ellipsoid(q, picture.hand);
    const energies = data.can_load ? robot.energies(q, qd) : null;
    const time = state.mode === "replay" ? player.time : simulation?.time ?? 0;
    picture.draw(poses, terms?.total, axes);
    for (const panel of panels) if (panel.box.open) panel.update({ ...state, poses, terms, axes, energies, time });
  }

  // The robot at rest, or with the velocities and accelerations of the sliders.
  function settle(q) {
    state.q = q;
    if (state.mode !== "still") stop();
    state.qd = robot.consistentVelocity(q, state.qd);
    state.qdd = robot.consistentAcceleration(q, state.qd, state.qdd);
    refresh();
  }

  function stop() {
    Object.assign(state, { mode: "still", plays: false, qd: robot.zeros(), qdd: robot.zeros(), said: "" });
    player.update();
  }

  const act = {
    refresh,
    slide(slider, value) {
      const q = robot.withSlider(state.q, slider, value);
      state.said = q ? "" : `${slider.name} cannot go there: the loop would open`;
      if (!q) return refresh();
      if (simulation?.holds && state.plays) simulation.goal = robot.withSlider(simulation.goal, slider, value) ?? simulation.goal;
      else settle(q);
    },
    rate(quantity, velocity, value) {
      if (state.mode !== "still") stop();
      state[quantity] = state[quantity].map((x, i) => (i === velocity ? value : x));
      settle(state.q);
    },
    home() {
      stop();
      if (simulation) simulation.time = 0;
      settle(data.home.slice());
    },
    hold() {
      simulation.goal = state.q.slice();
      refresh();
    },
    play() {
      if (state.plays) return pause();
      begin();
      state.plays = true;
      requestAnimationFrame(tick);
    },
    step() {
      begin();
      advance(10);
      state.plays = false;
      refresh();
    },
  };

  function begin() {
    if (state.mode === "simulation") return;
    const time = simulation.time;
    player.stop();
    simulation.start(state.q, state.qd);
    simulation.time = time;
    Object.assign(state, { mode: "simulation", said: "" });
  }

  function pause() {
    state.plays = false;
    refresh();
  }

  function advance(steps) {
    const began = performance.now();
    let taken = 0;
    while (taken < steps && performance.now() - began < PATIENCE) {
      if (!simulation.step()) {
        Object.assign(state, { plays: false, said: "stopped: the motion went out of bounds" });
        break;
      }
      taken++;
    }
    state.slow = taken < steps;
    Object.assign(state, { q: simulation.q, qd: simulation.qd, qdd: simulation.acceleration(simulation.q, simulation.qd) });
  }

  let last = 0, owed = 0;
  function tick(now) {
    if (!state.plays || state.mode !== "simulation") { last = 0; return; }
    owed += Math.min(last ? (now - last) / 1000 : FRAME, 2 * FRAME);
    last = now;
    const steps = Math.floor(owed / STEP);
    owed -= steps * STEP;
    advance(steps);
    show();
    requestAnimationFrame(tick);
  }

  // A recorded motion, if there is one.
  const player = replay(robot, state, { refresh, show, ready: () => { state.plays = false; state.mode = "replay"; } });

  const drag = {
    start(grabbed) {
      if (state.mode === "replay") stop();
      if (state.plays && !(simulation.holds && grabbed.isHand)) simulation.pull = { link: grabbed.link, point: grabbed.point, target: grabbed.at };
    },
    move(grabbed, target) {
      const joint = grabbed.isHand ? null : data.joints[data.links[grabbed.link].joint - 1];
      if (simulation?.pull) simulation.pull.target = target;
      else if (state.plays) simulation.goal = robot.reach(simulation.goal, grabbed.link, grabbed.point, target);
      else settle(robot.reach(state.q, grabbed.link, grabbed.point, target, joint));
    },
    end() {
      if (simulation) simulation.pull = null;
    },
  };

  const panels = [
    jointPanel(robot, act),
    ...(data.can_load ? [torquePanel(robot, act)] : []),
    ...(simulation ? [simulationPanel(robot, simulation, act)] : []),
    ...(picture.hand ? [handPanel(robot, picture, act)] : []),
    ...(data.can_load ? [energyPanel(robot), massPanel(robot)] : []),
    aboutPanel(robot),
  ];
  for (const panel of panels) {
    panel.box = element("details", { class: "panel", ontoggle: refresh }, element("summary", {}, element("h2", {}, panel.title)), panel.content);
    panel.box.open = panel.open;
    find("panel").append(panel.box);
  }

  find("name").textContent = data.name;
  find("how").textContent = "Drag a link to turn its joint, the ball to move the hand, the background to turn the view. "
    + "Keys: arrows and + - for the view, W S A D Q E for the hand.";
  find("picture").setAttribute("aria-label", `${data.name} in 3-D`);
  const theme = name => {
    document.documentElement.dataset.theme = name;
    picture.theme(name);
    refresh();
  };
  const wish = matchMedia("(prefers-color-scheme: dark)");
  theme(data.theme ?? (wish.matches ? "dark" : "light"));
  if (!data.theme) wish.addEventListener("change", () => theme(wish.matches ? "dark" : "light"));
  find("tools").append(
    ...(data.can_load ? [checkbox("Torques", true, on => { picture.shows.torques = on; refresh(); })] : []),
    button("Reset view", () => { picture.camera.reset(); refresh(); }),
    button("Light or dark", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark")));
  listen(picture, drag, refresh, way => {
    const { hand } = picture;
    if (!hand || state.plays) return;
    const at = robot.handPoint(robot.poses(state.q), hand);
    settle(robot.reach(state.q, hand.link, hand.point, add(at, scale(way, 0.01 * data.reach))));
  });
  if (!picture.scene.gl) {
    find("labels").textContent = "The robot cannot be drawn: this browser has no WebGL 2.";
  }
  new ResizeObserver(refresh).observe(find("picture"));
  panels[0].start();
  show();
  document.documentElement.dataset.ready = "yes";
  globalThis.chainrule = { robot, state, simulation, picture, player, act, show };
  if (data.motion) player.play();
}

// The player of a recorded motion: play, pause, speed, time.
function replay(robot, state, page) {
  const { motion } = robot.data, box = find("player");
  const nothing = { time: 0, update() {}, stop() {}, play() {} };
  if (!motion) return nothing;
  const numbers = new Float64Array(bytes(motion.postures).buffer), { step, start } = motion;
  const count = numbers.length / robot.nq, end = (count - 1) * step;
  const posture = k => Array.from(numbers.subarray(Math.min(Math.max(k, 0), count - 1) * robot.nq).subarray(0, robot.nq));
  // Velocities half way between two postures.
  const between = k => {
    const first = Math.min(Math.max(k, 0), count - 2);
    return robot.rates(posture(first), posture(first + 1), step);
  };
  let plays = false, elapsed = 0, speed = 1, last = 0;
  const toggle = button("Pause", () => (plays ? pause() : player.play()), { class: "main" });
  const range = element("input", { type: "range", min: start, max: start + end, step: "any", "aria-label": "Time, s",
    oninput: () => { plays = false; go(Number(range.value) - start); } });
  const clock = element("output", {});
  box.hidden = false;
  box.append(toggle, range, clock, choice("Speed", [[1, "1×"], [0.5, "0.5×"], [0.25, "0.25×"], [2, "2×"], [4, "4×"]], x => { speed = Number(x); }));

  // Postures are joined along the shortest way; velocities and accelerations come from those beside it.
  function go(seconds) {
    elapsed = seconds;
    const at = Math.min(seconds / step, count - 1), k = Math.min(Math.floor(at), count - 2), part = at - k;
    const [before, here, after] = [between(k - 1), between(k), between(k + 1)];
    const [first, second] = [scale(add(before, here), 0.5), scale(add(here, after), 0.5)];
    page.ready();
    state.q = robot.move(posture(k), scale(here, step * part));
    state.qd = first.map((x, i) => x + part * (second[i] - x));
    state.qdd = scale(subtract(second, first), 1 / step);
    player.time = start + elapsed;
    player.update();
    page.refresh();
  }

  function pause() {
    plays = false;
    player.update();
  }

  function tick(now) {
    if (!plays) return;
    let next = elapsed + speed * (last ? Math.min((now - last) / 1000, 0.1) : 0);
    last = now;
    if (next > end) next = 0;
    go(next);
    requestAnimationFrame(tick);
  }

  const player = {
    time: start,
    play() {
      page.ready();
      plays = true;
      last = 0;
      player.update();
      requestAnimationFrame(tick);
    },
    stop: pause,
    go,
    update() {
      if (state.mode !== "replay") plays = false;
      toggle.textContent = plays ? "Pause" : "Play";
      range.value = start + elapsed;
      clock.textContent = `${(start + elapsed).toFixed(2)} s`;
    },
  };
  return player;
}
