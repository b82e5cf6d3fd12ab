package gpu

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// logging says whether GOJIT_LOG asks for the libraries that are used.
var logging = slices.Contains(strings.Split(os.Getenv("GOJIT_LOG"), ","), "cuda")

// logLibrary says what is used of a library.
func (v *Device) logLibrary(format string, args ...any) {
	if logging {
		fmt.Fprintf(os.Stderr, "%s: %s\n", v.Place(), fmt.Sprintf(format, args...))
	}
}
