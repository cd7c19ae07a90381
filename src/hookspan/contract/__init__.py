"""The contract: what a point, a context, an outcome and an abort are.

This layer is the standard library alone (events.py adds pydantic, on first use). Everything above
speaks in its terms; it knows nothing above it.
"""
