"""Machine code from algorithms: trace, emit, load, cache."""
