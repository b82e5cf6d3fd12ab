package gojit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The API of the public packages is what testdata/api has. A change of it is one for those who use it: UPDATE_GOLDEN=1 writes the files, whose
// differences belong into the changelog.
func TestAPI(t *testing.T) {
	for _, name := range []string{"gojit", "gojit/tensor", "gojit/errs", "gojit/npy", "gojit/serve"} {
		got, err := exec.Command("go", "doc", "-all", module+"/"+name).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := filepath.Join("testdata/api", filepath.Base(name)+".txt")
		if os.Getenv("UPDATE_GOLDEN") != "" {
			if err := os.WriteFile(file, got, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != string(got) {
			t.Errorf("%s: the API is another than %s has: see `git diff` behind UPDATE_GOLDEN=1 go test ./gojit -run TestAPI", name, file)
		}
	}
}
