"""Kinematics beyond poses: velocities and singularities, forces within the motors' limits, and reach."""
