"""What the scores mean for a person who wants to use the table, in words; one topic a file."""
