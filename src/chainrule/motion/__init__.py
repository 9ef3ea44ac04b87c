"""Recorded motions: tables of samples in, clean positions, velocities and accelerations out."""
