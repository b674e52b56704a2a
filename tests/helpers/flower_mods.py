"""Mods of Flower for differential privacy at clients, with a picker, in a simulation; prints JSON.

Run by the Python of an environment with Flower and its simulation.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.mod import LocalDpMod, adaptiveclipping_mod, fixedclipping_mod
from flwr.serverapp import Grid, ServerApp, strategy
from flwr.simulation import run_simulation

from pausefl import UniformSchedule
from pausefl.flower import PickerStrategy, node_picker

logging.getLogger("flwr").setLevel(logging.CRITICAL)
RESOURCES = {"client_resources": {"num_cpus": 1}, "init_args": {"num_cpus": 2, "include_dashboard": False}}


def rounds(mod: Any, wrap: Any) -> dict[str, Any]:
    """Who answered in two rounds, and the largest value of the model after them."""
    client, server, measured = ClientApp(mods=[mod]), ServerApp(), dict[str, Any]()

    @client.train()
    def train(message: Message, context: Context) -> Message:
        values = message.content["arrays"]["w"].numpy() + 3.0
        metrics = MetricRecord({"num-examples": 5, "latency": 0.1})
        content = RecordDict({"arrays": ArrayRecord({"w": Array(values)}), "metrics": metrics})
        return Message(content, reply_to=message)

    @server.main()
    def main(grid: Grid, context: Context) -> None:
        picker = node_picker("random", 2, 60.0, schedule=UniformSchedule(1.0, 5))
        own = PickerStrategy(strategy.FedAvg, picker, fraction_evaluate=0.0, min_available_nodes=3)
        around = wrap(own)
        zeros = ArrayRecord({"w": Array(np.zeros(4))})
        result = around.start(own.watch(grid), zeros, 2)
        measured["answered"] = [sum(one is not None for one in told.values()) for told in own.latencies]
        measured["largest"] = float(np.abs(result.arrays["w"].numpy()).max())

    run_simulation(server, client, 3, backend_config=RESOURCES)
    return measured


if __name__ == "__main__":
    mods = {
        "local": (LocalDpMod(1.0, 1.0, 50.0, 1e-5), lambda one: one),
        "fixed": (
            fixedclipping_mod,
            lambda one: strategy.DifferentialPrivacyClientSideFixedClipping(one, 0.01, 1.0, 2),
        ),
        "adaptive": (
            adaptiveclipping_mod,
            lambda one: strategy.DifferentialPrivacyClientSideAdaptiveClipping(
                one, 0.01, 2, initial_clipping_norm=1.0, clipped_count_stddev=0.5
            ),
        ),
    }
    print(json.dumps({name: rounds(*parts) for name, parts in mods.items()}))
