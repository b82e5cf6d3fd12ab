// Package memory is where the bytes of tensors come from: blocks on Go's heap that are used again, how many bytes and addresses the process may
// have, memory between forbidden pages and poisoned memory for checks, and stores of many bytes that the processor has instructions for.
//
// Blocks are free of pointers, so a slice into one keeps it alive and a forgotten Give costs only time. Nothing here knows what a tensor is.
package memory
