"""Pictures of robots, ways and workspaces, with Matplotlib: returned as figures, and written to files."""
