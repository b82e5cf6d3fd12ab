// Gojit runs and looks at models that PyTorch saved, from the shell: `gojit help` lists what it does.
package main

import (
	"context"
	"os"

	"github.com/torchjit/torchjit/gojit/internal/collector"
	"github.com/torchjit/torchjit/gojit/internal/command"
)

func main() {
	collector.Tune()
	os.Exit(command.Run(context.Background(), os.Args[1:], command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, command.Host{}))
}
