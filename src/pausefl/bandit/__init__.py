"""What the server observes and what a selection is worth: latencies, history, rewards."""
