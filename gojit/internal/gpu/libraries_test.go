package gpu

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// makeLibrary makes a shared library that has one function.
func makeLibrary(t *testing.T, path, function string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(t.TempDir(), "library.c")
	if err := os.WriteFile(source, []byte("int "+function+"(void) { return 0; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestFinder looks for a library where variables and packages of Python say: the newest that the driver knows, which has the function that is asked for.
func TestFinder(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler")
	}
	folder := t.TempDir()
	site := filepath.Join(folder, "site-packages")
	old, recent := filepath.Join(site, "nvidia", "cublas", "lib", "libthere.so.12"), filepath.Join(site, "nvidia", "cu13", "lib", "libthere.so.13")
	other := filepath.Join(folder, "other", "libthere.so.12")
	makeLibrary(t, old, "there")
	makeLibrary(t, recent, "there")
	makeLibrary(t, other, "there")
	makeLibrary(t, filepath.Join(folder, "empty", "libthere.so.13"), "nothing")
	w := &wanted{what: "what is there", names: []string{"libthere.so.13", "libthere.so.12"}, marker: "there", ofCUDA: true}
	for _, c := range []struct {
		f    finder
		want string
	}{
		{finder{packages: []string{folder, site}, version: 13000}, recent},
		{finder{packages: []string{site}, version: 12040}, old},
		{finder{packages: []string{site}, first: []string{filepath.Dir(other)}, version: 12040}, other},
		{finder{packages: []string{site}, first: []string{filepath.Join(folder, "empty")}, version: 13000}, recent},
		{finder{packages: []string{site}, only: []string{filepath.Join(folder, "empty", "libthere.so.13"), other}}, other},
	} {
		l, err := c.f.open(w)
		if err != nil || l.name != c.want {
			t.Errorf("%+v: found %v, %v", c.f, l, err)
		}
	}
	for _, c := range []struct {
		f    finder
		want []string
	}{
		{finder{packages: []string{folder}, first: []string{"/nowhere"}, version: 12000}, []string{"looked for libthere.so.12 in /nowhere (GOJIT_CUDA_LIBRARIES), where the system looks", "and in the packages of Python"}},
		{finder{first: []string{filepath.Join(folder, "empty")}, version: 13000}, []string{"undefined symbol: there"}}, // what is there, not what is missing
	} {
		_, err := c.f.open(w)
		for _, part := range c.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: the error is %v, want %q", c.f, err, part)
			}
		}
	}
}
