//go:build !amd64

package serialize

const canFold = false

func fold(uint32, []byte) [foldBlock]byte { panic("serialize: no folding on this processor") }
