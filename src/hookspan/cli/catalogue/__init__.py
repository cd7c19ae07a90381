"""The proof of the catalogue: real crews and flows, each point in each of the four actions."""
