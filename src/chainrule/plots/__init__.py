"""Plots of robots, paths and workspaces, with Matplotlib: returned as figures, and written to files."""
