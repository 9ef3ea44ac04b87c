// The panels beside the picture: each is { title, open, content, update(now) }.
//
// `now` is what the page shows: q, qd, qdd, terms, axes, energies, poses. `act` is what panels may do: see page.js.

import { norm } from "./algebra.js";
import { button, checkbox, choice, element, shown } from "./words.js";

const DEGREE = Math.PI / 180;
const CAUSES = { inertial: "#3d7fe0", centrifugal: "#9a66d8", coriolis: "#d25fb4", gravity: "#2e9e5b", friction: "#c98a12",
  spring: "#1a9db0", damper: "#7a8794", loop: "#d2503c" };
const CHART_SECONDS = 10;
const MOST_NUMBERS = 9;  // joints up to which the mass matrix has numbers in its cells

// Sliders of positions, velocities and accelerations.
export function jointPanel(robot, act) {
  const { data } = robot;
  const angular = data.sliders.some(slider => slider.unit === "rad");
  let quantity = "q", degrees = true;
  const factor = row => (row.unit === "rad" && degrees ? DEGREE : 1);
  const unitOf = row => (row.unit === "rad" && degrees ? "°" : row.unit) + { q: "", qd: "/s", qdd: "/s²" }[quantity];
  const value = (row, now) => (quantity === "q" ? robot.sliderValue(now.q, row) : now[quantity][row.velocity]);
  const set = (row, x) => (quantity === "q" ? act.slide(row, x) : act.rate(quantity, row.velocity, x));
  const rows = data.sliders.map(slider => {
    const range = element("input", { type: "range", step: "any", oninput: () => set(slider, Number(range.value)) });
    const number = element("input", { type: "number", step: "any",
      onchange: () => number.value !== "" && set(slider, Number(number.value) * factor(slider)) });
    const unit = element("span", { class: "unit" });
    const name = element("span", { class: "name" });
    return { slider, name, range, number, unit, line: element("div", { class: "joint" }, name, range, number, unit) };
  });
  function bounds() {
    for (const { slider, name, range, number, unit } of rows) {
      name.textContent = name.title = quantity === "q" ? slider.name : data.velocities[slider.velocity].name;
      range.setAttribute("aria-label", name.textContent);
      number.setAttribute("aria-label", `${name.textContent}, number`);
      const size = { q: null, qd: slider.rate, qdd: 5 * slider.rate }[quantity];
      range.min = size === null ? slider.low : -size;
      range.max = size === null ? slider.high : size;
      unit.textContent = unitOf(slider);
    }
    act.refresh();
  }
  const content = element("div", {},
    element("div", { class: "line" },
      choice("Quantity", [["q", "Positions"], ["qd", "Velocities"], ["qdd", "Accelerations"]], chosen => { quantity = chosen; bounds(); }),
      ...(angular ? [choice("Unit of angles", [["1", "degrees"], ["", "radians"]], chosen => { degrees = Boolean(chosen); bounds(); })] : []),
      button("Home", act.home)),
    ...rows.map(row => row.line),
    element("p", { class: "said", role: "status" }));
  const said = content.lastChild;
  return {
    title: "Joints", open: true, content, start: bounds,
    update(now) {
      for (const { slider, range, number } of rows) {
        const x = value(slider, now);
        range.value = x;
        range.setAttribute("aria-valuetext", `${shown(x / factor(slider))} ${unitOf(slider)}`);
        if (document.activeElement !== number) number.value = Number((x / factor(slider)).toPrecision(5));
      }
      said.textContent = now.said ?? "";
    },
  };
}

