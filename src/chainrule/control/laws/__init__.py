"""Control laws, in joint space and in task space."""
