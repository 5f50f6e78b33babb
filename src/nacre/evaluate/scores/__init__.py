"""What a metric is, what it gives, and what real data would score in its place."""
