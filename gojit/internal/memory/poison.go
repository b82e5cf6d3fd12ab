package memory

import (
	"os"
	"slices"
	"strings"
)

// checks reports whether GOJIT_CHECK asks for a check.
func checks(name string) bool {
	return slices.Contains(strings.Split(os.Getenv("GOJIT_CHECK"), ","), name)
}

// Poisoning says that memory which was given back, and memory that may hold anything, holds Poison (GOJIT_CHECK=memory): who reads it has NaNs, negative
// integers or truths that are neither. Unlike guarded memory it is used again as it is without a check.
var Poisoning = checks("memory")

// PoisonByte makes every float a NaN.
const PoisonByte = 0xFF

// Poison fills memory whose elements nobody may ask for.
func Poison(memory []byte) {
	if Poisoning && len(memory) > 0 {
		fillWithPoison(memory)
	}
}

func fillWithPoison(memory []byte) {
	memory[0] = PoisonByte
	for n := 1; n < len(memory); n *= 2 {
		copy(memory[n:], memory[:n])
	}
}
