"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const at = (id) => document.getElementById(id);
const text = (value) => String(value).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const range = (values) => [Math.min(...values), Math.max(...values)];
const sum = (arrays) => Array.from(arrays[0], (_, i) => arrays.reduce((s, a) => s + a[i], 0));
const joints = data.joints, parts = data.parts;
const units = (turns) => (turns ? ["deg", "deg/s", "deg/s²", "N m"] : ["m", "m/s", "m/s²", "N"]);
const quantities = ["angle", "speed", "acceleration", "torque"];

// Arrays of 16-bit integers in base64, as figures.pack writes them.
function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) => packed.low + packed.step * (view.getInt16(2 * i, true) + 32768));
}
function curves(activity) {
  activity.curves ??= activity.joints.map((joint) => {
    const all = joint.map(unpack);
    return { motion: all.slice(0, 3), parts: all.slice(3), total: sum(all.slice(3)) };
  });
  return activity.curves;
}
const points = (activity) => (activity.unpacked ??= unpack(activity.points));

// Charts: a frame with round numbers on its axes, and what is drawn inside, as SVG.
function ticks([low, high], count) {
  const raw = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((f) => f * power >= raw);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(+(k * step).toPrecision(10));
  return found;
}
function padded([low, high]) {
  const size = Math.max(high - low, 1e-3 * Math.max(Math.abs(low), Math.abs(high)), 1e-9);
  return [low - 0.05 * size, high + 0.05 * size];
}
function chart(id, { height = 170, x, y, xTicks, xNames, xLabel = "", yLabel = "", left = 46, bottom = 30, log = false, draw }) {
  const place = at(id);
  if (!place) return;
  if (xNames) place.style.minWidth = `${left + 17 * xNames.length}px`; // so that names do not meet: the strip scrolls
  const width = Math.min(place.clientWidth || 280, 640); // a figure that is hidden has no width
  const right = width - 8, floor = height - bottom, top = 18, scale = log ? Math.log : (v) => v;
  const [x0, x1] = x.map(scale), [y0, y1] = y;
  const X = (v) => left + ((scale(v) - x0) / (x1 - x0 || 1)) * (right - left);
  const Y = (v) => floor - ((v - y0) / (y1 - y0 || 1)) * (floor - top);
  const grid = ticks(y, 5).map((v) => `<line class="axis" x1="${left}" x2="${right}" y1="${Y(v)}" y2="${Y(v)}"/><text x="${left - 4}" y="${Y(v) + 4}" text-anchor="end">${v}</text>`);
  if (y0 < 0 && y1 > 0) grid.push(`<line class="zero" x1="${left}" x2="${right}" y1="${Y(0)}" y2="${Y(0)}"/>`);
  const marks = xNames
    ? xNames.map((name, k) => `<text transform="translate(${X(k) + 4},${floor + 10}) rotate(-40)" text-anchor="end">${text(name.length > 28 ? `${name.slice(0, 27)}…` : name)}</text>`)
    : (xTicks ?? ticks(x, 5)).map((v) => `<text x="${X(v)}" y="${floor + 14}" text-anchor="middle">${v}</text>`);
  place.innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${text(yLabel)}">${grid.join("")}${marks.join("")}` +
    `<text class="title" x="${left}" y="12">${text(yLabel)}</text><text x="${right}" y="${height - 3}" text-anchor="end">${text(xLabel)}</text>` +
    `<rect class="frame" x="${left}" y="${top}" width="${right - left}" height="${floor - top}"/>${draw(X, Y)}</svg>`;
}
const line = (X, Y, x, y, kind = "") => `<path class="line ${kind}" d="M${Array.from(x, (v, i) => `${X(v).toFixed(1)},${Y(y[i]).toFixed(1)}`).join("L")}"/>`;
function boxChart(id, names, boxes, unit, options = {}) {
  const all = boxes.flatMap((box) => [...box.lines, ...box.outliers]);
  const half = 0.28;
  chart(id, {
    x: [-0.6, names.length - 0.4], y: padded(range([0, ...all])), xNames: names, yLabel: unit, bottom: 84, height: 250, left: 58, ...options,
    draw: (X, Y) => boxes.map(({ lines: [low, q1, median, q3, high], outliers }, k) => {
      const flat = (v, w, kind) => `<line class="${kind}" x1="${X(k - w)}" x2="${X(k + w)}" y1="${Y(v)}" y2="${Y(v)}"/>`;
      const rod = (a, b) => `<line class="whisker" x1="${X(k)}" x2="${X(k)}" y1="${Y(a)}" y2="${Y(b)}"/>`;
      const crosses = outliers.map((v) => `<path class="cross" d="M${X(k) - 2},${Y(v) - 2}l4,4m0,-4l-4,4"/>`).join("");
      return `<g>${rod(low, q1)}${rod(q3, high)}${flat(low, half / 2, "whisker")}${flat(high, half / 2, "whisker")}` +
        `<rect class="box" x="${X(k - half)}" width="${X(k + half) - X(k - half)}" y="${Y(q3)}" height="${Math.max(Y(q1) - Y(q3), 0.5)}"/>${flat(median, half, "whisker")}${crosses}</g>`;
    }).join(""),
  });
}

