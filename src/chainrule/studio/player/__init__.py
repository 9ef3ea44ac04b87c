"""Motions that play on the page: a clock, simulations that run as they are watched, rollouts, recordings, videos."""
