"""Dynamics: torques, accelerations, energies, the forms that textbooks print, the equations before elimination."""
