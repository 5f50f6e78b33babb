"""Where one machine is not enough: tables on Dask and Spark, and files that their workers read."""

from nacre.engines.engine import on_engine

__all__ = ["on_engine"]
