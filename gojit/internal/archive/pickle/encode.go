package pickle

import (
	"encoding/binary"
	"math"
)

// Encoder writes a pickle of protocol 2, opcode by opcode. It numbers what is remembered from 0 on,
// in the order in which it is remembered. The zero Encoder is empty.
type Encoder struct {
	data    []byte
	strings map[string]int
	globals map[Global]int
	next    int
}

// NewEncoder returns an encoder that has written the protocol.
func NewEncoder() *Encoder {
	return &Encoder{data: []byte{0x80, 2}, strings: map[string]int{}, globals: map[Global]int{}}
}

// Len returns the number of bytes so far.
func (e *Encoder) Len() int { return len(e.data) }

// Finish ends the pickle and returns it.
func (e *Encoder) Finish() []byte { return append(e.data, '.') }

func (e *Encoder) op(op byte) { e.data = append(e.data, op) }

// None pushes None.
func (e *Encoder) None() { e.op('N') }

// Bool pushes a truth value.
func (e *Encoder) Bool(b bool) {
	if b {
		e.op(0x88)
	} else {
		e.op(0x89)
	}
}

// Int pushes an integer.
func (e *Encoder) Int(i int64) {
	switch {
	case i >= 0 && i < 1<<8:
		e.data = append(e.data, 'K', byte(i))
	case i >= 0 && i < 1<<16:
		e.data = binary.LittleEndian.AppendUint16(append(e.data, 'M'), uint16(i))
	case i >= math.MinInt32 && i <= math.MaxInt32:
		e.data = binary.LittleEndian.AppendUint32(append(e.data, 'J'), uint32(int32(i)))
	default:
		e.data = binary.LittleEndian.AppendUint64(append(e.data, 0x8a, 8), uint64(i))
	}
}

// Float pushes a number.
func (e *Encoder) Float(f float64) {
	e.data = binary.BigEndian.AppendUint64(append(e.data, 'G'), math.Float64bits(f))
}

// String pushes a string; one that occurs again is written once.
func (e *Encoder) String(s string) {
	if id, ok := e.strings[s]; ok {
		e.Recall(id)
		return
	}
	e.data = binary.LittleEndian.AppendUint32(append(e.data, 'X'), uint32(len(s)))
	e.data = append(e.data, s...)
	e.strings[s] = e.Remember()
}

// Global pushes a class or a function; one that occurs again is written once.
func (e *Encoder) Global(module, name string) {
	g := Global{module, name}
	if id, ok := e.globals[g]; ok {
		e.Recall(id)
		return
	}
	e.data = append(e.data, 'c')
	e.data = append(e.data, module+"\n"+name+"\n"...)
	e.globals[g] = e.Remember()
}

// Remember gives the value on top of the stack a number, and returns it.
func (e *Encoder) Remember() (id int) {
	id = e.next
	e.next++
	if id < 1<<8 {
		e.data = append(e.data, 'q', byte(id))
	} else {
		e.data = binary.LittleEndian.AppendUint32(append(e.data, 'r'), uint32(id))
	}
	return id
}

// Recall pushes what was remembered under a number.
func (e *Encoder) Recall(id int) {
	if id < 1<<8 {
		e.data = append(e.data, 'h', byte(id))
	} else {
		e.data = binary.LittleEndian.AppendUint32(append(e.data, 'j'), uint32(id))
	}
}

// Mark begins a group: Tuple, Append and SetItems end it.
func (e *Encoder) Mark() { e.op('(') }

// Tuple pushes a tuple of the group.
func (e *Encoder) Tuple() { e.op('t') }

// EmptyTuple pushes ().
func (e *Encoder) EmptyTuple() { e.op(')') }

// EmptyList pushes an empty list.
func (e *Encoder) EmptyList() { e.op(']') }

// Append appends the group to the list before it.
func (e *Encoder) Append() { e.op('e') }

// EmptyDict pushes an empty dictionary.
func (e *Encoder) EmptyDict() { e.op('}') }

// SetItems sets the pairs of the group in the dictionary before it.
func (e *Encoder) SetItems() { e.op('u') }

// Reduce calls a global with the arguments on top of it.
func (e *Encoder) Reduce() { e.op('R') }

// NewObject makes an instance of a global with the arguments on top of it.
func (e *Encoder) NewObject() { e.op(0x81) }

// Build gives the object below it a state.
func (e *Encoder) Build() { e.op('b') }

// Persistent makes a reference of the value on top of the stack.
func (e *Encoder) Persistent() { e.op('Q') }
