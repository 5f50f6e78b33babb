"""What all tests share."""

from hypothesis import settings

# Times say nothing on a busy machine, and JAX compiles in between.
settings.register_profile("nacre", deadline=None)
settings.load_profile("nacre")
