"""Text to models and back: URDF, MJCF, DH and screw tables, and chainrule's own format."""
