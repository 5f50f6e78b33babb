"""Histograms of columns: cells and bins, cleaning, consistency, drawing; plain arrays, no JAX."""
