package bind

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/command"
)

// commandFunctions are the command line: `python -m torchjit` is the command gojit.
var commandFunctions = []function{
	{schema: "command(list arguments) -> int", doc: "Runs a command line of gojit with the process's own streams and returns the exit status.", run: runCommand},
	{schema: "version() -> str", doc: "The version of torchjit.", run: func(c *call) error { c.string(gojit.Version); return nil }},
}

func runCommand(c *call) error {
	args := c.argStrings(0)
	status := 0
	err := c.withoutGIL(func() error {
		status = command.Run(context.Background(), args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, writeONNX,
			command.Elsewhere("serve", "go install github.com/torchjit/torchjit/gojit/cmd/gojit@latest has it"))
		return nil
	})
	c.int(status)
	return err
}

// writeONNX has Python write a module as ONNX: the exporter is Python's.
func writeONNX(module string, arguments []gojit.Value, inputs, outputs []string, file string) error {
	var said string
	var unfit error
	err := host.invoke("write_onnx", 5, func(w *writer) {
		w.string(module)
		w.open(kindList, len(arguments))
		for _, v := range arguments {
			if err := w.value(v); err != nil {
				unfit = err
				w.none()
			}
		}
		w.strings(inputs)
		w.strings(outputs)
		w.string(file)
	}, func(reply *Word) error {
		said = strings.Clone(reply.text())
		return nil
	})
	if err == nil && said != "" {
		err = errors.New(said)
	}
	return cmp.Or(unfit, err)
}
