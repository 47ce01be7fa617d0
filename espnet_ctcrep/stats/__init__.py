"""Statistics of few runs: pure functions on arrays, nothing but numpy and scipy."""
