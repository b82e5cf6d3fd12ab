//go:build !amd64

package checksum

const canFold = false

func fold(uint32, []byte) [foldBlock]byte { panic("serialize: no folding on this processor") }
