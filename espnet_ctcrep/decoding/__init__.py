"""From a trained model and audio to text."""
