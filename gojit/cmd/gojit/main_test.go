package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/torchjit/torchjit/gojit/internal/command"
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

// Each verb has its cases in some file of testdata/script.
func TestEveryVerbHasItsCases(t *testing.T) {
	var listed, scripts strings.Builder
	command.Run(t.Context(), []string{"__complete", ""}, command.Streams{Out: &listed, Err: io.Discard}, command.Host{})
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	lines := strings.NewReplacer("served log", "exec gojit serve", "[linux] served /dev/full", "full serve").Replace(scripts.String())
	verbs := regexp.MustCompile(`(?m)^(\w+)\t`).FindAllStringSubmatch(listed.String(), -1)
	if len(verbs) < 17 {
		t.Errorf("%d verbs are listed: %s", len(verbs), listed.String())
	}
	for _, verb := range append(verbs, []string{"", "kernel"}, []string{"", "cuda"}) {
		for _, form := range []string{"exec gojit", "status 2", "status 3", "full"} {
			takesNoFile := slices.Contains([]string{"completion", "doctor", "help", "operators", "version"}, verb[1])
			if form == "status 3" && takesNoFile {
				continue
			}
			if !regexp.MustCompile(`(?m)^` + form + " " + verb[1] + `\b`).MatchString(lines) {
				t.Errorf("no script has a line: %s %s", form, verb[1])
			}
		}
	}
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

// full ARGUMENT... runs gojit with an output that has no room, and neither have files whose names begin with "full.". What it says is in the file said.
func full(ts *testscript.TestScript, _ bool, args []string) {
	device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return // this system has no such device
	}
	defer device.Close()
	for _, name := range args {
		if strings.HasPrefix(name, "full.") {
			ts.Check(os.Symlink("/dev/full", ts.MkAbs(name)))
		}
	}
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