// The robot in a posture, drawn without perspective: those of its lines that are behind come first.
const view = { turn: -0.62, tilt: 0.22 };
function project() {
  const [c, s, ct, st] = [Math.cos(view.turn), Math.sin(view.turn), Math.cos(view.tilt), Math.sin(view.tilt)];
  return [[c, -s, 0], [st * s, st * c, ct], [-ct * s, -ct * c, st]]; // to the right, up, towards the eye
}
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const corners = (activity) => Array.from({ length: points(activity).length / 3 }, (_, i) => points(activity).slice(3 * i, 3 * i + 3));
function bounds(activity) {
  const P = project(), all = corners(activity);
  for (const { center } of data.scene.bodies) all.push(center);
  const u = all.map((p) => dot(P[0], p)), v = all.map((p) => dot(P[1], p));
  const reach = data.scene.bodies.flatMap(({ axes }) => axes.flat().map(Math.abs));
  const size = Math.max(Math.max(...u) - Math.min(...u), Math.max(...v) - Math.min(...v), 1e-6) + 2 * Math.max(0.05 * data.scene.size, ...reach);
  return [(Math.max(...u) + Math.min(...u)) / 2, (Math.max(...v) + Math.min(...v)) / 2, size];
}
function scene(svg, activity, frame) {
  const P = project(), [cu, cv, size] = activity.bounds ?? bounds(activity);
  const x = (p) => 50 + (100 * (dot(P[0], p) - cu)) / size, y = (p) => 50 - (100 * (dot(P[1], p) - cv)) / size;
  const all = points(activity), count = all.length / 3 / activity.times.length;
  const low = Math.min(Math.floor(frame), activity.times.length - 1), high = Math.min(low + 1, activity.times.length - 1), part = frame - low;
  const point = (k) => [0, 1, 2].map((i) => (1 - part) * all[3 * (low * count + k) + i] + part * all[3 * (high * count + k) + i]);
  const bodies = data.scene.bodies.map(({ center, axes }) => {
    const [a, b] = [0, 1].map((r) => [0, 1, 2].map((k) => dot(P[r], [axes[0][k], axes[1][k], axes[2][k]])));
    const [uu, uv, vv] = [dot(a, a), dot(a, b), dot(b, b)].map((v) => v * (100 / size) ** 2); // of the ellipse's matrix
    const mean = (uu + vv) / 2, spread = Math.hypot((uu - vv) / 2, uv), turn = (-Math.atan2(2 * uv, uu - vv) / 2) * (180 / Math.PI);
    return `<ellipse class="body" rx="${Math.sqrt(mean + spread)}" ry="${Math.sqrt(Math.max(mean - spread, 0))}" transform="translate(${x(center)},${y(center)}) rotate(${turn})"/>`;
  });
  const limbs = data.scene.lines.map(([a, b]) => [point(a), point(b)]).map(([a, b]) => [dot(P[2], a) + dot(P[2], b),
    `<line x1="${x(a)}" y1="${y(a)}" x2="${x(b)}" y2="${y(b)}" stroke-width="3.2"/><circle class="joint" cx="${x(a)}" cy="${y(a)}" r="1.2" stroke-width=".5"/><circle class="joint" cx="${x(b)}" cy="${y(b)}" r="1.2" stroke-width=".5"/>`]);
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.innerHTML = `<g class="scene">${bodies.join("")}${limbs.sort((a, b) => a[0] - b[0]).map((l) => l[1]).join("")}</g>`;
}

