"""Where a robot's body is: collision bodies, the pairs that are checked, worlds of obstacles, distances."""
