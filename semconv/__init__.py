"""The registry of hookspan's signals, and what is made from it and checked against it."""
