"""More than one machine: data sets, Monte Carlo, studies and workspaces as tasks of a Dask cluster."""
