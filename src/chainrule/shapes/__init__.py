"""Shapes to draw a robot by: its skeleton, surfaces, meshes, and the parts of its links. Plots and studio draw them."""
