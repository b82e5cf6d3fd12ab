package archive_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
)

// Sixty tuples of two, each twice in the next: a value of 2**60 leaves in 300 bytes.
func TestSharedTuplesDoNotGrow(t *testing.T) {
	var state strings.Builder
	state.WriteString("\x80\x02c__torch__\nM\n)\x81K\x01K\x01\x86q\x00")
	for range 60 {
		state.WriteString("h\x00\x86q\x00")
	}
	state.WriteString("b.")
	if _, err := gojit.LoadBytes(archiveWith(t, fuzzedText, []byte(state.String()))); err == nil {
		t.Error("it loads")
	}
	if _, err := gojit.InspectBytes(archiveWith(t, fuzzedText, []byte(state.String()))); err != nil {
		t.Error(err)
	}
}

// The same with lists, of which the type is small.
func TestSharedListsDoNotGrow(t *testing.T) {
	var state strings.Builder
	state.WriteString("\x80\x02c__torch__\nM\n)\x81(]K\x01aq\x00")
	for range 60 {
		state.WriteString("](h\x00h\x00eq\x00")
	}
	state.WriteString("tb.")
	_, err := gojit.LoadBytes(archiveWith(t, fuzzedText, []byte(state.String())))
	if err == nil || !strings.Contains(err.Error(), "stands for more than") {
		t.Errorf("got %v", err)
	}
}
