// The robot in time: Runge and Kutta's method of fourth order, on the exported forward dynamics.

import { add, norm, place, scale, subtract } from "./algebra.js";

export const STEP = 1e-3;      // s
const STOP_FREQUENCY = 60;     // rad/s, of the springs that stand for joint limits
const HOLD_FREQUENCY = 12;     // rad/s, of the controller that holds the robot
const PULL_FREQUENCY = 8;      // rad/s, of the spring to the mouse, for the mass that it has to move

export class Simulation {
  constructor(robot) {
    this.robot = robot;
    this.gravity = robot.data.gravity_at_start;  // part of the robot's own
    this.friction = true;
    this.holds = false;
    this.saturates = true;
    this.goal = null;
    this.pull = null;    // { link, point, target }
    this.time = 0;
  }

  start(q, qd) {
    this.q = q.slice();
    this.qd = qd.slice();
    this.goal = q.slice();
    this.time = 0;
    this.qdd = this.acceleration(this.q, this.qd);
  }

  // The torques of the controller that holds the goal: those of the acceleration that a spring and a damper ask for.
  held(q, qd) {
    const { robot } = this;
    const error = robot.call.difference(q, this.goal);
    const wanted = Array.from(error, (e, i) => HOLD_FREQUENCY * (HOLD_FREQUENCY * e - 2 * qd[i]));
    const terms = robot.terms(q, qd, robot.consistentAcceleration(q, qd, wanted));
    const tau = terms.total.map((x, i) => x - (1 - this.gravity) * terms.gravity[i] - (this.friction ? 0 : terms.friction[i]));
    return robot.data.velocities.map(({ effort }, i) =>
      this.saturates && effort !== null && Math.abs(tau[i]) > effort ? Math.sign(tau[i]) * effort : tau[i]);
  }

  // What acts on the joints: the controller, stops, the pull of the mouse, and what gravity and friction lack.
  torque(q, qd) {
    const { robot } = this, { velocities, coordinates } = robot.data;
    let tau = this.holds ? this.held(q, qd).map((x, i) => (velocities[i].effort === 0 ? 0 : x)) : robot.zeros();
    this.applied = tau;
    if (this.gravity !== 1 || !this.friction) {
      const terms = robot.terms(q, qd, robot.zeros());
      tau = tau.map((x, i) => x + (1 - this.gravity) * terms.gravity[i] + (this.friction ? 0 : terms.friction[i]));
    }
    coordinates.forEach(({ lower, upper, velocity, inertia }, i) => {
      const beyond = q[i] - Math.min(Math.max(q[i], lower ?? -Infinity), upper ?? Infinity);
      if (beyond) tau[velocity] -= inertia * STOP_FREQUENCY * (STOP_FREQUENCY * beyond + qd[velocity]);
    });
    if (this.pull) tau = add(tau, this.pulled(q, qd));
    return tau;
  }

  pulled(q, qd) {
    const { robot, pull } = this, n = robot.nv;
    const J = robot.pointJacobian(q, pull.link, pull.point), mass = robot.data.mass;
    const here = place(robot.call.poses(q).subarray(16 * pull.link), pull.point);
    const force = subtract(pull.target, here).map((e, i) => {
      let speed = 0;
      for (let k = 0; k < n; k++) speed += J[i * n + k] * qd[k];
      return mass * PULL_FREQUENCY * (PULL_FREQUENCY * e - 0.5 * speed);
    });
    return Array.from({ length: n }, (_, k) => J[k] * force[0] + J[n + k] * force[1] + J[2 * n + k] * force[2]);
  }

  acceleration(q, qd) {
    return Array.from(this.robot.call.forward_dynamics(q, qd, this.torque(q, qd)));
  }

  // One step. False where the numbers are no longer finite: then nothing has changed.
  step(h = STEP) {
    const { robot, q, qd } = this;
    const stage = (along, rate, share) => [robot.move(q, scale(along, share * h)), add(qd, scale(rate, share * h))];
    const a1 = this.acceleration(q, qd);
    const [q2, v2] = stage(qd, a1, 0.5);
    const a2 = this.acceleration(q2, v2);
    const [q3, v3] = stage(v2, a2, 0.5);
    const a3 = this.acceleration(q3, v3);
    const [q4, v4] = stage(v3, a3, 1);
    const a4 = this.acceleration(q4, v4);
    const mean = (a, b, c, d) => a.map((x, i) => (x + 2 * b[i] + 2 * c[i] + d[i]) / 6);
    let next = robot.move(q, scale(mean(qd, v2, v3, v4), h));
    let speed = add(qd, scale(mean(a1, a2, a3, a4), h));
    if (robot.rows) {
      next = robot.close(next) ?? next;
      speed = robot.consistentVelocity(next, speed);
    }
    if (![...next, ...speed].every(Number.isFinite) || norm(speed) > 1e5) return false;
    this.q = next;
    this.qd = speed;
    this.qdd = a1;
    this.time += h;
    return true;
  }
}
