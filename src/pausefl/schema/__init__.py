"""How settings are read from YAML and checked: the base of all sections, and types of values."""
