"""Ways around obstacles: which configurations and straight lines between them are free, search, shortcuts, blends."""
