//go:build !linux

package safefile

import (
	"errors"
	"os"
)

// createNameless returns nil: files have names from the beginning.
func createNameless(string, os.FileMode) *os.File { return nil }

func nameFile(*os.File, string) (string, error) { return "", errors.ErrUnsupported }
