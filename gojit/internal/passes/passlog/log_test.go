package passlog_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/passlog"
)

const unusedNode = `graph(%x : Tensor):
  %y : Tensor = aten::relu(%x)
  %z : Tensor = aten::neg(%x)
  return (%y)
`

// TestLog holds what is printed of a pass to what an option asks for.
func TestLog(t *testing.T) {
	for option, want := range map[string]string{
		"cse":                   "",
		"dce":                   "[DUMP dce] After dce:",
		"dead_code_elimination": "[DUMP dce] After dce:",
		">dce":                  "[UPDATE dce] -  %z : Tensor = aten::neg(%x)",
		"cse:>>dce":             "[DEBUG dce] Before dce:",
	} {
		var out strings.Builder
		passlog.Set(option, &out)
		g, err := ir.Parse(unusedNode)
		if err != nil {
			t.Fatal(err)
		}
		err = passlog.Run("dce", g, func() error { passes.DCE(g); return nil })
		passlog.Set("", nil)
		if err != nil || want == "" && out.Len() > 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v\n%s", option, err, out.String())
		}
		if strings.Contains(out.String(), "UPDATE") != strings.Contains(option, ">") {
			t.Errorf("%s tells the wrong level:\n%s", option, out.String())
		}
	}
}
