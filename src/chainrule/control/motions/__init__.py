"""Motions to follow: curves through way-points, their timing and limits, plans in joint and task space."""
