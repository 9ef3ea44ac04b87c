// The robot: its exported functions, the equations of its loops, and how its points are led by its joints.

import { dot, eigen, leastSquares, norm, place, quaternion, rotationVector, scale, subtract } from "./algebra.js";

const EPSILON = 1e-6;     // rad or m, of the differences that make the Jacobian of a point
const NO_DAMPING = 1e-9;  // relative to the size of a Jacobian: for equations that may repeat each other
const CLOSED = 1e-10;     // residual of loops, in m, that counts as none

export class Robot {
  constructor(exported, data) {
    this.call = exported;
    this.data = data;
    this.nq = data.coordinates.length;
    this.nv = data.velocities.length;
    this.rows = data.loop_rows;
  }

  // The pose of every link: a list of 4 x 4 matrices.
  poses(q) {
    const flat = this.call.poses(q);
    return this.data.links.map((_, k) => flat.subarray(16 * k, 16 * k + 16));
  }

  // q moved along velocities for a unit of time; a quaternion stays one.
  move(q, v) {
    return Array.from(this.call.integrate(q, v));
  }

  // The Jacobian (3 x nv) of a point of a link, in base axes.
  pointJacobian(q, link, point) {
    const J = new Array(3 * this.nv).fill(0);
    const at = v => place(this.call.poses(this.call.integrate(q, v)).subarray(16 * link), point);
    for (let k = 0; k < this.nv; k++) {
      const v = new Array(this.nv).fill(0);
      v[k] = EPSILON;
      const ahead = at(v);
      v[k] = -EPSILON;
      const behind = at(v);
      for (let i = 0; i < 3; i++) J[i * this.nv + k] = (ahead[i] - behind[i]) / (2 * EPSILON);
    }
    return J;
  }

  // The least change of velocities with G v = wanted, where `free` says which velocities may change.
  alongLoops(q, wanted, free = null) {
    const G = Array.from(this.call.loops_jacobian(q));
    if (free) G.forEach((_, i) => { if (!free[i % this.nv]) G[i] = 0; });
    return leastSquares(G, wanted, this.nv, NO_DAMPING * Math.max(norm(G), 1e-9));
  }

  // A configuration near q with closed loops, or null where Newton's method finds none.
  close(q, free = null) {
    if (!this.rows) return q;
    for (let step = 0; step < 30; step++) {
      const residual = Array.from(this.call.loops_residual(q));
      if (norm(residual) < CLOSED * this.data.reach) return q;
      let change = this.alongLoops(q, scale(residual, -1), free);
      change = scale(change, Math.min(1, 0.5 / Math.max(norm(change), 1e-12)));
      q = this.move(q, change);
    }
    return null;
  }

  // Velocities and accelerations that keep loops closed, nearest to those given.
  consistentVelocity(q, qd) {
    if (!this.rows) return qd;
    const G = this.call.loops_jacobian(q);
    const rate = Array.from({ length: this.rows }, (_, i) => dot(qd, G.subarray(i * this.nv, (i + 1) * this.nv)));
    return subtract(qd, this.alongLoops(q, rate));
  }

  consistentAcceleration(q, qd, qdd) {
    if (!this.rows) return qdd;
    const G = this.call.loops_jacobian(q), gamma = this.call.loops_velocity_terms(q, qd);
    const rate = Array.from(gamma, (g, i) => g + dot(qdd, G.subarray(i * this.nv, (i + 1) * this.nv)));
    return subtract(qdd, this.alongLoops(q, rate));
  }

  // q with each coordinate within its limits.
  withinLimits(q) {
    return q.map((x, i) => Math.min(Math.max(x, this.data.coordinates[i].lower ?? -Infinity),
      this.data.coordinates[i].upper ?? Infinity));
  }

  // Lead a point of a link towards a target by damped least squares; `joint` alone moves where one is given.
  reach(q, link, point, target, joint = null) {
    const reach = this.data.reach;
    for (let step = 0; step < 12; step++) {
      const here = place(this.call.poses(q).subarray(16 * link), point);
      let error = subtract(target, here);
      const far = norm(error);
      if (far < 1e-5 * reach) break;
      error = scale(error, Math.min(1, 0.15 * reach / far));
      const J = this.pointJacobian(q, link, point);
      if (joint) J.forEach((_, i) => { if (!joint.v.includes(i % this.nv)) J[i] = 0; });
      const G = this.rows ? Array.from(this.call.loops_jacobian(q)) : [];
      const phi = this.rows ? Array.from(this.call.loops_residual(q), x => -x) : [];
      const change = leastSquares([...J, ...G], [...error, ...phi], this.nv, 0.03 * reach);
      const next = this.close(this.withinLimits(this.move(q, change)));
      if (!next) break;
      q = next;
    }
    return q;
  }

  // q with one slider of a joint at a value: the coordinate itself, or an entry of a rotation vector.
  withSlider(q, slider, value) {
    const next = q.slice();
    if (slider.quaternion === undefined) next[slider.q] = value;
    else {
      const first = slider.quaternion, vector = rotationVector(q.slice(first, first + 4));
      vector[slider.entry] = value;
      next.splice(first, 4, ...quaternion(vector));
    }
    if (!this.rows) return next;
    const free = Array.from({ length: this.nv }, (_, i) => !slider.v.includes(i));
    return this.close(next, free);
  }

  sliderValue(q, slider) {
    if (slider.quaternion === undefined) return q[slider.q];
    return rotationVector(q.slice(slider.quaternion, slider.quaternion + 4))[slider.entry];
  }

  // Torques by their causes: { name: list }.
  terms(q, qd, qdd) {
    const flat = this.call.torque_terms(q, qd, qdd);
    return Object.fromEntries(this.data.terms.map((name, k) =>
      [name, Array.from(flat.subarray(k * this.nv, (k + 1) * this.nv))]));
  }

  // The pose of a hand: a frame on a link.
  handPoint(poses, hand) {
    return place(poses[hand.link], hand.point);
  }

  // Semi-axes of the ellipsoid of velocities of a hand's origin, for unit joint velocities: m/s, largest first.
  ellipsoid(q, hand) {
    const n = this.nv, J = Array.from(this.call[hand.jacobian](q).subarray(3 * n, 6 * n));
    const rows = [0, 1, 2].map(i => this.consistentVelocity(q, J.slice(i * n, (i + 1) * n)));
    return eigen(rows.flatMap(a => rows.map(b => dot(a, b))))
      .map(({ value, axis }) => ({ length: Math.sqrt(Math.max(value, 0)), axis }));
  }

  energies(q, qd) {
    const kinetic = this.call.kinetic_energy(q, qd)[0], potential = this.call.potential_energy(q)[0];
    return { kinetic, potential, total: kinetic + potential };
  }

  // Velocities at a time of a motion, from postures beside it.
  rates(before, after, seconds) {
    return Array.from(this.call.difference(before, after), x => x / seconds);
  }

  zeros() {
    return new Array(this.nv).fill(0);
  }
}
