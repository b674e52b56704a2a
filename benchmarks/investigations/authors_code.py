"""The authors' own program with this project's engine in it, and their archived networks on our images.

It needs a clone of https://github.com/oritalp/PAUSE, branch main; none of their code is kept here.

    python authors_code.py program --authors CLONE --data-root data/raw
    python authors_code.py program --authors CLONE --data-root data/raw --selector random --private
    python authors_code.py networks --authors CLONE --data-root data/raw --cifar10-folder cifar10

``program`` runs their ``main.py`` for one selector of their test 1 or 2. Their seeds, partition, order of
mini-batches, selection and draws of noise stay; the four functions that train, aggregate and evaluate
are ours (``--engine theirs``: theirs). It prints the accuracy of each round beside that of their log.
``networks`` evaluates the last model of each archived run.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import runpy
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Literal

import numpy as np
import torch
import typer
from numpy.typing import NDArray

import pausefl.data._torchvision  # noqa: F401 (before torchvision)
from pausefl.data.dataset import Dataset
from pausefl.data.partition import Partition
from pausefl.data.raw_data import prepare
from pausefl.errors import PauseflError
from pausefl.privacy import Ledger
from pausefl.settings import SHIPPED, DataSettings, RawData, load_scenario
from pausefl.streams import Streams
from pausefl.training.batches import Participation
from pausefl.training.engine import Trainer

app = typer.Typer(help=__doc__, pretty_exceptions_enable=False)
Clone = Annotated[Path, typer.Option(help="Clone of the authors' repository.")]
DataRoot = Annotated[Path, typer.Option(help="Folder of raw data sets.")]
Folder = Annotated[str, typer.Option(help="Below it, the folder of JPEG copies; empty for official files.")]

#: By test: our scenario, folder of their logs, and options that their README gives.
TESTS = {
    1: ("mnist_small_authors", "MNIST with FC2", "--data mnist --data_truncation 2000 --model mlp"),
    2: ("cifar10_small_authors", "Cifar with CNN3", "--data cifar10 --model cnn3"),
}
_OPTIONS = "--num_users 30 --num_users_per_round 5 --alpha 100 --beta 2 --gamma 5 --max_seconds 300"
_BUDGET = {1: "--epsilon_bar 200 --delta_f 0.003", 2: "--epsilon_bar 100 --delta_f 0.012"}
_QUIET = "--snr_verbose --choosing_users_verbose"  # given, these say nothing
#: What they import and hardly use, each with the name that they import from it.
_UNUSED = {"torchinfo": "summary", "turtle": "color", "torch.utils.tensorboard": "SummaryWriter"}
_ACCURACY = re.compile(r"avg val acc ([\d.]+)%")


def images(source: str, root: Path, folder: str) -> Dataset:
    """All images of a source, from official files or a folder of copies."""
    raw = RawData(root=root, download=False, folders={source: folder} if folder else {})
    return prepare(DataSettings(source=source, n_validation=0), raw)


def scaled(x: NDArray[np.uint8]) -> torch.Tensor:
    """Images as their transforms give them, (n, channels, height, width) in [-1, 1]."""
    return torch.from_numpy(x).float().div(255).sub(0.5).div(0.5)


class Examples(torch.utils.data.Dataset[Any]):
    """A split of a data set in place of torchvision's.

    With ``numbered``, an image is the tensor of its number alone, so that whoever trains knows which it is.
    """

    def __init__(self, data: Dataset, train: bool, numbered: bool) -> None:
        x, y = (data.train_x, data.train_y) if train else (data.test_x, data.test_y)
        self.shape, self.labels = x.shape[1:], y.tolist()
        self.classes, self.images = list(range(data.n_classes)), None if numbered else scaled(x)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        image = torch.tensor(float(i)).expand(self.shape) if self.images is None else self.images[i]
        return image, self.labels[i]


class Engine:
    """Our training, aggregation and evaluation, as the functions that their program calls."""

    def __init__(self, scenario: str, data: Dataset) -> None:
        self.scenario, self.data = load_scenario(scenario, Path("config/scenarios"), SHIPPED), data
        self.trainer: Trainer | None = None
        self.updates: dict[int, NDArray[np.float32]] = {}

    def distribute_model(self, users: dict[int, Any], model: torch.nn.Module) -> None:
        """Before the first round: a trainer with their initial weights, and a ledger."""
        if self.trainer is not None:
            return
        own = np.arange(sum(len(one.data_loader.dataset) for one in users.values()))
        sizes = np.cumsum([len(one.data_loader.dataset) for one in users.values()])[:-1]
        share = Partition(tuple(np.split(own, sizes)), np.ones(len(users)), np.arange(0))
        settings, device = self.scenario, torch.device("cpu")
        self.trainer = Trainer(settings.model, settings.training, self.data, share, Streams(0), device)
        flat, privacy = self.trainer._bench.flat, settings.privacy
        for theirs, ours in zip(model.state_dict().values(), flat.module.state_dict().values(), strict=True):
            ours.copy_(theirs)
        self.theta = flat.values.numpy().copy()
        assert privacy is not None
        self.mechanism = privacy.make_mechanism()
        n, schedule = self.trainer.layout.n_protected, privacy.make_schedule()
        self.ledger = Ledger(len(users), n, 0, schedule, self.mechanism)

    def train_one_epoch(self, user: Any, criterion: Any, args: Any) -> float:
        """Train a user on the mini-batches that their loader draws; its mean loss."""
        batches = [numbers[:, 0, 0, 0].numpy().astype(np.int64) for numbers, _ in user.data_loader]
        if args.local_iterations is not None:
            batches = batches[: args.local_iterations]
        assert self.trainer is not None
        made = self.trainer._backend.train(self.theta, [Participation(user.user_idx, batches)])
        self.updates[user.user_idx] = made.updates[0].copy()
        return float(made.loss_sum / made.n_visited[0])

    def aggregate(self, users: Any, model: Any, chosen: Any, text: Any, args: Any, **options: Any) -> None:
        """Clamp and noise the updates, noise drawn in the order of theirs, and add their mean by data."""
        epsilon = self.ledger.spend(np.array(chosen, np.int64))
        if args.privacy:
            noise: dict[int, list[NDArray[np.float32]]] = {user: [] for user in chosen}
            for values in model.state_dict().values():
                for user, spent in zip(chosen, epsilon, strict=True):
                    scale = self.mechanism.scale(spent)
                    assert np.isclose(scale, args.delta_f / users[user].next_privacy_term, rtol=1e-9)
                    law = torch.distributions.Laplace(torch.tensor([0.0]), torch.tensor(scale))
                    noise[user].append(law.sample(values.shape).squeeze(-1).numpy().ravel())
            for user in chosen:
                self.mechanism.clip(self.updates[user])
                self.updates[user] += np.concatenate(noise[user]).astype(np.float32)
            largest = max(one.privacy_violation for one in users.values())
            assert np.isclose(self.ledger.spent().max(), largest, rtol=1e-9)
        sizes = np.array([len(users[user].data_loader.dataset) for user in chosen], np.float64)
        for user, weight in zip(chosen, sizes / sizes.sum(), strict=True):
            self.theta += self.updates[user] * np.float32(weight)

    def test(self, loader: Any, model: Any, criterion: Any, args: Any) -> tuple[float, float]:
        """Accuracy in per cent and loss of the global model."""
        next(iter(loader))  # their loop draws from the stream that the coming round goes on with
        assert self.trainer is not None
        scores = self.trainer.evaluate(self.theta)
        return 100 * scores.accuracy, scores.loss


@contextlib.contextmanager
def imported(clone: Path) -> Iterator[None]:
    """Their modules can be imported, in a working directory that vanishes with all that they write."""
    if not (clone / "main.py").is_file():
        raise PauseflError(f"{clone} has no main.py: clone https://github.com/oritalp/PAUSE there")
    for name, needed in _UNUSED.items():
        sys.modules[name] = ModuleType(name)
        setattr(sys.modules[name], needed, lambda *arguments, **named: "")
    vars(np)["NINF"] = -np.inf  # they name it as NumPy 1 does
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, str(clone.resolve()))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            sys.path.remove(str(clone.resolve()))


def run_program(
    clone: Path, test: int, selector: str, private: bool, ours: bool, n_rounds: int, data: Dataset
) -> list[float]:
    """Accuracy in per cent after each round of their program."""
    scenario, _, options = TESTS[test]
    found: list[float] = []
    engine = Engine(scenario, data)  # before the working directory changes
    with imported(clone):
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt

        learning_utils, utils = map(importlib.import_module, ("learning_utils", "utils"))

        if ours:
            learning_utils.distribute_model = engine.distribute_model
            learning_utils.train_one_epoch = engine.train_one_epoch
            learning_utils.Fed_avg_models, learning_utils.test = engine.aggregate, engine.test
        evaluate = learning_utils.test

        def noted(*arguments: Any) -> tuple[float, float]:
            accuracy, loss = evaluate(*arguments)
            found.append(accuracy)
            return accuracy, loss

        learning_utils.test = noted
        for name in ("MNIST", "CIFAR10"):
            read = lambda root, train, download=False, transform=None: Examples(data, train, ours)  # noqa: E731
            setattr(utils.datasets, name, read)
        utils.plot_graphs = plt.savefig = lambda *arguments, **named: None
        source = Path(sys.path[0], "main.py")
        text, n = re.subn(
            r"^choosing_methods_list = .*$",
            f"choosing_methods_list = [{selector!r}]",
            source.read_text("utf-8"),
            flags=re.MULTILINE,
        )
        if n != 1:
            raise PauseflError(f"{source} does not list its selectors as it did at commit 823a42f")
        Path("main.py").write_text(text, "utf-8")
        sys.argv = ["main.py", *options.split(), *_OPTIONS.split(), *_BUDGET[test].split(), *_QUIET.split()]
        sys.argv += ["--global_epochs", str(n_rounds), *(["--privacy"] * (not private))]
        with contextlib.redirect_stdout(None):
            runpy.run_path("main.py", run_name="__main__")
    return found


def logged(clone: Path, test: int, selector: str, private: bool) -> list[str]:
    """Accuracy in per cent after each round of their archived run, as printed."""
    name = selector if private or selector != "all users" else f"{selector} without privacy"
    path = clone / "checkpoints/archive" / TESTS[test][1] / "30 choose 5" / name / "run.log"
    if not path.is_file():
        raise PauseflError(f"{path} is missing")
    return _ACCURACY.findall(path.read_text("utf-8", errors="replace"))


@app.command()
def program(
    authors: Clone,
    data_root: DataRoot = Path("data/raw"),
    test: Annotated[int, typer.Option(min=1, max=2, help="Their test: 1, MNIST, or 2, CIFAR-10.")] = 1,
    selector: Annotated[str, typer.Option(help="As they call it.")] = "all users",
    private: Annotated[bool, typer.Option(help="With their noise.")] = False,
    engine: Annotated[Literal["ours", "theirs"], typer.Option(help="Who trains and evaluates.")] = "ours",
    rounds: Annotated[int, typer.Option(min=1, max=300, help="Number of rounds.")] = 300,
    cifar10_folder: Folder = "",
) -> None:
    """Run their program, and compare its accuracies with their log."""
    torch.set_num_threads(1)
    data = images("mnist" if test == 1 else "cifar10", data_root, cifar10_folder if test == 2 else "")
    log = logged(authors, test, selector, private)[:rounds]
    found = run_program(authors, test, selector, private, engine == "ours", rounds, data)
    n = min(len(found), len(log))
    differences = np.array([a - float(b) for a, b in zip(found, log, strict=False)])
    same = sum(f"{a:.2f}" == b for a, b in zip(found, log, strict=False))
    print("| round | here (%) | their log (%) |\n| --: | --: | --: |")
    for i in sorted({*range(0, n, max(n // 6, 1)), n - 1}):
        print(f"| {i + 1} | {found[i]:.2f} | {log[i]} |")
    print(f"\n{same} of {n} rounds have every digit of the log; the largest difference is")
    print(f"{np.abs(differences).max():.2f} points, the mean {differences.mean():+.3f}.")


@app.command()
def networks(authors: Clone, data_root: DataRoot = Path("data/raw"), cifar10_folder: Folder = "") -> None:
    """Evaluate the last model of each archived run of their two tests on our test images."""
    torch.set_num_threads(1)
    print("| test | run | rounds | their log (%) | here (%) |\n| :-- | :-- | --: | --: | --: |")
    with imported(authors):
        models = importlib.import_module("models")
    for test, source in ((1, "mnist"), (2, "cifar10")):
        data = images(source, data_root, cifar10_folder if test == 2 else "")
        x, y = scaled(data.test_x), torch.from_numpy(data.test_y)
        folder = authors / "checkpoints/archive" / TESTS[test][1] / "30 choose 5"
        for path in sorted(folder.glob("*/last_model.pth.tar")):
            state = load(path)
            model = models.FC3Layer(784, 10) if test == 1 else models.CNN3LayerCifar()
            model.load_state_dict(state["model's state dict"])
            model.eval()
            with torch.no_grad():
                outputs = torch.cat([model(some) for some in torch.split(x, 500)])
            here = 100 * float((outputs.argmax(1) == y).double().mean())
            accuracies = state["val_acc_list"]
            print(f"| {test} | {path.parent.name} | {len(accuracies)} | {accuracies[-1]:.2f} | {here:.2f} |")


def load(path: Path) -> dict[str, Any]:
    """What they saved of a run; nothing in the file is executed."""
    multiarray = importlib.import_module("numpy._core.multiarray")
    named = [(multiarray._reconstruct, "numpy.core.multiarray._reconstruct")]
    named += [(multiarray.scalar, "numpy.core.multiarray.scalar")]
    types = [np.ndarray, np.dtype, np.dtypes.Float64DType, np.dtypes.Int64DType]
    with torch.serialization.safe_globals([*named, *types]):
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


if __name__ == "__main__":
    try:
        app()
    except PauseflError as error:
        typer.secho(f"Error: {error}", fg=typer.colors.RED, err=True)
        raise SystemExit(2) from None
