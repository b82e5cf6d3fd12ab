package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestProgressIsOfLargeFiles(t *testing.T) {
	var b strings.Builder
	show := showProgress(&b, "model.pt")
	for _, done := range []int64{1 << 20, manyBytes - 1} {
		if err := show(done, manyBytes-1); err != nil || b.Len() > 0 {
			t.Errorf("%q, %v", b.String(), err)
		}
	}
	for _, done := range []int64{8 << 20, manyBytes} {
		if err := show(done, manyBytes); err != nil {
			t.Error(err)
		}
	}
	if want := "\r\x1b[Kreading model.pt: 8 of 256 MiB\r\x1b[Kreading model.pt: 256 of 256 MiB\r\x1b[K"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}

// What the command line names is read, or the status is that of a wrong command line.
func TestReadFile(t *testing.T) {
	s, folder := &Session{}, t.TempDir()
	path := filepath.Join(folder, "x")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := s.readFile(path); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	s.started = true
	for _, path := range []string{folder, filepath.Join(folder, "none")} {
		if _, err := s.readFile(path); s.statusOf(err) != StatusUsage {
			t.Errorf("%s: the status of %v is %d", path, err, s.statusOf(err))
		}
	}
}
