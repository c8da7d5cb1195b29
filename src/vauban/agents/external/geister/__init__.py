"""The protocol of the public Geister server: foreign clients here, our agents there (docs/external-bots.md)."""
