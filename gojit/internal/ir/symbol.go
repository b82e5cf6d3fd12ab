package ir

import (
	"strings"
	"unique"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Symbol is a name in a namespace, which a kind of node ("aten::add") and an operator have. Each is there once: symbols are equal where their texts are,
// comparing them compares no text, and they are keys of maps. The zero Symbol is none.
type Symbol struct{ parts unique.Handle[symbolParts] }

type symbolParts struct{ namespace, name string }

// NewSymbol returns the symbol of a text, "aten::add". It fails where the namespace or the name is missing.
func NewSymbol(text string) (Symbol, error) {
	namespace, name, found := strings.Cut(text, "::")
	if !found || namespace == "" || name == "" {
		return Symbol{}, source.Errorf(source.ValueError, source.Range{}, "%q is no symbol: expected a namespace and a name, \"aten::add\"", text)
	}
	return Symbol{unique.Make(symbolParts{namespace, name})}, nil
}

// Symbol returns the node's kind as a symbol.
func (n *Node) Symbol() Symbol {
	namespace, name, _ := strings.Cut(n.kind, "::")
	return Symbol{unique.Make(symbolParts{namespace, name})}
}

// Namespace returns what stands before the "::".
func (s Symbol) Namespace() string { return s.get().namespace }

// Name returns what stands behind the "::".
func (s Symbol) Name() string { return s.get().name }

// String returns the text.
func (s Symbol) String() string {
	if s == (Symbol{}) {
		return ""
	}
	return s.Namespace() + "::" + s.Name()
}

func (s Symbol) get() symbolParts {
	if s == (Symbol{}) {
		return symbolParts{}
	}
	return s.parts.Value()
}
