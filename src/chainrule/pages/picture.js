// The robot in the picture: its links, the arcs of torques, the ellipsoid, the hand; and what pointers and keys do to it.

import { add, clamp, dot, norm, place, placeBack, poseAlong, poseOf, scale, subtract, turn } from "./algebra.js";
import { arcMesh, ARROW, BALL, Camera, ROD, Scene, THEMES } from "./scene.js";
import { shown } from "./words.js";

const GREEN = [46, 160, 90], AMBER = [240, 170, 40], RED = [222, 60, 60], BLUE = [52, 116, 224];
const HAND = [242, 140, 40], VELOCITY = [52, 116, 224], FORCE = [222, 70, 62];
const TOUCH = 20;          // pixels around the hand in which a touch means it
const LEAST_SHARE = 0.004; // of the limit, or of the largest torque, below which no arc is drawn
const MOST_LABELS = 12;

const mixed = (a, b, share) => a.map((x, i) => x + (b[i] - x) * share);
const strain = share => (share < 0.5 ? mixed(GREEN, AMBER, 2 * share) : mixed(AMBER, RED, Math.min(2 * share - 1, 1)));

export class Picture {
  constructor(elements, robot, meshes) {
    const { data } = robot;
    this.robot = robot;
    this.canvas = elements.canvas;
    this.labels = elements.labels;
    this.camera = new Camera(data.camera);
    this.scene = new Scene(this.canvas, this.camera, data.ground);
    this.shows = { torques: true, ellipsoid: false, hand: true };
    this.hand = data.hands[0] ?? null;
    this.ellipsoidKind = "velocity";
    this.parts = data.parts.map((part, k) => ({ ...part, mesh: meshes[k], shadow: true }));
    this.bars = data.bars.map(bar => ({ ...bar, mesh: ROD, shadow: true }));
    this.arcs = data.marks.map(mark => ({ ...mark, mesh: mark.turns ? { corners: [], triangles: [], moving: true } : ARROW }));
    this.texts = this.arcs.length > MOST_LABELS ? [] : this.arcs.map(() => {
      const text = document.createElement("span");
      this.labels.append(text);
      return text;
    });
  }

  theme(name) {
    this.scene.theme = THEMES[name];
  }

  // Draw the robot in a state; `torques` are the numbers of the arcs.
  draw(poses, torques, axes) {
    const { data } = this.robot;
    this.poses = poses;
    for (const part of this.parts) part.pose = poses[part.link];
    for (const bar of this.bars) {
      const [a, b] = [place(poses[bar.link_a], bar.in_a), place(poses[bar.link_b], bar.in_b)];
      const along = subtract(b, a);
      bar.pose = poseAlong(a, along, [bar.radius, bar.radius, Math.max(norm(along), 1e-9)]);
    }
    const arcs = this.shows.torques && torques ? this.arcsOf(poses, torques) : [];
    this.scene.things = [...this.parts, ...this.bars, ...arcs, ...this.marksOfHand(poses, axes)];
    this.scene.draw();
    const taken = [];
    this.texts.forEach((text, k) => {
      const arc = arcs.find(arc => arc.text === text), at = arc && this.scene.project(arc.at);
      const free = at && !taken.some(other => Math.abs(other[0] - at[0]) < 80 && Math.abs(other[1] - at[1]) < 20);
      text.hidden = !free;
      if (free) {
        taken.push(at);
        text.textContent = `${shown(torques[data.marks[k].v])} ${data.velocities[data.marks[k].v].effort_unit}`;
        text.style.left = `${at[0]}px`;
        text.style.top = `${at[1]}px`;
      }
    });
  }

  arcsOf(poses, torques) {
    const { data } = this.robot, size = data.mark_size;
    const largest = { true: 1e-9, false: 1e-9 };
    for (const mark of data.marks) largest[mark.turns] = Math.max(largest[mark.turns], Math.abs(torques[mark.v]));
    const found = [];
    this.arcs.forEach((arc, k) => {
      const { effort } = data.velocities[arc.v], tau = torques[arc.v];
      const share = clamp(Math.abs(tau) / (effort > 0 ? effort : largest[arc.turns]), 0, 1);
      if (share < LEAST_SHARE || !Number.isFinite(share)) return;
      const at = place(poses[arc.link], arc.point), along = turn(poses[arc.link], arc.axis);
      if (arc.turns) {
        Object.assign(arc.mesh, arcMesh(Math.sign(tau) * (0.4 + 5 * Math.sqrt(share)), 2.9 * size, size));
        arc.pose = poseAlong(at, along);
      } else arc.pose = poseAlong(at, scale(along, Math.sign(tau)), [0.35 * size, 0.35 * size, (2 + 8 * share) * size]);
      found.push(Object.assign(arc, { at, text: this.texts[k], color: effort > 0 ? strain(share) : BLUE, shinesThrough: true }));
    });
    return found;
  }

