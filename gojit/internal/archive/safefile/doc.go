// Package safefile reads and replaces files: only regular files of a size that the memory holds are read, and a file is
// replaced as a whole or not at all, keeping links, devices and modes.
package safefile
