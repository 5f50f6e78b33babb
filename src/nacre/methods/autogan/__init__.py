"""DP-auto-GAN: its settings, what its two phases ask of a row, and how their weights move."""
