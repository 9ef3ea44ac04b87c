"""The parameters in which torques are linear: their vector, the regressor, derivatives by them."""
