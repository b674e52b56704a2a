"""What the papers say of annealing, beside the selectors: neighbours as they list them, and graphs of swaps."""