// Torques by their causes, as bars and as numbers.
export function torquePanel(robot, act) {
  const { data } = robot, causes = data.terms.filter(name => name !== "total");
  const kinds = [...new Set(data.velocities.map(v => v.effort_unit))];
  const legend = element("p", { class: "legend" }, ...causes.map(name =>
    element("span", {}, element("i"), name)));
  legend.querySelectorAll("i").forEach((mark, k) => { mark.style.background = CAUSES[causes[k]]; });
  const rows = data.velocities.map(velocity => {
    const bar = element("div", { class: "bar" }, ...causes.map(() => element("i")));
    [...bar.children].forEach((part, k) => { part.style.background = CAUSES[causes[k]]; });
    const total = element("span", { class: "number" });
    const line = element("div", { class: "torque" }, element("span", { class: "name", title: velocity.name }, velocity.name), bar, total);
    return { bar, total, line };
  });
  const cells = data.velocities.map(() => data.terms.map(() => element("td")));
  const table = element("table", {}, element("caption", {}, `Torques by cause, ${kinds.join(" and ")}`),
    element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "joint"), ...data.terms.map(name => element("th", { scope: "col" }, name)))),
    element("tbody", {}, ...data.velocities.map(({ name }, i) => element("tr", {}, element("th", { scope: "row" }, name), ...cells[i]))));
  const numbers = element("details", { class: "numbers", ontoggle: act.refresh }, element("summary", {}, "As numbers"),
    element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Torques as numbers" }, table));
  return {
    title: "Torques by cause", open: true, content: element("div", {}, legend, ...rows.map(row => row.line), numbers),
    update({ terms }) {
      const size = {};
      data.velocities.forEach(({ effort_unit }, i) => {
        const sides = [1, -1].map(sign => causes.reduce((sum, name) => sum + Math.max(sign * terms[name][i], 0), 0));
        size[effort_unit] = Math.max(size[effort_unit] ?? 1e-9, ...sides);
      });
      rows.forEach(({ bar, total }, i) => {
        const { effort_unit, effort } = data.velocities[i], ends = [50, 50];
        causes.forEach((name, k) => {
          const width = 50 * Math.abs(terms[name][i]) / size[effort_unit], part = bar.children[k];
          const left = terms[name][i] < 0;
          if (left) ends[0] -= width;
          part.style.left = `${left ? ends[0] : ends[1]}%`;
          part.style.width = `${width}%`;
          part.title = `${name} ${shown(terms[name][i])} ${effort_unit}`;
          if (!left) ends[1] += width;
        });
        const tau = terms.total[i];
        total.textContent = `${shown(tau)} ${effort_unit}`;
        total.title = effort === null ? "" : `${Math.round(100 * Math.abs(tau) / effort)} % of ${shown(effort)} ${effort_unit}`;
        total.classList.toggle("beyond", effort > 0 && Math.abs(tau) > effort);
      });
      if (numbers.open) cells.forEach((row, i) => row.forEach((cell, k) => { cell.textContent = shown(terms[data.terms[k]][i]); }));
    },
  };
}

// The simulation: let go, or held where it is.
export function simulationPanel(robot, simulation, act) {
  const play = button("Play", () => act.play(), { class: "main" });
  const strength = element("span", { class: "unit" });
  const range = element("input", { type: "range", min: 0, max: 2, step: 0.05, "aria-label": "Gravity, as a multiple of the robot's own",
    oninput: () => { simulation.gravity = Number(range.value); act.refresh(); } });
  range.value = simulation.gravity;
  const time = element("span", { class: "number" });
  const content = element("div", {},
    element("div", { class: "line" }, play, button("Step", act.step), button("Home", act.home), time),
    element("div", { class: "line" },
      checkbox("Hold by PD control", simulation.holds, on => { simulation.holds = on; act.hold(); }),
      checkbox("Friction", simulation.friction, on => { simulation.friction = on; }),
      checkbox("Torque limits", simulation.saturates, on => { simulation.saturates = on; })),
    element("div", { class: "joint" }, element("span", { class: "name" }, "Gravity"), range, strength),
    element("p", { class: "said" }, robot.data.simulation_note));
  return {
    title: "Simulation", open: true, content,
    update(now) {
      play.textContent = now.plays ? "Pause" : "Play";
      time.textContent = `t = ${simulation.time.toFixed(2)} s${now.slow ? ", slower than real time" : ""}`;
      strength.textContent = `${shown(simulation.gravity * norm(robot.data.gravity))} m/s²`;
      if (now.said && now.mode === "simulation") time.textContent += `; ${now.said}`;
    },
  };
}

// The hand: where it is, and the ellipsoid of what it can do.
export function handPanel(robot, picture, act) {
  const { data } = robot, place = element("p", { class: "number" }), text = element("p", { class: "number" });
  const content = element("div", {},
    element("div", { class: "line" },
      ...(data.hands.length > 1 ? [choice("Hand", data.hands.map((hand, k) => [k, hand.name]), k => { picture.hand = data.hands[k]; act.refresh(); })] : []),
      checkbox("Draw the ellipsoid of", picture.shows.ellipsoid, on => { picture.shows.ellipsoid = on; act.refresh(); }),
      choice("Kind of ellipsoid", [["velocity", "velocities"], ["force", "forces"]], kind => {
        picture.ellipsoidKind = kind;
        act.refresh();
      })),
    place, text);
  return {
    title: "Hand and manipulability", open: true, content,
    update({ poses, axes }) {
      const hand = picture.hand;
      place.textContent = `${hand.name} at ${robot.handPoint(poses, hand).map(shown).join(", ")} m`;
      const lengths = axes.slice(0, hand.rank).map(axis => axis.length), force = picture.ellipsoidKind === "force";
      const shownLengths = lengths.map(x => shown(force ? (x > 1e-9 ? 1 / x : Infinity) : x));
      const w = lengths.reduce((product, x) => product * x, 1);
      text.textContent = `Half axes ${shownLengths.join(", ")} ${force ? "N for 1 N m" : "m/s for 1 rad/s"} in all joints together. `
        + `Manipulability w = ${shown(w)}, ratio of the smallest to the largest ${shown(lengths[0] ? lengths.at(-1) / lengths[0] : 0)}.`;
    },
  };
}

