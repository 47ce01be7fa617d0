"""Plans of many runs: what will run, what has run, what became of it."""
