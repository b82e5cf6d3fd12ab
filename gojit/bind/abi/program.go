package abi

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// Program holds what Python code of this process has had compiled: named types and functions.
var Program = ir.NewUnit()

// ParseType reads a type in the form of schemas; named types are those of the program.
func ParseType(text string) (types.Type, error) {
	p := &types.Parser{Src: strings.Clone(text), Named: func(name string) (types.Type, bool) {
		t := Program.Type(name)
		return t, t != nil
	}}
	t, err := p.Type()
	if err != nil {
		return nil, err
	}
	if p.Space(); p.Pos != len(p.Src) {
		return nil, p.Errorf("the type ends before %q", p.Src[p.Pos:])
	}
	return t, nil
}
