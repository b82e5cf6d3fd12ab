package command

import (
	"fmt"
	"io"
	"os"

	"github.com/torchjit/torchjit/gojit"
)

// openModel opens a model. A terminal shows how far the reading of a large file is.
func (s *Session) openModel(path string) (gojit.Model, error) {
	var o gojit.LoadOptions
	if file, ok := s.Err.(*os.File); ok && isTerminal(file) {
		o.Progress = showProgress(file, path)
	}
	return gojit.Open(path, o)
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
