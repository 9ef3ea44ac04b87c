// The picture: triangles with light and a shadow, in WebGL. It knows nothing of robots.
//
// A mesh is { corners, triangles }: lists of numbers and of indices. A thing to draw is
// { mesh, pose, color, opacity, shadow, shinesThrough }, with a 4 x 4 pose (row by row) that may scale.

import { add, clamp, compose, cross, dot, scale, subtract, turn, unit } from "./algebra.js";

const VERTEX = `#version 300 es
uniform mat4 view, pose;
in vec3 corner, normal;
out vec3 at, out_of;
void main() {
  vec4 p = pose * vec4(corner, 1.0);
  at = p.xyz;
  out_of = transpose(inverse(mat3(pose))) * normal;
  gl_Position = view * p;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform vec3 eye, up, lamp, ambient;
uniform vec4 color;
uniform float lit;
in vec3 at, out_of;
out vec4 pixel;
void main() {
  vec3 n = normalize(out_of), to_eye = normalize(eye - at);
  if (dot(n, to_eye) < 0.0) n = -n;
  float sky = 0.5 + 0.5 * dot(n, up), lamp_part = max(dot(n, lamp), 0.0);
  float fill = max(dot(n, normalize(to_eye + 0.4 * up)), 0.0);
  float shine = pow(max(dot(n, normalize(lamp + to_eye)), 0.0), 40.0);
  vec3 light = ambient * (0.5 + 0.5 * sky) + 0.4 * lamp_part + 0.14 * fill;
  pixel = vec4(mix(color.rgb, color.rgb * light + 0.12 * shine, lit), color.a);
}`;
const GROUND_VERTEX = `#version 300 es
uniform mat4 view, pose;
in vec3 corner;
out vec2 at;
void main() { at = corner.xy; gl_Position = view * pose * vec4(corner, 1.0); }`;
const GROUND_FRAGMENT = `#version 300 es
precision highp float;
uniform vec3 ground, line, section;
uniform float spacing, fade;
in vec2 at;
out vec4 pixel;
float grid(float step) {
  vec2 cell = at / step, width = fwidth(cell);
  vec2 near = abs(fract(cell - 0.5) - 0.5) / width;
  float most = max(width.x, width.y);
  return (1.0 - min(min(near.x, near.y), 1.0)) * (1.0 - smoothstep(0.3, 1.0, most));
}
void main() {
  vec3 color = mix(mix(ground, line, grid(spacing / 5.0)), section, grid(spacing));
  pixel = vec4(color, 1.0 - smoothstep(0.25, 1.0, length(at) / fade));
}`;

export const THEMES = {
  light: { ground: [0.97, 0.975, 0.985], line: [0.87, 0.89, 0.92], section: [0.77, 0.8, 0.84], ambient: [0.56, 0.58, 0.62], shadow: 0.16 },
  dark: { ground: [0.16, 0.18, 0.22], line: [0.23, 0.26, 0.31], section: [0.31, 0.345, 0.41], ambient: [0.42, 0.44, 0.48], shadow: 0.4 },
};

// Normals of a mesh: those of the triangles around each corner, by their areas.
function normalsOf({ corners, triangles }) {
  const normals = new Float32Array(corners.length);
  for (let k = 0; k < triangles.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map(i => Array.from(corners.slice(3 * triangles[k + i], 3 * triangles[k + i] + 3)));
    const n = cross(subtract(b, a), subtract(c, a));
    for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) normals[3 * triangles[k + i] + j] += n[j];
  }
  return normals;
}

export class Camera {
  constructor({ position, look_at, up, angle }) {
    this.first = { target: look_at, offset: subtract(position, look_at) };
    this.up = up;
    this.angle = angle;
    this.reset();
  }

  reset() {
    this.target = this.first.target;
    this.offset = this.first.offset;
  }

  get distance() {
    return Math.hypot(...this.offset);
  }

  // Axes of the picture: right, up and backward.
  get axes() {
    const back = unit(this.offset), right = unit(cross(this.up, back));
    return [right, cross(back, right), back];
  }

