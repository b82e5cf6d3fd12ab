package bind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/command"
	"github.com/torchjit/torchjit/gojit/internal/gpu"
)

// commandFunctions are the command line: `python -m torchjit` is the command gojit.
var commandFunctions = []abi.Function{
	{Schema: "command(list arguments) -> int", Doc: "Runs a command line of gojit with the process's own streams and returns the exit status.", Run: runCommand},
	{Schema: "version() -> str", Doc: "The version of torchjit.", Run: func(c *abi.Call) error { c.String(gojit.Version); return nil }},
}

func runCommand(c *abi.Call) error {
	args := c.ArgStrings(0)
	status := 0
	err := c.WithoutGIL(func() error {
		status = command.Run(context.Background(), args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, command.Host{WriteONNX: writeONNX, Devices: describeDevices, Cache: gpu.CacheFolder})
		return nil
	})
	c.Int(status)
	return err
}

// describeDevices names the GPUs with the libraries that compute there.
func describeDevices() ([]string, error) {
	all, err := gpu.Machine().Devices()
	names := make([]string, len(all))
	for i, d := range all {
		major, minor := d.Capability()
		libraries := d.Libraries()
		names[i] = fmt.Sprintf("%s, compute capability %d.%d; %s; %s; %s; %s", d.Name(), major, minor, libraries.BLAS, libraries.DNN, libraries.FFT, libraries.Solver)
	}
	return names, err
}

// writeONNX has Python write a module as ONNX: the exporter is Python's.
func writeONNX(module string, arguments []gojit.Value, inputs, outputs []string, file string) error {
	var said string
	var unfit error
	err := abi.Host.Invoke("write_onnx", 5, func(w *abi.Writer) {
		w.String(module)
		w.Open(abi.KindList, len(arguments))
		for _, v := range arguments {
			if err := w.Value(v); err != nil {
				unfit = err
				w.None()
			}
		}
		w.Strings(inputs)
		w.Strings(outputs)
		w.String(file)
	}, func(reply *abi.Word) error {
		said = strings.Clone(reply.Text())
		return nil
	})
	if err == nil && said != "" {
		err = errors.New(said)
	}
	return cmp.Or(unfit, err)
}
