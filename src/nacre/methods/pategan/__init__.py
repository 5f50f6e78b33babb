"""PATE-GAN: teachers behind the wall vote on generated rows."""
