"""Reproducible CTC fine-tuning in ESPnet."""

__version__ = "0.1.0"
