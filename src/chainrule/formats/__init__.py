"""File formats of robots: URDF, MJCF, DH and screw tables, chainrule's own, and the registry of all of them."""
