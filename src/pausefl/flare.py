"""Selection in NVIDIA FLARE: FedAvg whose clients a `pausefl.Picker` chooses (docs/flare.md).

With a budget, the model's ``meta["epsilon"]`` says what each client may spend in the round, by client name.
It protects only what the client makes it protect, as in `pausefl.flower`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, Literal

from pausefl.errors import ConfigError, to_install
from pausefl.picker import Picker
from pausefl.picker.nodes import file_of, go_on, join_new, learn_sizes, save
from pausefl.privacy.schedule import GeometricSchedule

try:
    from nvflare.apis.fl_constant import FLMetaKey
    from nvflare.apis.fl_context import FLContext
    from nvflare.app_common.abstract.fl_model import FLModel
    from nvflare.app_common.app_event_type import AppEventType
    from nvflare.app_common.workflows.fedavg import FedAvg
except ModuleNotFoundError as error:
    raise ImportError(to_install("pausefl.flare", error, "flare")) from None


class PickerFedAvg(FedAvg):  # type: ignore[misc]
    """FLARE's FedAvg, with clients that a picker chooses by their names.

    The names are those of the startup kits, so that a client that restarts keeps its budget. Arguments are
    plain numbers and texts, since FLARE writes a job as JSON.

    Parameters
    ----------
    args, kwargs
        What FedAvg takes. ``num_clients`` says nothing here; ``ignore_result_error`` is True by default,
        since FedAvg otherwise ends the job with the first client that fails.
    selector, n_selected, seed
        As for `Picker`.
    latency_floor
        As for `Picker`, in seconds; ``auto`` learns it.
    timeout
        Seconds that a round waits for answers, from sending; FLARE takes whole seconds, so it is rounded up.
    start_grace
        Seconds that the first round waits longer, while clients start their processes.
    epsilon_total, decay
        Budget of each client, spread over its participations by `pausefl.GeometricSchedule`; 0 for none.
    accountant
        Name of the accountant, as for `Picker`.
    options
        Options of the selector, by name.
    save_to
        File on the server that has the picker's state as JSON, written before and after each round; its
        folder is made. If it is there, the picker goes on from it; ``timeout`` and ``n_selected`` may differ.

    Attributes
    ----------
    latencies
        A mapping for each round: seconds by client, None of one that failed.

    Raises
    ------
    ConfigError
        If the selector looks at losses or updates, or as for `Picker`.
    """

    def __init__(
        self,
        *args: Any,
        selector: str = "pause",
        n_selected: int = 2,
        latency_floor: float | Literal["auto"] = "auto",
        timeout: float = 60.0,
        start_grace: float = 60.0,
        epsilon_total: float = 0.0,
        decay: float = 0.04,
        accountant: str = "pure",
        seed: int = 0,
        options: dict[str, Any] | None = None,
        save_to: str = "",
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("ignore_result_error", True)
        super().__init__(*args, **kwargs)
        self.selector, self.n_selected, self.latency_floor = selector, n_selected, latency_floor
        self.timeout, self.start_grace, self.seed = timeout, start_grace, seed
        self.epsilon_total, self.decay, self.accountant = epsilon_total, decay, accountant
        self.options, self.save_to = options, save_to
        self.latencies: list[dict[str, float | None]] = []
        self._picker: Picker | None = None
        self._file: Path | None = None
        self._fetched: dict[str, float] = {}
        self._seconds: dict[str, float] = {}
        self._sizes: dict[str, int] = {}
        self._make_picker()  # mistakes are found before the job is sent

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """Note when a client fetched its task, since it looks for one from time to time only."""
        super().handle_event(event_type, fl_ctx)
        if event_type == AppEventType.BEFORE_TRAIN_TASK and (peer := fl_ctx.get_peer_context()):
            self._fetched[peer.get_identity_name()] = time.monotonic()

    def sample_clients(self, num_clients: int | None = None) -> list[str]:
        """Names of the clients that the picker asks in this round."""
        if self._picker is None:
            self._file, self._picker = file_of(self.save_to) if self.save_to else None, self._make_picker()
            if self._file and self._file.exists():
                self.info(go_on(self._picker, self._file))
        picker, online = self._picker, list(super().sample_clients())
        join_new(picker, online)
        asked = [str(name) for name in picker.select(online)]
        if not asked:
            self.warning("Nobody trains: no client is online that has privacy budget left.")
        self._save()
        return asked

    def send_model(
        self,
        *args: Any,
        targets: list[str] | None = None,
        data: FLModel = None,
        callback: Callable[[FLModel], Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """As that of FedAvg, with a timeout, with budgets in the model's meta, and with a clock."""
        fetched, seconds, sizes = dict[str, float](), dict[str, float](), dict[str, int]()
        self._fetched, self._seconds, self._sizes = fetched, seconds, sizes  # of this round alone
        if self._picker is None or callback is None or not targets:
            if targets != []:  # which FLARE takes for all clients
                super().send_model(*args, targets=targets, data=data, callback=callback, **kwargs)
            return
        data.meta = {
            **(data.meta or {}),
            "epsilon": {name: one for name, one in self._picker.epsilon.items() if math.isfinite(one)},
        }
        sent = time.monotonic()

        def timed(result: FLModel) -> Any:
            name = str(result.meta["client_name"])
            waited = time.monotonic() - fetched.get(name, sent)
            if (taken := callback(result)) is False:
                return False
            seconds[name] = _number((result.metrics or {}).get("latency"), waited)
            sizes[name] = max(int(_number(result.meta.get(FLMetaKey.NUM_STEPS_CURRENT_ROUND), 1)), 1)
            return taken

        first = self.current_round == self.start_round
        whole = math.ceil(self.timeout + (self.start_grace if first else 0))
        super().send_model(*args, targets=targets, data=data, callback=timed, timeout=whole, **kwargs)

    def update_model(self, model: FLModel, aggr_result: FLModel) -> FLModel:
        """As that of FedAvg, after the picker has learned; the old model if nobody answered."""
        picker = self._picker
        assert picker is not None
        seconds = dict[Hashable, float]()
        seconds |= {name: taken for name, taken in self._seconds.items() if name in picker.epsilon}
        self.latencies.append({str(name): seconds.get(name) for name in picker.epsilon})
        self.info(f"The picker learns, by client, None of one that failed: {self.latencies[-1]}")
        learn_sizes(picker, {name: size for name, size in self._sizes.items() if name in seconds})
        picker.observe(seconds)
        self._save()
        return super().update_model(model, aggr_result) if seconds else model

    def _make_picker(self) -> Picker:
        budget = GeometricSchedule(self.epsilon_total, self.decay) if self.epsilon_total else None
        picker = Picker(
            self.selector,
            {},
            self.n_selected,
            self.latency_floor,
            self.timeout,
            budget,
            self.seed,
            accountant=self.accountant,
            **(self.options or {}),
        )
        if what := picker.facts.looks_at():
            raise ConfigError(f"selector '{self.selector}' looks at {what}, which FLARE does not give it")
        return picker

    def _save(self) -> None:
        if self._file and self._picker is not None:
            save(self._picker, self._file)


def _number(value: Any, default: float) -> float:
    """A number of seconds or steps, at most 2^50; the default if it is none."""
    if isinstance(value, (int, float)) and 0 <= value < math.inf:
        return float(min(value, 2**50))
    return default