// What is chosen: an activity, a moment, a joint.
const state = { activity: 0, frame: 0, joint: data.most, playing: false };
const chosen = () => data.activities[state.activity];
const moment = () => {
  const { times } = chosen(), low = Math.min(Math.floor(state.frame), times.length - 1), high = Math.min(low + 1, times.length - 1);
  return times[low] + (state.frame - low) * (times[high] - times[low]);
};
function interpolate(t, x, time) {
  let k = 0;
  while (k < t.length - 2 && t[k + 1] < time) k++;
  const part = t.length > 1 ? Math.min(Math.max((time - t[k]) / (t[k + 1] - t[k] || 1), 0), 1) : 0;
  return x[k] + part * ((x[k + 1] ?? x[k]) - x[k]);
}
function showMoment() {
  const activity = chosen(), time = moment(), all = curves(activity);
  scene(at("stage"), activity, state.frame);
  at("moment").textContent = `${activity.title}, ${time.toFixed(2)} s of ${activity.times.at(-1).toFixed(1)} s`;
  at("time").value = (1000 * state.frame) / Math.max(activity.times.length - 1, 1);
  for (const cursor of document.querySelectorAll(".now")) {
    const x = Number(cursor.dataset.left) + Number(cursor.dataset.scale) * time;
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
  }
  const names = [...parts, "total"], high = 22 + 6 * names.length, left = 128, width = 440;
  const rows = joints.map((joint, j) => {
    const most = Math.max(...Array.from(all[j].total, Math.abs), ...all[j].parts.flatMap((p) => Array.from(p, Math.abs)), 1e-12);
    const bars = [...all[j].parts, all[j].total].map((x, k) => {
      const v = interpolate(activity.t, x, time), end = (v / most) * 105;
      return `<line class="line ${names[k]}" style="stroke-width:4" x1="${left + 110}" x2="${left + 110 + end}" y1="${8 + 6 * k}" y2="${8 + 6 * k}"/>`;
    });
    const v = interpolate(activity.t, all[j].total, time);
    return `<g transform="translate(0,${j * high})"><text class="title" x="${left - 8}" y="${high / 2}" text-anchor="end">${text(joint.label)}</text>${bars.join("")}` +
      `<line class="zero" x1="${left + 110}" x2="${left + 110}" y1="2" y2="${high - 12}"/><text class="title" x="${width - 4}" y="${high / 2}" text-anchor="end">${(Math.abs(v) < 0.005 ? 0 : v).toFixed(Math.abs(v) < 10 ? 2 : 1)} ${units(joint.turns)[3]}</text></g>`;
  });
  at("bars").innerHTML = `<svg viewBox="0 0 ${width} ${high * joints.length}" role="img" aria-label="torques at this moment">${rows.join("")}</svg>`;
}
function showActivity() {
  const activity = chosen(), all = curves(activity), span = [activity.t[0], activity.t.at(-1)];
  for (const place of document.querySelectorAll("p.activity")) place.textContent = activity.title;
  joints.forEach((joint, j) => quantities.forEach((_, k) => {
    const sets = k < 3 ? [[all[j].motion[k], ""]] : [...all[j].parts.map((x, i) => [x, parts[i]]), [all[j].total, "total"]];
    chart(`history-${j}-${k}`, {
      x: span, y: padded(range(sets.flatMap(([x]) => range(x)))), xLabel: "s", yLabel: `${k ? ["", "speed", "acceleration", joint.turns ? "torque" : "force"][k] : joint.turns ? "angle" : "position"}, ${units(joint.turns)[k]}`,
      draw: (X, Y) => sets.map(([x, kind]) => line(X, Y, activity.t, x, kind)).join("") +
        `<line class="now" data-left="${X(0)}" data-scale="${X(1) - X(0)}" y1="${18}" y2="${140}"/>`,
    });
  }));
  quantities.forEach((name, k) => jointBoxes(`box-${name}`, activity.boxes[name], name, k));
  document.querySelectorAll(".pictures button").forEach((button, k) => button.setAttribute("aria-pressed", k === state.activity));
  showMoment();
}
// Joints that turn and joints that slide have other units: those that turn stand in the figure where there are both.
function jointBoxes(id, boxes, name, k) {
  const turning = joints.some((joint) => joint.turns), shown = joints.map((_, j) => j).filter((j) => joints[j].turns === turning);
  const unit = name === "power" ? "W" : units(turning)[k];
  boxChart(id, shown.map((j) => joints[j].label), shown.map((j) => boxes[j]), `${name}, ${unit}`);
}
function showJoint() {
  document.querySelectorAll(".joint[id]").forEach((row, j) => row.classList.toggle("chosen", j === state.joint));
  for (const select of document.querySelectorAll("select.joints")) select.value = state.joint;
  const joint = joints[state.joint];
  boxChart("by-activity", data.activities.map((a) => a.title), data.activities.map((a) => a.boxes.torque[state.joint]), `${joint.label}, ${units(joint.turns)[3]}`, { height: 300, bottom: 118, left: 126 });
}
function choose(number) {
  state.activity = number;
  state.frame = chosen().peak;
  chosen().bounds = bounds(chosen());
  showActivity();
}
data.activities.forEach((activity, k) => {
  const button = at(`activity-${k}`);
  if (!button) return;
  button.addEventListener("click", () => choose(k));
  scene(button.querySelector("svg"), activity, activity.peak);
});
for (const select of document.querySelectorAll("select.joints")) {
  select.addEventListener("change", () => { state.joint = Number(select.value); showJoint(); });
}
const quantity = at("quantity");
const showQuantity = () => jointBoxes("by-joint", data.overall[quantity.value], quantity.value, Math.max(quantities.indexOf(quantity.value), 0) || (quantity.value === "angle" ? 0 : 3));
if (quantity) { quantity.addEventListener("change", showQuantity); showQuantity(); }

