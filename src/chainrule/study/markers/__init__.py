"""Measured motion of markers: files of TRC, C3D and BVH, and joint angles by inverse kinematics over all markers."""

from chainrule.study.markers.cloud import Markers
from chainrule.study.markers.reading import read_markers
from chainrule.study.markers.solve import SolvedMarkers, Trunk, calibrate, solve_markers

__all__ = ["Markers", "SolvedMarkers", "Trunk", "calibrate", "read_markers", "solve_markers"]
