package bind

import (
	"context"
	"os"

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
		status = command.Run(context.Background(), args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr},
			command.Elsewhere("serve", "go install github.com/torchjit/torchjit/gojit/cmd/gojit@latest has it"))
		return nil
	})
	c.int(status)
	return err
}