  marksOfHand(poses, axes) {
    const { hand, robot } = this, found = [];
    if (!hand) return found;
    const at = robot.handPoint(poses, hand), size = robot.data.mark_size;
    if (this.shows.hand) found.push({ mesh: BALL, pose: poseOf(at, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [0.8 * size, 0.8 * size, 0.8 * size]), color: HAND, shinesThrough: true });
    if (!this.shows.ellipsoid || !axes || !axes[0].length) return found;
    const lengths = axes.map(({ length }) => (this.ellipsoidKind === "velocity" ? length : length > 1e-9 ? 1 / length : Infinity));
    const largest = Math.max(...lengths.filter(Number.isFinite), 1e-9), unit = 0.18 * robot.data.reach / largest;
    const semi = lengths.map(x => clamp(x * unit, 0.004 * robot.data.reach, 0.4 * robot.data.reach));
    found.push({
      mesh: BALL, pose: poseOf(at, axes.map(({ axis }) => axis), semi),
      color: this.ellipsoidKind === "velocity" ? VELOCITY : FORCE, opacity: 0.4,
    });
    return found;
  }

  // What a pointer at a pixel has got hold of: { link, point, at, isHand }, with the point in the link; or null.
  grab(x, y) {
    const ray = this.scene.ray(x, y), { hand, poses } = this;
    if (hand && this.shows.hand) {
      const at = this.robot.handPoint(poses, hand), pixel = this.scene.project(at);
      if (pixel && Math.hypot(pixel[0] - x, pixel[1] - y) < TOUCH) return { link: hand.link, point: hand.point, at, isHand: true };
    }
    const met = this.scene.pick(ray, thing => thing.link !== undefined && this.parts.includes(thing));
    if (!met || !this.robot.data.links[met.thing.link].joint) return null;
    const at = add(ray.from, scale(ray.along, met.distance));
    return { link: met.thing.link, point: placeBack(poses[met.thing.link], at), at, isHand: false };
  }

  // Where a pixel is in the plane through a point that faces the camera.
  inPlane(x, y, at) {
    const ray = this.scene.ray(x, y), facing = this.camera.axes[2];
    return add(ray.from, scale(ray.along, dot(subtract(at, ray.from), facing) / dot(ray.along, facing)));
  }
}

// Pointers and keys on the picture. `drag` is { start(grabbed), move(grabbed, target), end() }.
export function listen(picture, drag, redraw, moveHand) {
  const { canvas, camera } = picture, pointers = new Map();
  let grabbed = null;
  const at = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const release = () => {
    if (grabbed) drag.end(grabbed);
    grabbed = null;
  };
  canvas.addEventListener("pointerdown", event => {
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, at(event));
    if (pointers.size > 1) return release();
    if (event.button === 0 && !event.shiftKey) grabbed = picture.grab(...at(event));
    if (grabbed) drag.start(grabbed);
    canvas.classList.toggle("grabs", Boolean(grabbed));
  });
  canvas.addEventListener("pointermove", event => {
    const now = at(event), before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") canvas.style.cursor = picture.grab(...now) ? "grab" : "";
      return;
    }
    pointers.set(event.pointerId, now);
    const [dx, dy] = subtract(now, before), height = canvas.clientHeight;
    if (grabbed) drag.move(grabbed, picture.inPlane(...now, grabbed.at));
    else if (pointers.size === 2) {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
      camera.zoom(norm(subtract(before, other)) / Math.max(norm(subtract(now, other)), 1));
      camera.pan(dx / height / 2, dy / height / 2);
    } else if (event.buttons & 2 || event.shiftKey) camera.pan(dx / height, dy / height);
    else camera.orbit(-dx * 0.008, dy * 0.008);
    redraw();
  });
  for (const name of ["pointerup", "pointercancel"])
    canvas.addEventListener(name, event => {
      pointers.delete(event.pointerId);
      release();
      canvas.classList.remove("grabs");
    });
  canvas.addEventListener("contextmenu", event => event.preventDefault());
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    camera.zoom(Math.exp(clamp(event.deltaY, -200, 200) * 0.0015));
    redraw();
  }, { passive: false });
  canvas.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const turns = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[key];
    const zoom = { "+": 0.9, "=": 0.9, "-": 1.1 }[key];
    const way = { w: [1, 0, 0], s: [-1, 0, 0], a: [0, 1, 0], d: [0, -1, 0], e: [0, 0, 1], q: [0, 0, -1] }[key];
    if (turns) camera.orbit(...turns);
    else if (zoom) camera.zoom(zoom);
    else if (way) moveHand(way);
    else return;
    event.preventDefault();
    redraw();
  });
}
