"""What passes over FX graphs are made of."""
