"""Graphical models of chosen marginals: what MST and AIM share."""
