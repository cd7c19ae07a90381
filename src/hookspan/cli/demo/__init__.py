"""The demonstration: a real crew and a real flow with a model that follows a script."""
