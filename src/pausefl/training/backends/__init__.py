"""How local training is computed: one meaning, several backends."""
