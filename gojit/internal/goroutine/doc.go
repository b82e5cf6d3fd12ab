// Package goroutine tells goroutines, and the threads that run them, apart.
package goroutine
