"""Networks that are trained on noisy sums of norm one: what DP-MERF and Functional share."""
