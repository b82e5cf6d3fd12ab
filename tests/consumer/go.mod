// A program outside of the repository's module, as users have them.
module example.com/consumer

go 1.26.0

require github.com/torchjit/torchjit v0.0.0

require (
	github.com/ebitengine/purego v0.10.2 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

replace github.com/torchjit/torchjit => ../..