// Replay.
let last = 0;
function play(now) {
  if (!state.playing) return;
  const { times } = chosen(), step = (now - last) / 1000;
  last = now;
  let time = moment() + Math.min(step, 0.1), k = 0;
  if (time > times.at(-1)) time = times[0];
  while (k < times.length - 2 && times[k + 1] <= time) k++;
  state.frame = times.length > 1 ? k + (time - times[k]) / (times[k + 1] - times[k]) : 0;
  showMoment();
  requestAnimationFrame(play);
}
at("play").addEventListener("click", () => {
  state.playing = !state.playing;
  at("play").textContent = state.playing ? "Pause" : "Play";
  last = performance.now();
  if (state.playing) requestAnimationFrame(play);
});
at("time").addEventListener("input", (event) => {
  state.frame = (Number(event.target.value) / 1000) * (chosen().times.length - 1);
  showMoment();
});
at("stage").addEventListener("pointermove", (event) => {
  if (!event.buttons) return;
  view.turn += event.movementX / 120;
  view.tilt = Math.min(Math.max(view.tilt + event.movementY / 120, -1.5), 1.5);
  chosen().bounds = bounds(chosen());
  showMoment();
});

const { pace, shares } = data.pace;
chart("pace", {
  height: 240, log: true, x: [0.25, 8], y: [0, 105], xTicks: [0.25, 0.5, 1, 2, 4, 8], yLabel: "% of joints and activities where gravity is larger", xLabel: "pace, times that of the motions",
  draw: (X, Y) => line(X, Y, pace, shares.peak, "gravity") + line(X, Y, pace, shares.rms, "dynamic") +
    `<line class="zero dashed" x1="${X(1)}" x2="${X(1)}" y1="${Y(0)}" y2="${Y(105)}"/><text x="${X(0.27)}" y="${Y(20)}" style="fill:var(--gravity)">by peaks</text><text x="${X(0.27)}" y="${Y(10)}" style="fill:var(--dynamic)">by root mean squares</text>`,
});
data.planes.forEach(({ envelope, ...operating }, j) => {
  const [speed, torque] = [operating.speed, operating.torque].map((array) => Array.from(unpack(array)));
  const out = envelope ? [...envelope.speed, ...envelope.speed.map((v) => -v)] : [];
  chart(`plane-${j}`, {
    height: 220, x: padded(range([...speed, ...out])), y: padded(range([...torque, ...(envelope ? [...envelope.peak, ...envelope.peak.map((v) => -v)] : [])])), xLabel: "speed, rad/s", yLabel: `${joints[j].label}, N m`,
    draw: (X, Y) => speed.map((v, i) => `<circle class="dot" r="1.6" cx="${X(v).toFixed(1)}" cy="${Y(torque[i]).toFixed(1)}"/>`).join("") + (envelope
      ? [1, -1].map((s) => line(X, Y, [...envelope.speed.map((v) => s * v), ...envelope.speed.map((v) => s * v).reverse()], [...envelope.peak, ...envelope.peak.map((v) => -v).reverse()], "gravity") +
        line(X, Y, [-envelope.speed.at(-1), envelope.speed.at(-1)], [s * envelope.continuous, s * envelope.continuous], "contact dashed")).join("")
      : ""),
  });
});
addEventListener("beforeprint", () => { for (const details of document.querySelectorAll("details")) details.open = true; });
if (innerWidth < 760) for (const details of document.querySelectorAll("details")) details.open = false;
showJoint();
choose(0);
document.documentElement.dataset.ready = "yes";
