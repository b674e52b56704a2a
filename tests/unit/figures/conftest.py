"""A scenario whose figures are plotted and described."""

from __future__ import annotations

import pytest

from pausefl.settings import scenario as config


@pytest.fixture
def scenario() -> config.Scenario:
    return config.Scenario(
        name="mnist_large_iid_r1",
        title="MNIST_large *i.i.d.*",
        data=config.DataSettings(source="mnist", n_validation=10),
        partition=config.PartitionSettings(labels="iid", sizes="equal", min_size=20, qualities="equal"),
        network=config.NetworkSettings(
            n_users=311,
            n_selected=17,
            latency_floor=0.05,
            fast_latency_max=0.2,
            slow_latency_min=0.7,
            slow_latency_max=0.9,
            latency_std=0.05,
        ),
        reward=config.RewardSettings(name="r1", alpha=100, beta=2, gamma=5),
        selection=config.SelectionSettings(exploitation=1, n_iterations=500, temperature_divisor=30),
        model=config.ModelSettings(name="cnn3", norm="batch"),
        training=config.TrainingSettings(
            n_rounds=293,
            n_epochs=1,
            batch_size=20,
            max_batches=100,
            learning_rate=0.01,
            optimizer_state="persist",
        ),
        selectors=("pause", "sa_pause"),
        figures={
            "pause_v2_fig8": "accuracy_vs_time",
            "pause_v1_fig6": "accuracy_vs_time",
            "bsfl_fig7b": "loss_vs_time",
            "odd_name": "leakage_vs_time",
        },
        privacy=config.PrivacySettings(epsilon_total=37, decay=0.04, sensitivity=0.0031),
    )
