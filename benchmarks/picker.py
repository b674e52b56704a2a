"""Selections a second of PAUSE through `pausefl.Picker`: ``select`` and ``observe`` together, on one core."""

from __future__ import annotations

import argparse
import time

import numpy as np

import pausefl

#: Clients, and how many are asked in a round.
NETWORKS = ((30, 5), (300, 15), (100_000, 100))


def selections_per_second(n_clients: int, n_selected: int, seconds: float) -> float:
    """Mean over some seconds, once every client has been asked, or after 20 rounds."""
    sizes = np.random.default_rng(0).integers(10, 100, n_clients)
    schedule = pausefl.GeometricSchedule(epsilon_total=40.0, decay=0.01)
    picker = pausefl.Picker("pause", dict(enumerate(sizes.tolist())), n_selected, 0.05, 2.0, schedule)

    def play() -> None:
        picker.observe({one: 0.1 + one / n_clients for one in picker.select(range(n_clients))})

    for _ in range(min(n_clients // n_selected + 1, 20)):
        play()
    start, n = time.perf_counter(), 0
    while time.perf_counter() - start < seconds:
        play()
        n += 1
    return n / (time.perf_counter() - start)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    seconds = parser.parse_args().seconds
    print("| clients | asked in a round | selections a second |\n| --: | --: | --: |")
    for network in NETWORKS:
        print(f"| {network[0]:,} | {network[1]} | {selections_per_second(*network, seconds):,.3g} |")


if __name__ == "__main__":
    main()
