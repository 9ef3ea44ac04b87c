"""Statistics of many numbers that merge: of Monte Carlo runs, data sets and torque studies."""
