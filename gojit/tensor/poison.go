package tensor

import (
	"os"
	"slices"
	"strings"
)

// poisoning says that memory which was given back, and memory that may hold anything, holds poison (GOJIT_CHECK=memory): who reads it has NaNs, negative
// integers or truths that are neither. Unlike guarded memory it is used again as it is without a check.
var poisoning = slices.Contains(strings.Split(os.Getenv("GOJIT_CHECK"), ","), "memory")

// poisonByte makes every float a NaN.
const poisonByte = 0xFF

// poison fills memory whose elements nobody may ask for.
func poison(memory []byte) {
	if !poisoning || len(memory) == 0 {
		return
	}
	memory[0] = poisonByte
	for n := 1; n < len(memory); n *= 2 {
		copy(memory[n:], memory[:n])
	}
}
