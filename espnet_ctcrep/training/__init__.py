"""The one room that knows ESPnet's task, model and trainer."""
