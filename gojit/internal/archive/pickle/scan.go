package pickle

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// The limits on what a pickle holds, which are known before anything is made of it.
const (
	MaxValues = 1 << 24 // in the whole pickle
	MaxTuple  = 1 << 18 // in a tuple
)

// argument says what follows an opcode: its bytes, or a length that is followed by as many bytes, or lines.
type argument struct {
	bytes  int // that follow
	length int // bytes of a length
	lines  int // that follow
	effect int // how many values more are on the stack
	known  bool
}

var arguments = func() (table [256]argument) {
	set := func(ops string, a argument) {
		a.known = true
		for i := range len(ops) {
			table[ops[i]] = a
		}
	}
	set("N\x88\x89}])", argument{effect: 1})
	set("(.teu", argument{})
	set("\x85b", argument{})
	set("\x86as\x87R\x81", argument{effect: -1})
	table['\x87'].effect, table['s'].effect = -2, -2
	table['b'].effect = -1
	set("K", argument{bytes: 1, effect: 1})
	set("M", argument{bytes: 2, effect: 1})
	set("J", argument{bytes: 4, effect: 1})
	set("G", argument{bytes: 8, effect: 1})
	set("c", argument{lines: 2, effect: 1})
	set("\x8a", argument{length: 1, effect: 1})
	set("X", argument{length: 4, effect: 1})
	set("q", argument{bytes: 1})
	set("r", argument{bytes: 4})
	set("h", argument{bytes: 1, effect: 1})
	set("j", argument{bytes: 4, effect: 1})
	set("Q", argument{})
	return table
}()

// protocolSize is how many bytes every pickle begins with: PROTO and its number.
const protocolSize = 2

// scan reads the opcodes behind the protocol and makes nothing of them. It fails where a pickle has more values than the limits, where an opcode is not known,
// where the pickle has no end, and where something follows its end.
func scan(data []byte) error {
	var marks []int
	values, depth := 0, 0
	for at := protocolSize; at < len(data); {
		op := data[at]
		a := &arguments[op]
		at++
		if !a.known {
			return fmt.Errorf("pickle: the opcode %#02x is not allowed (at byte %d)", op, at)
		}
		switch op {
		case '.':
			if at != len(data) {
				return fmt.Errorf("pickle: %d bytes follow its stop (at byte %d)", len(data)-at, at)
			}
			return nil
		case '(':
			marks = append(marks, depth)
		case 't', 'e', 'u':
			if len(marks) == 0 {
				return fmt.Errorf("pickle: a group that was not begun (at byte %d)", at)
			}
			from := marks[len(marks)-1]
			marks = marks[:len(marks)-1]
			if op == 't' {
				if depth-from > MaxTuple {
					return fmt.Errorf("pickle: a tuple of %d values; at most %d are read (at byte %d)", depth-from, MaxTuple, at)
				}
				from++
			}
			depth = from
		}
		depth += a.effect
		if a.effect > 0 {
			if values++; values > MaxValues {
				return fmt.Errorf("pickle: more than %d values (at byte %d)", MaxValues, at)
			}
		}
		at += a.bytes
		for range a.lines {
			line := bytes.IndexByte(data[min(at, len(data)):], '\n')
			if line < 0 {
				return fmt.Errorf("pickle: a line without end (at byte %d)", at)
			}
			at += line + 1
		}
		if a.length > 0 {
			if a.length > len(data)-at {
				break
			}
			var full [8]byte
			copy(full[:], data[at:at+a.length])
			n := binary.LittleEndian.Uint64(full[:])
			if at += a.length; n > uint64(len(data)-at) {
				return fmt.Errorf("pickle: a string of %d bytes is announced and %d bytes are left (at byte %d)", n, len(data)-at, at)
			}
			at += int(n)
		}
	}
	return fmt.Errorf("pickle: the pickle ends before its stop (at byte %d)", len(data))
}