  // Turn about the target: to the side, and up or down, in rad.
  orbit(aside, upward) {
    const back = unit(this.offset), height = Math.asin(clamp(dot(back, this.up), -1, 1));
    const level = unit(subtract(back, scale(this.up, dot(back, this.up)))), across = cross(this.up, level);
    const h = clamp(height + upward, -1.5, 1.5);
    const direction = add(scale(add(scale(level, Math.cos(aside)), scale(across, Math.sin(aside))), Math.cos(h)),
      scale(this.up, Math.sin(h)));
    this.offset = scale(direction, this.distance);
  }

  zoom(factor) {
    const first = Math.hypot(...this.first.offset);
    this.offset = scale(unit(this.offset), clamp(this.distance * factor, 0.05 * first, 10 * first));
  }

  // Move sideways by a part of the picture's height.
  pan(dx, dy) {
    const [right, up] = this.axes, size = 2 * this.distance * Math.tan(this.angle / 2);
    this.target = add(this.target, add(scale(right, -dx * size), scale(up, dy * size)));
  }

  get eye() {
    return add(this.target, this.offset);
  }

  // The half height of the picture at a unit of distance; a narrow picture shows as much to the sides.
  spread(aspect) {
    return Math.tan(this.angle / 2) / Math.min(1, aspect);
  }

  // The matrix from the base frame to the picture, row by row.
  view(aspect) {
    const [right, up, back] = this.axes, eye = this.eye, f = 1 / this.spread(aspect);
    const near = 0.01 * this.distance, far = 60 * this.distance;
    const rows = [right, up, back].map(axis => [...axis, -dot(axis, eye)]).flat();
    const lens = [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), 2 * far * near / (near - far), 0, 0, -1, 0];
    return compose(lens, [...rows, 0, 0, 0, 1]);
  }

  // The ray through a point of the picture, -1 to 1 to the right and upward.
  ray(x, y, aspect) {
    const [right, up, back] = this.axes, s = this.spread(aspect);
    return { from: this.eye, along: unit(subtract(add(scale(right, x * s * aspect), scale(up, y * s)), back)) };
  }
}

export class Scene {
  constructor(canvas, camera, ground) {
    this.canvas = canvas;
    this.camera = camera;
    this.ground = ground;
    this.lamp = unit(add(add(scale(ground.axes[2], 1), scale(ground.axes[0], 0.35)), scale(ground.axes[1], -0.45)));
    this.things = [];
    this.theme = THEMES.light;
    this.uploaded = new Map();
    this.gl = canvas.getContext("webgl2", { antialias: true, alpha: true, stencil: true });
    if (!this.gl) return;
    canvas.addEventListener("webglcontextlost", event => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => { this.uploaded.clear(); this.prepare(); this.draw(); });
    this.prepare();
  }

  prepare() {
    this.bodies = this.program(VERTEX, FRAGMENT);
    this.floor = this.program(GROUND_VERTEX, GROUND_FRAGMENT);
    this.plane = { corners: [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0].map(x => x * 4 * this.ground.size), triangles: [0, 1, 2, 0, 2, 3] };
  }

  program(vertex, fragment) {
    const { gl } = this, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.bindAttribLocation(program, 0, "corner");
    gl.bindAttribLocation(program, 1, "normal");
    gl.linkProgram(program);
    const places = {};
    for (let k = 0; k < (gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0); k++) {
      const { name } = gl.getActiveUniform(program, k);
      places[name] = gl.getUniformLocation(program, name);
    }
    return { program, places };
  }

