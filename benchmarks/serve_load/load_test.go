package main

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// server is a process of gojit serve.
type server struct {
	process *exec.Cmd
	done    chan error // gets how it ended
}

// serveModel starts gojit serve on a model and leads the load to it.
func serveModel(t *testing.T, file string, options ...string) *server {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gojit")
	if out, err := exec.Command("go", "build", "-o", program, "../../gojit/cmd/gojit").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := &server{exec.Command(program, append([]string{"serve", "model=" + file, "--address", "127.0.0.1:0"}, options...)...), make(chan error, 1)}
	said, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.process.Process.Kill() })
	lines := bufio.NewScanner(said)
	address := ""
	for address == "" && lines.Scan() {
		if m := regexp.MustCompile(`msg=serving address=(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	if address == "" {
		t.Fatal("the server does not say where it is")
	}
	go func() {
		io.Copy(io.Discard, said)
		s.done <- s.process.Wait()
	}()
	*url, *model = "http://"+address, "model"
	return s
}

// loadFor loads the server for some seconds. No answer may be wrong.
func loadFor(t *testing.T, length float64) outcome {
	t.Helper()
	*seconds = length
	sum, err := loadAll()
	if err != nil {
		t.Fatal(err)
	}
	if sum.wrong > 0 || sum.good == 0 {
		t.Fatalf("%d right answers, %d wrong ones: %s", sum.good, sum.wrong, sum.first)
	}
	return sum
}

// Sixteen connections, one request in ten malformed, and the server is stopped while they go on.
func TestLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("the load takes seconds")
	}
	s := serveModel(t, "../../tests/data/digits_cnn.pt", "--max-batch", "16")
	*input, *shape, *connections, *malformed = "x", "1x1x12x12", 16, 0.1
	loadFor(t, 3)
	before := metric("process_resident_memory_bytes")
	if sum := loadFor(t, 3); sum.bad == 0 || sum.refused > 0 {
		t.Errorf("%d malformed requests, %d refused ones", sum.bad, sum.refused)
	}
	if after := metric("process_resident_memory_bytes"); after > 1.25*before+32e6 {
		t.Errorf("the server has %.0f MB of memory, and had %.0f MB three seconds before", after/1e6, before/1e6)
	}
	*stopping = true
	defer func() { *stopping = false }()
	time.AfterFunc(time.Second, func() { s.process.Process.Signal(syscall.SIGTERM) })
	if sum := loadFor(t, 2); sum.refused == 0 {
		t.Error("the server was told to stop, and went on")
	}
	if err := <-s.done; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}
