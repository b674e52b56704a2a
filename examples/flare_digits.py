"""Eight clients of NVIDIA FLARE, half of them slow and one that always fails, in FLARE's simulator.

    pip install '.[flare]'
    python examples/flare_digits.py pause FOLDER

The selector may be another one; the folder gets FLARE's workspace and ``budgets.json``. Every client trains a
linear classifier on its share of 1,797 digits, bounds its update, and adds noise for its budget.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
from nvflare.apis.executor import Executor
from nvflare.apis.fl_constant import FLMetaKey
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.np.np_model_persistor import NPModelPersistor
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.job_config.api import FedJob

import pausefl
from pausefl.flare import PickerFedAvg

N_CLIENTS, WIDTH = 8, 0.2  # WIDTH: of the interval to which each coordinate of an update is clamped
FAST, SLOW = 0.1, 1.0  # seconds; the last client fails


def digits(part: int, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Images (n, 64) and labels (n,) of a part of the digits."""
    data = np.load(Path(pausefl.__file__).parent / "data/sources/digits.npz")
    return data["pixels"][part::n_parts] / 16, data["labels"][part::n_parts]


class Trainer(Executor):
    """What a client does with the model: it trains, bounds its update and adds noise."""

    def execute(self, task_name: str, shareable: Any, fl_ctx: Any, abort_signal: Any) -> Any:
        """One local training."""
        start, name = time.perf_counter(), fl_ctx.get_identity_name()
        number = int(re.sub(r"\D", "", name))
        if number == N_CLIENTS:
            raise RuntimeError("this client always fails")
        model = FLModelUtils.from_shareable(shareable)
        ((key, received),) = model.params.items()
        weights, (x, y) = np.array(received), digits(number - 1, N_CLIENTS)
        for _ in range(20):
            output = np.exp(x @ weights)
            output /= output.sum(axis=1, keepdims=True)
            weights -= 0.5 * x.T @ (output - np.eye(10)[y]) / len(y)
        time.sleep(SLOW if number % 2 == 0 else FAST)
        update = np.clip(weights - received, -WIDTH / 2, WIDTH / 2)
        update += np.random.default_rng().laplace(
            scale=WIDTH / model.meta["epsilon"][name], size=update.shape
        )
        metrics = {"latency": time.perf_counter() - start}
        told = FLModel(ParamsType.FULL, {key: received + update}, metrics=metrics)
        told.meta = {FLMetaKey.NUM_STEPS_CURRENT_ROUND: len(y)}
        return FLModelUtils.to_shareable(told)


def main() -> None:
    """Run the job, and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("selector")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=10)
    asked = parser.parse_args()
    job = FedJob(name="picked", min_clients=1)
    job.set_app_packages(["pausefl"])  # it is installed everywhere: do not copy its source
    job.to_server(NPModelPersistor(model=np.zeros((64, 10)).tolist()), id="persistor")
    budgets = asked.folder.absolute() / "budgets.json"
    controller = PickerFedAvg(
        num_rounds=asked.rounds,
        selector=asked.selector,
        n_selected=2,
        timeout=10.0,
        epsilon_total=40.0,
        save_to=str(budgets),
        task_check_period=0.1,
    )
    job.to_server(controller)
    job.to_server({"server": {"task_request_interval": 0.1}})  # else clients look for work every 2 s only
    job.to_clients(trainer(), tasks=["train"])
    asked.folder.mkdir(parents=True, exist_ok=True)
    status = job.simulator_run(str(asked.folder / "workspace"), n_clients=N_CLIENTS)
    state = json.loads(budgets.read_text("utf-8"))
    times = dict(zip(state["ids"], state["arrays"]["participations"]["values"], strict=True))
    (file,) = (asked.folder / "workspace").rglob("server.npy")
    x, y = digits(0, 5)
    accuracy = float(((x @ np.load(file)).argmax(axis=1) == y).mean())
    print(json.dumps({"status": status, "participations": times, "accuracy": round(accuracy, 3)}))


def trainer() -> Executor:
    """A trainer of this file's module: FLARE writes the module's name into the job."""
    from flare_digits import Trainer as Named

    return Named()


if __name__ == "__main__":
    main()
