"""Motions from torques: integrators, friction that sticks, compiled rollouts, events, trajectories."""

from chainrule.simulation.simulate import simulate

__all__ = ["simulate"]
