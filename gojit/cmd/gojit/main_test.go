package main

import (
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gojit": main})
}

// Each file of testdata/script shows a verb: what it does, what it says to misuse (status 2), to a damaged file (3), and where its output has no room (1).
func TestScripts(t *testing.T) {
	models, err := filepath.Abs("../../../tests/data")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("MODEL", filepath.Join(models, "digits_cnn.pt"))
			return nil
		},
		Cmds:                map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": status, "full": full, "damage": damage, "served": served},
		RequireExplicitExec: true,
	})
}

// status N ARGUMENT... runs gojit, which must end with the status N.
func status(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec("gojit", args[1:]...)
	var exit *exec.ExitError
	switch {
	case err == nil && want != 0:
		ts.Fatalf("the status is 0, expected %d", want)
	case errors.As(err, &exit) && exit.ExitCode() != want:
		ts.Fatalf("the status is %d, expected %d", exit.ExitCode(), want)
	case err != nil && exit == nil:
		ts.Check(err)
	}
}

// full ARGUMENT... runs gojit with an output that has no room.
func full(ts *testscript.TestScript, _ bool, args []string) {
	device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return // this system has no such device
	}
	defer device.Close()
	path := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "gojit")
	command := exec.Command(path, args...)
	command.Dir, command.Stdout = ts.MkAbs("."), device
	said := filepath.Join(ts.MkAbs("."), "said")
	file, err := os.Create(said)
	ts.Check(err)
	defer file.Close()
	command.Stderr = file
	err = command.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		ts.Fatalf("a full disk gives %v, expected the status 1: %s", err, ts.ReadFile("said"))
	}
}

// served FILE ARGUMENT... runs gojit serve with its log in a file, asks it whether it is ready, and interrupts it, which must end it with the status 0.
func served(ts *testscript.TestScript, _ bool, args []string) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	address := free.Addr().String()
	ts.Check(free.Close())
	log, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_CREATE, 0o600)
	ts.Check(err)
	defer log.Close()
	path := filepath.Join(filepath.SplitList(ts.Getenv("PATH"))[0], "gojit")
	command := exec.Command(path, append([]string{"serve", "--address", address}, args[1:]...)...)
	command.Stderr = log
	ts.Check(command.Start())
	defer command.Process.Kill()
	ready := func() bool {
		resp, err := http.Get("http://" + address + "/v2/health/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	}
	for end := time.Now().Add(30 * time.Second); !ready(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("the server does not become ready")
		}
	}
	ts.Check(command.Process.Signal(os.Interrupt))
	if err := command.Wait(); err != nil {
		ts.Fatalf("the server ended with %v", err)
	}
}

// damage FILE COPY writes a copy of a file in which the middle is other.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	data, err := os.ReadFile(args[0])
	ts.Check(err)
	for i := len(data) / 4; i < 3*len(data)/4; i++ {
		data[i] ^= 0x55
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}
