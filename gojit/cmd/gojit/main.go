// Gojit runs and looks at models that PyTorch saved, from the shell: `gojit help` lists what it does.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/torchjit/torchjit/gojit/internal/command"
)

func main() { os.Exit(run()) }

// run runs the command line. The first interrupt ends what it does, the second the process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return command.Run(ctx, os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, nil, serveVerb)
}
