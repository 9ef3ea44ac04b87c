"""Calibration: lengths, offsets and frames of a robot from measured poses and points, and cameras on robots."""
