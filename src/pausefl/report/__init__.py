"""One page that shows everything: claims, figures by paper, configuration, deviations, cost, environment."""
