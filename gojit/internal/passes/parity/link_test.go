package parity_test

import (
	"os"
	"testing"

	"github.com/torchjit/torchjit/gojit"
)

// TestMain has the operators run: some passes ask for that.
func TestMain(m *testing.M) {
	gojit.LinkOperators()
	os.Exit(m.Run())
}
