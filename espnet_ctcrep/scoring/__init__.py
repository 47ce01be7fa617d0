"""From hypothesis and reference to edits, characters and CER."""
