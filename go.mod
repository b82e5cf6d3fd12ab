module github.com/torchjit/torchjit

go 1.26.0

require golang.org/x/tools v0.52.0

require golang.org/x/sys v0.49.0

require (
	github.com/ebitengine/purego v0.10.2
	github.com/rogpeppe/go-internal v1.16.0
	github.com/spf13/cobra v1.10.2
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
)
