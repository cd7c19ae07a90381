"""The ten points that crewAI has no dispatch for, wired from outside: one module for each kind."""
