"""What the workflow needs of the library: what jobs cost, and what went wrong on a cluster."""
