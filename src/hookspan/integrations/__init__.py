"""Runtimes under hookspan, one package each; they know nothing of one another."""
