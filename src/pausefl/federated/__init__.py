"""The federated loop and the job around it."""
