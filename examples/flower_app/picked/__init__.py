"""An app of Flower in which a picker chooses the clients (docs/flower.md)."""
