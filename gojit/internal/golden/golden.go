// Package golden runs tests whose input and expected outputs are text archives (txtar).
//
// An archive has input sections such as in.py and expected sections out/STAGE. With
// UPDATE_GOLDEN=1 in the environment the expected sections are rewritten with what was got, and
// the difference is reviewed like code. Rejections are programs whose lines say
// `# ERROR "regexp"` where an error must point.
package golden

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// Case is one archive.
type Case struct {
	t       *testing.T
	path    string
	archive *txtar.Archive
	changed bool
}

// Run runs a subtest for every archive that matches the pattern; it fails where none does.
func Run(t *testing.T, pattern string, test func(t *testing.T, c *Case)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archive matches %s (%v)", pattern, err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c := &Case{t: t, path: path, archive: archive}
			test(t, c)
			c.save()
		})
	}
}

// Input returns a section, and fails the test where the archive has none of that name.
func (c *Case) Input(name string) string {
	c.t.Helper()
	for _, f := range c.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	c.t.Fatalf("%s has no section %s", c.path, name)
	return ""
}

// Has reports whether the archive has a section.
func (c *Case) Has(name string) bool {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Check compares text with the section, or rewrites the section when updating.
func (c *Case) Check(name, got string) {
	c.t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	for i, f := range c.archive.Files {
		if f.Name != name {
			continue
		}
		if string(f.Data) == got {
			return
		}
		if !updating() {
			c.t.Errorf("%s: %s differs; got:\n%s\nwant:\n%s", c.path, name, got, f.Data)
			return
		}
		c.archive.Files[i].Data = []byte(got)
		c.changed = true
		return
	}
	if !updating() {
		c.t.Errorf("%s has no section %s; got:\n%s", c.path, name, got)
		return
	}
	c.archive.Files = append(c.archive.Files, txtar.File{Name: name, Data: []byte(got)})
	c.changed = true
}

func (c *Case) save() {
	if !c.changed {
		return
	}
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o644); err != nil {
		c.t.Error(err)
	}
}

func updating() bool { return os.Getenv("UPDATE_GOLDEN") == "1" }

// Expectation is an error that a line of a program asks for.
type Expectation struct {
	Line    int // counted from 1
	Pattern *regexp.Regexp
}

var errorComment = regexp.MustCompile(`# ERROR ("(?:[^"\\]|\\.)*")`)

// Expectations returns the `# ERROR "regexp"` remarks of a program; the regexp is a quoted Go
// string.
func Expectations(t *testing.T, program string) []Expectation {
	t.Helper()
	var out []Expectation
	for i, line := range strings.Split(program, "\n") {
		m := errorComment.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		text, err := strconv.Unquote(m[1])
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		pattern, err := regexp.Compile(text)
		if err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		out = append(out, Expectation{i + 1, pattern})
	}
	return out
}
