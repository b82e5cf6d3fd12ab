package gojit

import (
	_ "embed" // the file VERSION
	"strings"
)

//go:embed VERSION
var versionFile string

// Version is the version of torchjit. The file gojit/VERSION says it, for Go, for Python and for C.
var Version = strings.TrimSpace(versionFile)
