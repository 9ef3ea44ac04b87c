"""Torque studies."""
