"""From run-level scores to verdicts: report.json and everything drawn or printed from it."""