  // The buffers of a mesh; one that changes (`moving`) is sent each time.
  buffers(mesh) {
    const { gl } = this;
    let known = this.uploaded.get(mesh);
    if (known && !mesh.moving) return known;
    known ??= { array: gl.createVertexArray(), lists: [gl.createBuffer(), gl.createBuffer(), gl.createBuffer()] };
    gl.bindVertexArray(known.array);
    [mesh.corners, normalsOf(mesh)].forEach((list, k) => {
      gl.bindBuffer(gl.ARRAY_BUFFER, known.lists[k]);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(list), gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 0, 0);
    });
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, known.lists[2]);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(mesh.triangles), gl.DYNAMIC_DRAW);
    known.count = mesh.triangles.length;
    this.uploaded.set(mesh, known);
    return known;
  }

  get aspect() {
    return this.canvas.clientWidth / Math.max(this.canvas.clientHeight, 1);
  }

  draw() {
    const { gl, canvas, camera, theme } = this;
    if (!gl || gl.isContextLost() || !canvas.clientWidth) return;
    const dots = Math.min(devicePixelRatio, 2);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight].map(x => Math.round(x * dots));
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    const view = camera.view(this.aspect);
    this.drawGround(view);
    gl.useProgram(this.bodies.program);
    const { places } = this.bodies;
    gl.uniformMatrix4fv(places.view, true, view);
    gl.uniform3fv(places.eye, camera.eye);
    gl.uniform3fv(places.up, camera.up);
    gl.uniform3fv(places.lamp, this.lamp);
    gl.uniform3fv(places.ambient, theme.ambient);
    if (dot(subtract(camera.eye, this.ground.point), this.ground.axes[2]) > 0) this.drawShadows(places);
    gl.uniform1f(places.lit, 1);
    const solid = thing => (thing.opacity ?? 1) >= 1;
    for (const thing of this.things.filter(solid)) this.drawThing(places, thing);
    gl.depthMask(false);
    gl.depthFunc(gl.GREATER);
    for (const thing of this.things.filter(thing => thing.shinesThrough)) this.drawThing(places, { ...thing, opacity: 0.3 });
    gl.depthFunc(gl.LESS);
    for (const thing of this.things.filter(thing => !solid(thing))) this.drawThing(places, thing);
    gl.depthMask(true);
  }

  drawThing(places, { mesh, pose, color, opacity = 1 }) {
    const { gl } = this, { array, count } = this.buffers(mesh);
    gl.bindVertexArray(array);
    gl.uniformMatrix4fv(places.pose, true, pose);
    gl.uniform4f(places.color, ...color.map(x => x / 255), opacity);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
  }

  drawGround(view) {
    const { gl, ground, theme } = this, { places } = this.floor;
    const [x, y, z] = ground.axes, p = ground.point;
    gl.useProgram(this.floor.program);
    gl.uniformMatrix4fv(places.view, true, view);
    gl.uniformMatrix4fv(places.pose, true, [x[0], y[0], z[0], p[0], x[1], y[1], z[1], p[1], x[2], y[2], z[2], p[2], 0, 0, 0, 1]);
    for (const name of ["ground", "line", "section"]) gl.uniform3fv(places[name], theme[name]);
    gl.uniform1f(places.spacing, ground.spacing);
    gl.uniform1f(places.fade, 4 * ground.size);
    const { array, count } = this.buffers(this.plane);
    gl.bindVertexArray(array);
    gl.depthMask(false);
    gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
    gl.depthMask(true);
  }

  // Shadows: all things pressed onto the ground along the light, each pixel darkened once.
  drawShadows(places) {
    const { gl, ground, lamp } = this, up = ground.axes[2], fall = dot(lamp, up);
    const height = dot(up, ground.point);
    const flat = [0, 1, 2].flatMap(i => [
      ...[0, 1, 2].map(j => (i === j ? 1 : 0) - lamp[i] * up[j] / fall), lamp[i] * height / fall,
    ]);
    gl.uniform1f(places.lit, 0);
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    for (const thing of this.things)
      if (thing.shadow)
        this.drawThing(places, { ...thing, pose: compose([...flat, 0, 0, 0, 1], thing.pose), color: [0, 0, 0], opacity: this.theme.shadow });
    gl.disable(gl.STENCIL_TEST);
    gl.enable(gl.DEPTH_TEST);
  }

  // Where a point of the base frame is in the picture, in pixels; null behind the camera.
  project(point) {
    const v = this.camera.view(this.aspect);
    const [x, y, , w] = [0, 4, 8, 12].map(i => v[i] * point[0] + v[i + 1] * point[1] + v[i + 2] * point[2] + v[i + 3]);
    return w <= 0 ? null : [(1 + x / w) / 2 * this.canvas.clientWidth, (1 - y / w) / 2 * this.canvas.clientHeight];
  }

  // The ray through a pixel.
  ray(x, y) {
    return this.camera.ray(2 * x / this.canvas.clientWidth - 1, 1 - 2 * y / this.canvas.clientHeight, this.aspect);
  }

  // The nearest thing that a ray meets, of those that `counts`: { thing, distance }, or null.
  pick(ray, counts) {
    let nearest = null;
    for (const thing of this.things.filter(counts)) {
      const T = thing.pose, { corners, triangles } = thing.mesh, world = [];
      for (let i = 0; i < corners.length; i += 3)
        world.push(add(turn(T, [corners[i], corners[i + 1], corners[i + 2]]), [T[3], T[7], T[11]]));
      for (let k = 0; k < triangles.length; k += 3) {
        const t = meet(ray, world[triangles[k]], world[triangles[k + 1]], world[triangles[k + 2]]);
        if (t !== null && (!nearest || t < nearest.distance)) nearest = { thing, distance: t };
      }
    }
    return nearest;
  }
}

