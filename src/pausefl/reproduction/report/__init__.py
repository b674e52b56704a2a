"""One page that shows everything: conclusions, verdicts, figures by paper, runs, deviations."""
