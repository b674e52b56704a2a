"""From finished runs to tables, and from results back to the runs behind them."""