// The distance at which a ray meets a triangle (Moeller and Trumbore), or null.
function meet({ from, along }, a, b, c) {
  const e = subtract(b, a), f = subtract(c, a), p = cross(along, f), det = dot(e, p);
  if (Math.abs(det) < 1e-18) return null;
  const s = subtract(from, a), u = dot(s, p) / det, q = cross(s, e), v = dot(along, q) / det, t = dot(f, q) / det;
  return u < 0 || v < 0 || u + v > 1 || t <= 0 ? null : t;
}

// The surface that profiles of points (radius, height) sweep about z; edges between two profiles are sharp.
export function latheMesh(around, ...profiles) {
  const corners = [], triangles = [];
  for (const profile of profiles) {
    const first = corners.length / 3;
    for (const [radius, height] of profile)
      for (let j = 0; j <= around; j++)
        corners.push(radius * Math.cos(2 * Math.PI * j / around), radius * Math.sin(2 * Math.PI * j / around), height);
    for (let i = 0; i + 1 < profile.length; i++)
      for (let j = 0; j < around; j++) {
        const k = first + i * (around + 1) + j, above = k + around + 1;
        triangles.push(k, k + 1, above, k + 1, above + 1, above);
      }
  }
  return { corners, triangles };
}

const HALF_TURN = Array.from({ length: 17 }, (_, k) => Math.PI * (k / 16 - 0.5));
export const BALL = latheMesh(32, HALF_TURN.map(a => [Math.cos(a), Math.sin(a)]));        // of radius 1
export const ROD = latheMesh(20, [[0, 0], [1, 0]], [[1, 0], [1, 1]], [[1, 1], [0, 1]]);     // of radius and length 1
export const ARROW = latheMesh(20, [[0, 0], [1, 0]], [[1, 0], [1, 0.7]], [[1, 0.7], [2.2, 0.7]], [[2.2, 0.7], [0, 1]]);

// A band about z with an arrow's head: a torque, which turns by an angle (rad).
export function arcMesh(angle, radius, width) {
  const corners = [], triangles = [], sign = Math.sign(angle) || 1;
  const head = Math.min(Math.abs(angle), 0.55), steps = Math.max(2, Math.ceil(Math.abs(angle) / 0.15));
  const ring = (a, half) => {
    const [c, s] = [Math.cos(a), Math.sin(a)];
    corners.push(radius * c, radius * s, -half, radius * c, radius * s, half);
    corners.push(1.12 * radius * c, 1.12 * radius * s, -half, 1.12 * radius * c, 1.12 * radius * s, half);
  };
  const body = Math.abs(angle) - head;
  for (let k = 0; k <= steps; k++) ring(sign * body * k / steps, width / 2);
  ring(sign * body, width * 1.3);
  ring(sign * Math.abs(angle), 0.02 * width);
  for (let k = 0; k <= steps + 1; k++) {
    if (k === steps) continue;
    const i = 4 * k, j = i + 4;
    for (const [a, b] of [[0, 1], [3, 2], [2, 0], [1, 3]]) triangles.push(i + a, i + b, j + b, i + a, j + b, j + a);
  }
  return { corners, triangles, moving: true };
}
