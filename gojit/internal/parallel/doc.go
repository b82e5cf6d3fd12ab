// Package parallel runs the parts of an operation on several threads, and ends operations that somebody interrupts.
package parallel
