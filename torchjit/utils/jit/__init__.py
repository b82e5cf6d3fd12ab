"""What works on logs of the compiler."""
