"""What the workflow makes, from which code; what its jobs cost, and why they failed on a cluster."""
