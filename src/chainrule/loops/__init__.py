"""Robots with closed loops: closing them, their mobility, motions and forces."""
