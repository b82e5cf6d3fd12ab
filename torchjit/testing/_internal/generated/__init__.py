"""What PyTorch generates for its tests, made of the schemas of operators here."""
