package runs
