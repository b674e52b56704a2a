"""The server: FedAvg of Flower, with clients that a picker chooses and whose budgets it keeps."""

import numpy as np
from flwr.app import Array, ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from pausefl import GeometricSchedule
from pausefl.flower import PickerStrategy, node_picker
from picked.client import digits

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train, and say who was asked, how long it took and what was spent."""
    config = context.run_config
    picker = node_picker(
        config["selector"],
        n_selected=config["clients-a-round"],
        timeout=config["timeout"],
        schedule=GeometricSchedule(config["epsilon-total"], config["decay"]),
    )
    strategy = PickerStrategy(
        FedAvg,
        picker,
        save_to=config["state-file"] or None,
        node_key="name",
        fraction_evaluate=0.0,
        min_available_nodes=config["min-available-nodes"],
    )
    x, y = digits(0, 5)

    def evaluate(server_round: int, arrays: ArrayRecord) -> MetricRecord:
        guessed = (x @ arrays["weights"].numpy()).argmax(axis=1)
        return MetricRecord({"accuracy": float((guessed == y).mean())})

    strategy.start(
        grid,
        ArrayRecord({"weights": Array(np.zeros((64, 10)))}),
        num_rounds=config["num-server-rounds"],
        evaluate_fn=evaluate,
    )
    for server_round, latency in enumerate(strategy.latencies, start=1):
        print("ROUND", server_round, {one: s and round(s, 2) for one, s in sorted(latency.items())})
    for name, times, spent in zip(
        picker.ids, picker.ledger.participations, picker.ledger.spent(), strict=True
    ):
        print(f"SPENT {name}: {times} participations, epsilon {spent:.2f}", flush=True)
