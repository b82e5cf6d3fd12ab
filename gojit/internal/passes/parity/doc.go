// Package parity holds the passes that nothing but a program's wish runs (torch._C._jit_pass_...), and the list of all
// passes by name for the command line and for tests.
package parity
