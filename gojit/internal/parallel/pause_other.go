//go:build !amd64 && !arm64

package parallel

func pause() {}
