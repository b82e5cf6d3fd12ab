package fuse

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// logging says whether GOJIT_LOG asks for what the fuser does.
var logging = slices.Contains(strings.Split(os.Getenv("GOJIT_LOG"), ","), "fuser")

func logf(format string, args ...any) {
	if logging {
		fmt.Fprintf(os.Stderr, "fuser: "+format+"\n", args...)
	}
}
