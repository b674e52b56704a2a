"""Local training of a round's users, and evaluation of the global model."""
