package launch

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

var logging = slices.Contains(strings.Split(os.Getenv("GOJIT_LOG"), ","), "kernels")

// logCompiled tells of a kernel that was compiled, or why it is evaluated.
func logCompiled(k *kernel.Kernel, f *amd64.Function, err error) {
	if !logging {
		return
	}
	if f == nil {
		fmt.Fprintf(os.Stderr, "kernel evaluated (%v):\n%s", err, k)
		return
	}
	fmt.Fprintf(os.Stderr, "kernel compiled for %s, %d bytes:\n%s", asm.Target(), f.Code.Size(), k)
}
