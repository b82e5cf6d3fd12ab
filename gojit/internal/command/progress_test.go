package command

import (
	"strings"
	"testing"
)

func TestProgressIsOfLargeFiles(t *testing.T) {
	var b strings.Builder
	show := showProgress(&b, "model.pt")
	for _, done := range []int64{1 << 20, manyBytes - 1} {
		if err := show(done, manyBytes-1); err != nil || b.Len() > 0 {
			t.Errorf("%q, %v", b.String(), err)
		}
	}
	for _, done := range []int64{8 << 20, manyBytes} {
		if err := show(done, manyBytes); err != nil {
			t.Error(err)
		}
	}
	if want := "\r\x1b[Kreading model.pt: 8 of 256 MiB\r\x1b[Kreading model.pt: 256 of 256 MiB\r\x1b[K"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
