"""Kinds of studies: what computes them, what plots them, and what their captions say.

Captions are reStructuredText. Names in braces stand for what `pausefl.figures.captions.study_values` returns;
``study`` is the study itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from pausefl.registry.base import Record, Registry


@dataclass(frozen=True)
class StudyRecord(Record):
    """One kind of study.

    Attributes
    ----------
    code
        ``compute(study, note)``: returns the computed tables by the names of their files without suffix.
        ``note`` takes a line for the log.
    plot
        ``plot(tables, study)``: returns a `pausefl.figures.panels.Plotted` made of the computed tables.
    data
        Computed files in the study's folder. A name with ``{selector}`` and ``{seed}`` stands for a file for
        each of them; then ``compute`` may be called for one selector and seed at a time.
    tables
        Derived files, which ``plot`` makes.
    claims
        Computed or derived files that claims are tested on, named as in ``data``.
    label
        What is shown, for headings.
    caption
        What is shown, in few words: with the title at most `pausefl.figures.captions.MOST_WORDS`.
    setting, shown, reading
        Paragraphs below the caption: what was computed, what is shown, how to read it.
    place
        Where the papers have it.
    repeats
        Kinds of figures that it makes without training; then these figures of its scenario are its place.
    deviations
        Deviations that can bear on it.
    besides
        Selectors that it uses besides those it names.
    verdict
        ``verdict(tables)``: returns a line, or raises if the tables refute what the study checks. Empty if it
        checks nothing.
    exclusive
        Whether it measures time, so that nothing may run beside it.
    trained
        Whether it collects runs of jobs: then ``compute(study, note, folders)`` gets the folder of each of
        the study's ``runs``.
    beyond
        Whether it goes beyond the papers: then it is made only if asked for.
    instant
        Whether it is computed in no time; then its files are not published.
    """

    plot: str
    data: tuple[str, ...]
    label: str
    caption: str
    setting: str
    shown: str
    reading: str = ""
    tables: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    place: str = "Nowhere"
    repeats: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    besides: frozenset[str] = frozenset()
    verdict: str = ""
    exclusive: bool = False
    trained: bool = False
    beyond: bool = False
    instant: bool = False

    def load_plot(self) -> Any:
        """Import and return the function that plots."""
        return Record(self.plot).load()

    def load_verdict(self) -> Any:
        """Import and return the function that judges."""
        return Record(self.verdict).load()

    @property
    def by_run(self) -> bool:
        """Whether there is a computed file for each selector and seed."""
        return any("{seed}" in file for file in self.data)

    @property
    def code_file(self) -> str:
        """File with the hash of the code that computed ``data``, named as these are."""
        return f"{self.data[0].rpartition('.')[0]}.code"

    def code_files(self, study: Any) -> list[str]:
        """Files with hashes of the code that computed a study, relative to its folder."""
        return list(_expanded((self.code_file,), study))

    def data_files(self, study: Any) -> list[str]:
        """Computed files of a study, relative to its folder."""
        return list(_expanded(self.data, study))

    def claim_files(self, study: Any) -> list[str]:
        """Files of a study that claims are tested on, relative to its folder."""
        return list(_expanded(self.claims, study))


def _expanded(files: tuple[str, ...], study: Any) -> Iterator[str]:
    """Names of files, those with ``{seed}`` for every selector and seed of the study."""
    for file in files:
        if "{seed}" not in file:
            yield file
            continue
        for selector, seed in product(study.scenario.selectors, study.seeds):
            yield file.format(selector=selector, seed=seed)


_ANNEALING = ("D1", "D2", "D4")

#: Every kind of study, in the order of the file of studies.
STUDIES: Registry[StudyRecord] = Registry(
    "kind of study",
    {
        "regret": StudyRecord(
            "pausefl.studies.regret:compute",
            "pausefl.figures.regret:plot",
            data=("{selector}/seed-{seed}.parquet",),
            tables=("regret.csv", "fits.csv", "growth.csv"),
            claims=("fits.csv", "growth.csv", "{selector}/seed-{seed}.parquet"),
            besides=frozenset({"genie"}),
            label="pseudo-regret against rounds",
            caption="Sums over the rounds so far, on linear and on logarithmic axes. {lines} Thin black lines"
            " are fitted laws of growth, which the legend names.",
            setting="{simulated}",
            shown="The genie knows the true expected speeds and makes the best choice on the selector's own"
            " history. The pseudo-regret of a round is the objective of the genie's choice less that of the"
            " selector's, both with true expected speeds. All selectors are measured by the scenario's"
            " objective, whatever they maximise themselves."
            " Both panels show the same curves; on the logarithmic axes a straight line is a power of t, and"
            " linear growth has slope 1.",
            reading="Thin black lines and the legend give the law of growth of each mean: a, a + b ln t, a +"
            " b √(t ln t), a + b t or a t\\ :sup:`b`, fitted by least relative error to the rounds from"
            " {fit_start} on. The"
            " preferred law is the first of these whose error is at most a quarter above the least."
            " ``fits.csv`` has all laws for each seed, ``growth.csv`` the local exponent d ln R / d ln t"
            " over the last two decades of rounds, which falls towards 0 for logarithmic"
            " growth.{other_index}",
            place="PAUSE v2, Theorem 3, which bounds regret by a multiple of ln t; BSFL, Figs. 5 and 8, left"
            " panels",
            deviations=(*_ANNEALING, "D5", "D11", "D25", "D30", "D49"),
        ),
        "optimality_gap": StudyRecord(
            "pausefl.studies.optimality_gap:compute",
            "pausefl.figures.optimality_gap:plot",
            data=("gap.parquet",),
            tables=("summary.csv",),
            label="what annealing loses against the exact search",
            caption="Left: the optimum of each round less the value of the selector's choice, trailing mean"
            " over 10 rounds. Right: simulated time. {lines}",
            setting="{simulated} {annealing}",
            shown="The optimum is that of the exact search on the selector's own history, so gaps of"
            " different selectors are to different optima. The first rounds, while at least"
            " {study.scenario.network.n_selected} users were never seen, are left out: every selector is"
            " exact in them. The axis is logarithmic where mean gaps span more than a factor of 8. A round"
            " costs the latency of its slowest participant. ``summary.csv`` has mean gaps, the share of"
            " rounds in which the optimum was found, simulated time and the largest leakage at the end; the"
            " last two also relative to PAUSE under the same seed.",
            place="Nowhere: PAUSE v2 leaves out the exact search in large networks (D36)",
            deviations=(*_ANNEALING, "D8", "D31", "D36"),
        ),
        "selection": StudyRecord(
            "pausefl.studies.selection:compute",
            "pausefl.figures.selection:plot",
            data=("rounds.parquet",),
            tables=("summary.csv", "summary.md"),
            claims=("rounds.parquet",),
            label="privacy leakage without training",
            caption="What the user who has leaked most has spent, against rounds (left) and simulated time"
            " (right). {lines} The thin line is the budget.",
            setting="{simulated}",
            shown="Who is selected, how long a round takes and what it leaks do not depend on what is"
            " learned, except for selectors that look at the users' updates, which are left out. So these"
            " curves are those of trained jobs with the same seeds. The leakage is that of the user who has"
            " leaked most so far, a step function: left against rounds, right against simulated time, in"
            " which a round costs the latency of its slowest participant. Where FedAvg lasts much"
            " longer than all others, the axis of time is cut and the legend gives the end of its curve."
            " Selectors without privacy leak without bound and are left out.",
            repeats=("leakage_vs_time", "leakage_vs_rounds"),
            deviations=(*_ANNEALING, "D3", "D8", "D25"),
        ),
        "knobs": StudyRecord(
            "pausefl.studies.knobs:compute",
            "pausefl.figures.knobs:plot",
            data=("knobs.parquet",),
            tables=("summary.csv",),
            label="what each constant buys, without training",
            caption="Time, leakage, fairness, slow users and spread of latency against one setting at a time."
            " Grey: the value of the scenario. Dots: means over seeds; bars: standard deviations.",
            setting="{simulated} {annealing}",
            shown="A row of panels has a setting, with its values at even distances; panels of a column share"
            " their axis. Leakage is that at the end. Fairness is Jain's index of the users' leakage: 1 if"
            " all leak equally. Slow users are the slower half; a fair share is one half. The spread of"
            " latency is the difference in expected latency between the slowest and the fastest selected"
            " user, mean over rounds. ρ acts under reward R2, whose overlaps take time. Terms: the reward"
            " without its privacy term (no p), its generalisation term (no g), and both.",
            reading="κ and J are of annealing alone, and random selection ignores all but η.",
            place="Nowhere; PAUSE v2, V-A has the values",
            deviations=(*_ANNEALING, "D8", "D25"),
        ),
        "trained_knobs": StudyRecord(
            "pausefl.studies.trained:compute",
            "pausefl.figures.trained:plot",
            data=("curves.parquet",),
            tables=("summary.csv",),
            trained=True,
            label="what budgets, constants and terms of the reward buy in accuracy",
            caption="Test accuracy against rounds, against one setting at a time, and without terms of the"
            " reward. {lines}",
            setting="{study.scenario.network.n_users} users, {study.scenario.network.n_selected} selected in"
            " each round of scenario ``{study.scenario.name}``. Each change makes a scenario with jobs of its"
            " own.",
            shown="Accuracy is a trailing mean over 10 rounds, shown every 10 rounds. Against rounds: the"
            " longest runs. Against a setting: the accuracy at equal simulated time, when the first of the"
            " two runs of a seed ends; the grey bar marks the value of the scenario. Against time: the"
            " reward without its privacy term (no p), its generalisation term (no g), and both; random"
            " selection beside them. ``summary.csv`` has the differences between"
            " ``{study.scenario.selectors[0]}`` and the others, at that time and as means over all time"
            " before it, with 95 % intervals over seeds.",
            place="Nowhere",
            deviations=(*_ANNEALING, "D8", "D25"),
        ),
        "benchmark": StudyRecord(
            "pausefl.studies.benchmark:compute",
            "pausefl.figures.benchmark:plot",
            data=("runs.csv",),
            tables=("summary.csv", "summary.md"),
            trained=True,
            beyond=True,
            label="selectors side by side",
            caption="Mean accuracy within {study.time_s:g} simulated seconds against leakage, and against the"
            " time to the target accuracy. Filled and bold: among private selectors that know no latencies"
            " beforehand, none is better in one of the three and as good in the others.",
            setting="{study.scenario.network.n_selected} of {study.scenario.network.n_users} users are"
            " selected in each round (all of them by FedAvg), with the data, model and budgets of scenario"
            " ``{study.scenario.name}``.",
            shown="Accuracy is a trailing mean over 10 rounds, averaged from chance level at the start to"
            " {study.time_s:g} s; a run that ends earlier keeps its last accuracy. Leakage is the largest of"
            " any user by then. The target is 90 % of the best accuracy of a private selector at the end of"
            " the time; a run that does not reach it counts with {study.time_s:g} s. The axis of accuracy"
            " holds the private selectors that reach the target under most seeds; of the others, triangles at"
            " its ends say how accurate they are. The table has deviations over seeds, differences from"
            " ``{study.scenario.selectors[0]}`` with 95 % intervals, fairness, slow users, the worst class"
            " and the cost of selecting.",
            reading="The genie and the selector of the fastest users read expected latencies, which a server"
            " does not know.",
            deviations=(*_ANNEALING, "D8"),
        ),
        "comparison": StudyRecord(
            "pausefl.studies.comparison:compute",
            "pausefl.figures.comparison:plot",
            data=("runs.parquet", "curves.csv"),
            tables=("summary.csv", "summary.md"),
            claims=("summary.csv",),
            besides=frozenset({"bsfl", "pause"}),
            label="two annealers on the same instances",
            caption="Upper: what the current vertex lacks of the optimum; medians, 10 % to 90 % quantiles,"
            " and one instance (thin). Lower: the share of {study.n_instances} instances on which the first"
            " annealer is ahead.",
            setting="``{study.scenario.selectors[0]}`` against ``{study.scenario.selectors[1]}``: selections"
            " of {study.scenario.network.n_selected} of {study.scenario.network.n_users} users,"
            " {study.n_iterations} iterations a run, {study.n_instances} instances at each temperature"
            " divisor κ ({study.temperature_divisors}). Nothing is trained.",
            shown="An instance is the objective of one round of scenario ``{study.scenario.name}``. The"
            " exact search runs a simulation of its own up to a random round after the start-up. Both"
            " annealers start at random, each with its own random stream, the same for every κ. Upper"
            " panels: the optimum of the instance, found exactly, less the energy of the current vertex."
            " Lines are medians over the instances, bands reach from the 10 % to the 90 % quantile, thin"
            " lines are the first instance. Lower panels: the share of instances on which the current energy"
            " of ``{study.scenario.selectors[0]}`` is above that of ``{study.scenario.selectors[1]}``,"
            " beside one half and the 98.3 % that the paper has for ALSA. The table gives that share after"
            " the last iteration, and for the best vertex met, with Wilson's interval at 95 %.",
            reading="The temperature of iteration j is C / (κ ln(1 + j)), and C bounds the difference of any"
            " two energies. For this reward C is above 2α, with α = {study.scenario.reward.alpha:g}, whatever"
            " the energies are. Where it is far above their differences, nearly every move is accepted, and"
            " both annealers wander at random. Vertices of high energy tend to have more neighbours in"
            " ALSA's graph, which favours them even then.",
            place="BSFL, Section V-C: in 98.3 % of thousands of runs, of varying sizes, ALSA ended at a"
            " higher energy than plain annealing within a fixed time; Fig. 4 shows one run with 25 of 500"
            " users. The paper gives neither the law of the instances nor α, the temperature or the number"
            " of iterations of these runs",
            deviations=("D4", "D30", "D35"),
        ),
        "races": StudyRecord(
            "pausefl.studies.races:compute",
            "pausefl.figures.races:plot",
            data=("races.parquet",),
            tables=("shares.csv", "summary.md"),
            claims=("shares.csv",),
            besides=frozenset({"bsfl", "pause"}),
            label="two annealers over many sizes",
            caption="The share of races in which the first annealer ends higher, with 95 % intervals; pale"
            " bars: ties. Thin lines: one half, and the 98.3 % that BSFL has.",
            setting="``{study.scenario.selectors[0]}`` against ``{study.scenario.selectors[1]}``: every"
            " selection of {study.n_selected} of {study.n_users} users; {study.n_instances} instances of each"
            " size, {study.n_iterations} iterations, temperature divisors κ = {study.temperature_divisors}."
            " Nothing is trained.",
            shown="Intervals are Wilson's. Instances are drawn (indices and rewards uniform on [0, 1], α = γ"
            " = 1), or rounds of scenario ``{study.scenario.name}`` that the exact search has played up to"
            " them. *Equal iterations*: both make {study.n_iterations}. *Equal listing*: the other stops once"
            " it has listed as many neighbours as ``{study.scenario.selectors[0]}`` did in all. Compared are"
            " the last vertices, or the best ones reached. ``shares.csv`` has all numbers, and mean numbers"
            " of neighbours.",
            reading="An implementation that lists neighbours, as the papers' does, spends its time on that:"
            " plain annealing lists m(K − m) an iteration, a thinner graph fewer. So equal listing is what a"
            " fixed time means there. In small networks both annealers often find the optimum, and tie.",
            place="BSFL, Section V-C: in 98.3 % of thousands of runs, of varying K and m, ALSA reached a"
            " higher energy within a fixed time. The paper gives neither the law of the instances nor α, the"
            " temperature, the time or the vertex",
            deviations=("D4", "D30"),
        ),
        "graphs": StudyRecord(
            "pausefl.studies.graphs:compute",
            "pausefl.figures.graphs:plot",
            data=("degrees.parquet", "vertices.parquet", "edges.parquet"),
            tables=("summary.csv", "summary.md"),
            claims=("degrees.parquet",),
            label="the graphs that annealing walks on",
            caption="A vertex is a selection, as high as its energy. An edge joins two selections that differ"
            " in one user. Plain annealing has all such edges, the other graphs a part of them.",
            setting="All selections of {study.n_selected} of {study.n_users} users; {study.n_instances}"
            " instances, the first of which is shown.",
            shown="A vertex is a selection, as high as its energy min ucb + mean g and at the same place in"
            " every panel; the abscissa has no meaning. An edge joins two selections that differ in one"
            " user, and has the colour of the lower one. Plain annealing has all such edges. In the other"
            " graphs one of the two users must be least of its selection by one of the criteria: ucb or g"
            " (ALSA), ucb (SA-PAUSE), ucb, p or g (SA-PAUSE v1). The graphs are listed from that definition,"
            " independently of the annealers. Criteria are independent and uniform on [0, 1] for each user."
            " Degrees depend on the order of the users alone, so any continuous law gives the same. The"
            " table has degrees, connectivity and diameters over all instances, and compares the edges that"
            " a graph keeps with those that only plain annealing has.",
            reading="On average a vertex has 2m(K − m)/(m + 1) neighbours by one criterion, and at most L"
            " times as many by L. This is linear in K; plain annealing has m(K − m). With few selected users"
            " the difference is small, and BSFL's bound 4(K − m) on ALSA's mean is below m(K − m) only for m"
            " > 4.",
            place="BSFL, Section V and Fig. 3, which says that most of the edges that ALSA drops are between"
            " vertices of low or of similar energy",
            deviations=("D7", "D35"),
        ),
        "runtime": StudyRecord(
            "pausefl.studies.runtime:compute",
            "pausefl.figures.runtime:plot",
            data=("times.csv", "memory.csv"),
            tables=("summary.csv", "summary.md"),
            claims=("times.csv",),
            besides=frozenset({"pause"}),
            exclusive=True,
            label="wall-clock time against the number of users",
            caption="Left: one selection, median time. Right: what one iteration adds to an annealer's"
            " selection. Thin lines are slopes, not fits. Measured on one core.",
            setting="{study.selected_share:%} % of K users are selected, at least one. Reward"
            " ``{study.scenario.reward.name}`` and constants of scenario ``{study.scenario.name}``."
            " {annealing}",
            shown="Left: the median time of one selection, with index, scores and search, on a history in"
            " which everyone took part. Right: what one iteration adds to an annealer's selection, where it"
            " can be told from the rest. A selector stops where it refuses"
            " a size or one selection takes more than {study.budget_s:g} s. Times were taken on one core of"
            " the machine that ran the step, compiled code only: **they differ from run to run and cannot be"
            " reproduced to the last digit.**",
            reading="The papers' orders, with m in proportion to K: enumeration O(e\\ :sup:`K`), plain"
            " annealing O(K²), SA-PAUSE O(K log K) at best and on average and O(K²) at worst, Pivot-and-Fill"
            " O(K log K). Those of annealing are for neighbours that are listed. Here a neighbour is sampled"
            " in O(1) from lists that are sorted once a round, so small networks show the iterations and"
            " large ones the sorting. When the least member of a selection is to leave, the next one is"
            " looked for among all m: rarely in plain annealing, often on the thinner graphs.",
            place="PAUSE v2, Table I and Proposition 1",
            deviations=("D35", "D36"),
        ),
        "audit": StudyRecord(
            "pausefl.studies.audit:compute",
            "pausefl.figures.audit:plot",
            data=("audit.csv",),
            tables=("summary.md",),
            verdict="pausefl.studies.audit:verdict",
            label="what the noise lets through, beside what is claimed",
            caption="Lower bounds on ε that an attacker shows, against the ε that is claimed. A red cross is"
            " a bound above its claim; there must be none.",
            setting="Mechanisms {study.mechanisms}, sampler ``{study.sampler}``; budgets ε ="
            " {study.epsilons}; {study.n_trials:,} trials of each claim for each of two data sets. Nothing"
            " is trained.",
            shown="An attacker sees what leaves a user, clipped and noised by the code that the jobs use,"
            " and tells apart two data sets whose updates are far out in opposite directions. If an event"
            " has probability p under one and q under the other, ε is at least ln(p/q). A quarter of the"
            " trials chooses the event; the rest bounds p and q (Clopper and Pearson). All bounds of the"
            " table hold together with a probability of {study.confidence:%} %. The dashed line is the most"
            " that so many trials could have shown; the lower edge is 0. **A red cross, or the word"
            " VIOLATED, is a bound above its claim: then the step that gives the verdict fails.**",
            reading="A bound below its claim means that these events do not refute it, and no more: bounds"
            " fall short where telling events are rare. Right: the budget given, and a whole update of d"
            " coordinates. ``coordinate`` claims d times the budget of one coordinate, and the audit shows"
            " that updates do leak more than that budget. ``vector`` claims the budget for the update. Two"
            " users: the attacker knows the update of the other, of the same round. Two rounds: budgets ε"
            " and ε/2 of one user. Of 2,048: all coordinates but one are known.",
            deviations=("D8",),
        ),
        "generalization": StudyRecord(
            "pausefl.studies.generalization:compute",
            "pausefl.figures.generalization:plot",
            data=("generalization.csv",),
            instant=True,
            label="what a user is worth against how often it took part",
            caption="The generalisation reward of a user that took part in T of t rounds. Thin lines mark"
            " m / K and 0.",
            setting="{study.n_selected} of {study.n_users} users are selected in a round, and all hold"
            " equally much data; history of {study.n_rounds} rounds; β = {study.betas}. Nothing is random.",
            shown="The generalisation reward g of a user that took part in T of t rounds: the distance of T"
            " / t to m / K, the share at which every user takes part equally often, to the power β, and"
            " negative beyond it. The searches use the same function.",
            reading="A user that took part too seldom is worth more, one that took part too often less. The"
            " distance is below 1, so a larger β flattens both, above all near m / K, where small"
            " differences stop to matter. The experiments have β = 2.",
            place="PAUSE v1 and v2, Fig. 1; BSFL, Fig. 2",
            deviations=("D71",),
        ),
    },
)
