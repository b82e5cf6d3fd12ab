module github.com/torchjit/torchjit

go 1.26.0

require golang.org/x/tools v0.52.0

require golang.org/x/sys v0.49.0

require github.com/ebitengine/purego v0.10.2
