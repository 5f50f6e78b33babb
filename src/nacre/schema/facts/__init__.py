"""Facts that hold in every row: what they determine is computed, not modeled, and costs nothing."""
