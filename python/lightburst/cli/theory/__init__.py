"""``lightburst model``: closed forms as a table or a figure."""
