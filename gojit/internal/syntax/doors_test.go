package syntax

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// doorRecord is a line of testdata/encode.py: a function as the Python door sees it.
type doorRecord struct {
	File   string
	Line   int
	Body   string
	Method bool
	Indent int
	Data   string // the encoded Tree, or
	Error  string // what the door said
	Class  string
}

// pythonDoor runs the Python door over files, or skips the test where there is no Python.
func pythonDoor(t *testing.T, files ...string) []doorRecord {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the Python door cannot be compared")
	}
	args := append([]string{filepath.Join("testdata", "encode.py"), "../../../torchjit/frontend.py"}, files...)
	cmd := exec.Command(python, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("encode.py: %v\n%s", err, stderr.String())
	}
	var records []doorRecord
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r doorRecord
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

func decodeHex(t *testing.T, s string) []byte {
	t.Helper()
	data, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// withoutDefaults drops the default values of the parameters: the Python door leaves them to
// Python, which evaluates them.
func withoutDefaults(d Def) Def {
	params := d.Decl().Params()
	for i, p := range params {
		p.Children[2] = newOption(p.Range, nil)
		end := p.Ident().Range.End
		if p.Type() != nil {
			end = max(end, p.Type().Range.End)
		}
		params[i] = p
		params[i].Range.End = end
	}
	decl := NewDecl(d.Name().Range, params, d.Decl().Return())
	return NewDef(d.Name().Range, d.Name(), decl, d.Body())
}

// TestDoorsAgree reads every function of the programs through both doors.
func TestDoorsAgree(t *testing.T) {
	files, err := filepath.Glob("../../../tests/programs/*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no programs: %v", err)
	}
	files = append(files, "testdata/doors.py")
	compared := 0
	for _, r := range pythonDoor(t, files...) {
		text := source.NewText(r.File, r.Body, r.Line)
		text.Indent = r.Indent
		parsed, err := ParseDef(text, r.Method)
		if r.Error != "" {
			compareErrors(t, r, err)
			continue
		}
		if err != nil {
			t.Errorf("%s:%d: the Go door fails: %v", r.File, r.Line, err)
			continue
		}
		decoded, err := Decode(decodeHex(t, r.Data))
		if err != nil {
			t.Errorf("%s:%d: %v", r.File, r.Line, err)
			continue
		}
		compared++
		got := withoutDefaults(parsed).StringWithRanges()
		want := withoutDefaults(AsDef(decoded)).StringWithRanges()
		if got != want {
			t.Errorf("%s:%d: the doors differ:\n%s", r.File, r.Line, firstDifference(got, want))
		}
	}
	if compared < 300 {
		t.Errorf("only %d functions were compared", compared)
	}
}

// compareErrors checks that both doors refuse a function with the same words at the same place.
func compareErrors(t *testing.T, r doorRecord, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s:%d: only the Python door fails: %s", r.File, r.Line, r.Error)
		return
	}
	if class := string(source.ClassOf(err)); class != r.Class || err.Error() != r.Error {
		t.Errorf("%s:%d: Python: %s: %s\nGo: %s: %v", r.File, r.Line, r.Class, r.Error, class, err)
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return "Go:     " + strings.Join(g[i:min(i+3, len(g))], "\n        ") +
				"\nPython: " + strings.Join(w[min(i, len(w)):min(i+3, len(w))], "\n        ")
		}
	}
	return "the Python door has more"
}
