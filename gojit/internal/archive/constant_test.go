package archive

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// TestPackedConstants: frozen programs hold packed parameters as constants, which have no literal.
func TestPackedConstants(t *testing.T) {
	packed := value.OfCapsule(&value.Capsule{Kind: "quantized.LinearPackedParamsBase", Native: true})
	p := &code.Printer{}
	if got := p.ConstantText(packed); got != "CONSTANTS.c0" || len(p.Constants) != 1 || p.Constants[0] != packed {
		t.Errorf("the text is %s, of the constants %v", got, p.Constants)
	}
	if got := value.TypeOf(packed).String(); got != "__torch__.torch.classes.quantized.LinearPackedParamsBase" {
		t.Errorf("the type is %s", got)
	}
}
