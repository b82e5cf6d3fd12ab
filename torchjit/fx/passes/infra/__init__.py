"""How passes over FX graphs are run."""
