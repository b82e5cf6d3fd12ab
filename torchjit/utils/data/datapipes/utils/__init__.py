"""What data pipes of files are made of."""
