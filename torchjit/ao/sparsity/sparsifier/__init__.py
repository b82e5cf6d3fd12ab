"""How masks are chosen."""