// The mass matrix as a map of colors.
export function massPanel(robot) {
  const { data, nv } = robot, cells = Array.from({ length: nv * nv }, () => element("td"));
  const names = data.velocities.map(velocity => velocity.name);
  const rows = names.map((name, i) => element("tr", {}, element("th", { scope: "row", title: name }, String(i + 1)), ...cells.slice(i * nv, (i + 1) * nv)));
  const head = element("tr", {}, element("th", { scope: "col" }, "joint"), ...names.map((name, i) => element("th", { scope: "col", title: name }, String(i + 1))));
  const table = element("table", { class: nv > MOST_NUMBERS ? "map small" : "map" }, element("caption", {}, "Mass matrix M(q), in SI units; joints by number"),
    element("thead", {}, head), element("tbody", {}, ...rows));
  return {
    title: "Mass matrix", open: nv <= MOST_NUMBERS, content: element("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Mass matrix" }, table),
    update({ q }) {
      const M = robot.call.mass_matrix(q), largest = Math.max(...Array.from(M, Math.abs), 1e-12);
      cells.forEach((cell, k) => {
        const share = Math.sqrt(Math.abs(M[k]) / largest);
        cell.style.setProperty("--share", `${Math.round(100 * share)}%`);
        cell.classList.toggle("negative", M[k] < 0);
        cell.title = `${names[Math.floor(k / nv)]}, ${names[k % nv]}: ${shown(M[k])}`;
        cell.textContent = nv > MOST_NUMBERS ? "" : shown(Number(M[k].toPrecision(3)));
      });
    },
  };
}

// Energies, now and over the last seconds of a simulation.
export function energyPanel(robot) {
  const colors = { kinetic: "#3d7fe0", potential: "#2e9e5b", total: "#c98a12" };
  const numbers = Object.keys(colors).map(name => element("span", {}, element("i"), element("b")));
  numbers.forEach((one, k) => { one.firstChild.style.background = Object.values(colors)[k]; });
  const chart = element("canvas", { class: "chart", role: "img", "aria-label": `Energies over the last ${CHART_SECONDS} s, in J` });
  const past = [];
  return {
    title: "Energy", open: true, content: element("div", {}, element("p", { class: "legend" }, ...numbers), chart),
    update({ energies, time, mode }) {
      Object.keys(colors).forEach((name, k) => { numbers[k].lastChild.textContent = `${name} ${shown(energies[name])} J`; });
      if (past.length && past.at(-1).time > time) past.length = 0;
      if (mode !== "still" && past.at(-1)?.time !== time) past.push({ time, ...energies });
      while (past.length && past[0].time < time - CHART_SECONDS) past.shift();
      chart.hidden = past.length < 2;
      if (!chart.hidden) drawChart(chart, past, colors, time);
    },
  };
}

function drawChart(chart, past, colors, time) {
  const dots = devicePixelRatio, width = chart.clientWidth * dots, height = chart.clientHeight * dots, pen = chart.getContext("2d");
  if (!width) return;
  Object.assign(chart, { width, height });
  const all = past.flatMap(point => Object.keys(colors).map(name => point[name]));
  const low = Math.min(...all), size = Math.max(Math.max(...all) - low, 1e-9);
  pen.lineWidth = 1.5 * dots;
  for (const [name, color] of Object.entries(colors)) {
    pen.strokeStyle = color;
    pen.beginPath();
    for (const point of past) pen.lineTo(width * (1 + (point.time - time) / CHART_SECONDS), (height - 4) * (1 - (point[name] - low) / size) + 2);
    pen.stroke();
  }
}

// What the page shows, and what it does not.
export function aboutPanel(robot) {
  const list = element("ul", {}, ...robot.data.about.map(text => element("li", {}, text)));
  return { title: "About this robot", open: false, content: list, update() {} };
}
