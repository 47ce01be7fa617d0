"""What makes a run repeatable: its seed streams."""
