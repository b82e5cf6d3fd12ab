//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// What the Dockerfile makes: the static program alone in a root of its own, as a user without rights.
func TestAloneInItsRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a process another root")
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(root, "gojit"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	model, err := os.ReadFile("../../../tests/data/digits_cnn.pt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "model.pt"), model, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "/model.pt", "1x1x12x12"}, {"doctor"}} {
		alone := exec.Command("/gojit", args...)
		alone.Dir, alone.Env = "/", []string{}
		alone.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if out, err := alone.CombinedOutput(); err != nil {
			t.Errorf("gojit %v: %v\n%s", args, err, out)
		}
	}
}
