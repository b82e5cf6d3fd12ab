module torchjit

go 1.26
