"""What is drawn: pure functions from a robot and its state to arrays, and the nodes of viser's scene that show them."""
