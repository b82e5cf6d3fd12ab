package main

import (
	"fmt"
	"io"
	"sort"

	"github.com/torchjit/torchjit/gojit"
)

// verify reports what an archive contains. It fails where something is wrong with it.
func verify(w io.Writer, args []string) error {
	r, err := gojit.Inspect(args[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "version %d\nmodule %s\n", r.Version, r.Module)
	for _, record := range r.Records {
		fmt.Fprintf(w, "record %s %d\n", record.Name, record.Size)
	}
	for _, t := range r.Tensors {
		fmt.Fprintf(w, "tensor %s : %s%v in %s\n", t.Name, t.DType, t.Shape, t.Storage)
	}
	names := make([]string, 0, len(r.Methods))
	for name := range r.Methods {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintf(w, "method %s\n", name)
	}
	for _, list := range []struct {
		word  string
		names []string
	}{{"operator", r.Operators}, {"missing operator", r.Missing}, {"restored by running code", r.Restored}, {"extra file", r.Extra}, {"problem", r.Problems}} {
		for _, name := range list.names {
			fmt.Fprintf(w, "%s %s\n", list.word, name)
		}
	}
	if len(r.Problems) > 0 {
		return fmt.Errorf("%s has %d problems", args[0], len(r.Problems))
	}
	return nil
}
