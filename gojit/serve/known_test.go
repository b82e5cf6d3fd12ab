package serve

import (
	"fmt"
	"testing"
)

// What was read of requests is kept, within bounds, and not what names one request alone.
func TestMessagesAreKeptWithinBounds(t *testing.T) {
	var k messages
	read := func(text string) *message {
		m, err := k.of([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if first := read(`{"inputs":[{"name":"x"}]}`); first != read(`{"inputs":[{"name":"x"}]}`) || first.Inputs[0].Name != "x" {
		t.Error("a message is read again")
	}
	if one, other := read(`{"id":"7"}`), read(`{"id":"7"}`); one == other {
		t.Error("a message of one request is kept")
	}
	if _, err := k.of([]byte(`{"inputs":`)); err == nil {
		t.Error("half a message was read")
	}
	for i := range 3 * mostMessages {
		read(fmt.Sprintf(`{"inputs":[{"name":"x%d"}]}`, i))
	}
	read(fmt.Sprintf(`{"inputs":[{"name":"%*d"}]}`, longestMessage, 1))
	for text := range k.known {
		if len(text) > longestMessage {
			t.Errorf("a message of %d bytes is kept", len(text))
		}
	}
	if n := len(k.known); n == 0 || n > mostMessages {
		t.Errorf("%d messages are kept", n)
	}
}
