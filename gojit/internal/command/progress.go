package command

import (
	"fmt"
	"io"
	"os"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive/safefile"
)

// openModel opens a model. A terminal shows how far the reading of a large file is.
func (s *Session) openModel(path string) (gojit.Model, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, usagef("%s is a directory", path)
	}
	return gojit.Open(path, gojit.LoadOptions{Progress: s.progress(path)})
}

// readFile reads a file that the command line names, as openModel does. That there is none, or that it cannot be read, is a mistake of the command line.
func (s *Session) readFile(path string) (data []byte, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a directory", path)
	case info.Mode().IsRegular():
		data, err = safefile.ReadFile(path, s.progress(path))
	default: // a pipe
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, usageError{err}
	}
	return data, nil
}

// progress returns what shows how far the reading of a file is, nil where the standard error is no terminal.
func (s *Session) progress(path string) func(done, total int64) error {
	if file, ok := s.Err.(*os.File); ok && isTerminal(file) {
		return showProgress(file, path)
	}
	return nil
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// manyBytes is the size of files from which on reading shows how far it is.
const manyBytes = 256 << 20

// showProgress returns what writes how far the reading of a large file is over what it wrote before, and erases it at the end.
func showProgress(w io.Writer, path string) func(done, total int64) error {
	return func(done, total int64) error {
		if total < manyBytes {
			return nil
		}
		fmt.Fprintf(w, "\r\x1b[Kreading %s: %d of %d MiB", path, done>>20, total>>20)
		if done == total {
			io.WriteString(w, "\r\x1b[K")
		}
		return nil
	}
}
