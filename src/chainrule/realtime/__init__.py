"""Controllers, filters and observers as source code for other computers: `cr.export`."""
