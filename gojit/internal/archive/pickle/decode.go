// Package pickle reads the pickles of PyTorch's archives as data, and writes them.
//
// They are of protocol 2, and of its opcodes those are read that have one meaning for all readers.
//
// The machine is closed: it imports nothing and calls nothing. A class or function is a Global,
// the call of one a Call, an instance an Object; what they mean is for the reader of the result to
// say. Values that a pickle refers to twice are the same pointer. The package knows nothing of
// tensors or programs.
package pickle

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Global names a class or a function.
type Global struct{ Module, Name string }

// String returns "module.name".
func (g Global) String() string { return g.Module + "." + g.Name }

// Call is the call of a global with arguments: a *Tuple, or another value for the odd pickles that
// pass one.
type Call struct {
	Callee Global
	Args   any
}

// Object is an instance of a class, made without arguments, with its state: nil where none was set.
type Object struct {
	Class Global
	State any
	built bool // the state was set
}

// Tuple is an immutable sequence.
type Tuple struct{ Items []any }

// List is a mutable sequence.
type List struct{ Items []any }

// Dict holds pairs in the order of the pickle.
type Dict struct{ Keys, Values []any }

// Get returns the value at a string key.
func (d *Dict) Get(key string) (v any, ok bool) {
	for i, k := range d.Keys {
		if k == key {
			return d.Values[i], true
		}
	}
	return nil, false
}

// PersistentID is a reference to something outside the pickle: a storage.
type PersistentID struct{ ID any }

// mark is on the stack where a group begins.
type mark struct{}

// maxMemo bounds the numbers under which values are remembered.
const maxMemo = 1 << 24

// Decode reads one pickle. The result is made of nil, bool, int64, float64, string and the types of this package. It fails on an opcode that
// PyTorch's archives do not use, on every malformed pickle, on what is left on the stack and behind the end, and, before anything is made, on
// more values than MaxValues and MaxTuple.
func Decode(data []byte) (v any, err error) {
	d := &decoder{data: data, memo: map[int]any{}}
	if err := d.protocol(); err != nil {
		return nil, err
	}
	if err := scan(data); err != nil {
		return nil, err
	}
	return d.run()
}

type decoder struct {
	data  []byte
	pos   int
	stack []any
	memo  map[int]any
}

func (d *decoder) errorf(format string, args ...any) error {
	return fmt.Errorf("pickle: %s (at byte %d)", fmt.Sprintf(format, args...), d.pos)
}

func (d *decoder) take(n int) ([]byte, error) {
	if n < 0 || n > len(d.data)-d.pos {
		return nil, d.errorf("%d bytes are expected and %d are left", n, len(d.data)-d.pos)
	}
	b := d.data[d.pos : d.pos+n]
	d.pos += n
	return b, nil
}

// number reads an unsigned little-endian number of n bytes.
func (d *decoder) number(n int) (uint64, error) {
	b, err := d.take(n)
	if err != nil {
		return 0, err
	}
	var full [8]byte
	copy(full[:], b)
	return binary.LittleEndian.Uint64(full[:]), nil
}

// counted reads a string whose length is a number of n bytes before it.
func (d *decoder) counted(n int) (string, error) {
	size, err := d.number(n)
	if err != nil {
		return "", err
	}
	if size > uint64(len(d.data)-d.pos) {
		return "", d.errorf("a string of %d bytes is announced and %d bytes are left", size, len(d.data)-d.pos)
	}
	b, err := d.take(int(size))
	return string(b), err
}

func (d *decoder) textLine() (string, error) {
	for i := d.pos; i < len(d.data); i++ {
		if d.data[i] == '\n' {
			line := string(d.data[d.pos:i])
			d.pos = i + 1
			return line, nil
		}
	}
	return "", d.errorf("a line without end")
}

func (d *decoder) push(v any) { d.stack = append(d.stack, v) }

func (d *decoder) pop() (any, error) {
	if len(d.stack) == 0 {
		return nil, d.errorf("the stack is empty")
	}
	v := d.stack[len(d.stack)-1]
	d.stack = d.stack[:len(d.stack)-1]
	if _, isMark := v.(mark); isMark {
		return nil, d.errorf("a value is expected where a group begins")
	}
	return v, nil
}

func (d *decoder) top() (any, error) {
	if len(d.stack) == 0 {
		return nil, d.errorf("the stack is empty")
	}
	v := d.stack[len(d.stack)-1]
	if _, isMark := v.(mark); isMark {
		return nil, d.errorf("a value is expected where a group begins")
	}
	return v, nil
}

// group pops the values above the last mark, and the mark.
func (d *decoder) group() ([]any, error) {
	for i := len(d.stack) - 1; i >= 0; i-- {
		if _, isMark := d.stack[i].(mark); isMark {
			items := append([]any(nil), d.stack[i+1:]...)
			d.stack = d.stack[:i]
			return items, nil
		}
	}
	return nil, d.errorf("a group that was not begun")
}

// protocol reads what every pickle begins with.
func (d *decoder) protocol() error {
	head, err := d.take(2)
	switch {
	case err != nil:
		return d.errorf("Unexpected end of pickler archive.")
	case head[0] != 0x80:
		return d.errorf("Expected PROTO opcode at the start of pickle archive, found %d", head[0])
	case head[1] != 2:
		return d.errorf("Only Pickle protocol 2 is supported, found protocol = %d", head[1])
	}
	return nil
}

func (d *decoder) run() (any, error) {
	for {
		op, err := d.take(1)
		if err != nil {
			return nil, d.errorf("the pickle ends before its stop")
		}
		if op[0] == '.' {
			if len(d.stack) != 1 {
				return nil, d.errorf("Unpickler expected 1 element on the stack, but found %d", len(d.stack))
			}
			return d.pop()
		}
		if err := d.step(op[0]); err != nil {
			return nil, err
		}
	}
}

func (d *decoder) step(op byte) error {
	switch op {
	case 'N':
		d.push(nil)
	case 0x88:
		d.push(true)
	case 0x89:
		d.push(false)
	case '}':
		d.push(&Dict{})
	case ']':
		d.push(&List{})
	case ')':
		d.push(&Tuple{})
	case '(':
		d.push(mark{})
	case 'K', 'M', 'J', 'G', 0x8a:
		return d.numeric(op)
	case 'X':
		s, err := d.counted(4)
		d.push(s)
		return err
	case 't', 0x85, 0x86, 0x87:
		return d.tuple(op)
	case 'q', 'r', 'h', 'j':
		return d.remember(op)
	case 'a', 'e', 's', 'u':
		return d.fill(op)
	case 'c':
		return d.global()
	case 'R', 0x81, 'b', 'Q':
		return d.build(op)
	default:
		return d.errorf("the opcode %#02x is not allowed", op)
	}
	return nil
}

func (d *decoder) numeric(op byte) error {
	switch op {
	case 'K', 'M':
		size := 1
		if op == 'M' {
			size = 2
		}
		n, err := d.number(size)
		d.push(int64(n))
		return err
	case 'J':
		n, err := d.number(4)
		d.push(int64(int32(n)))
		return err
	case 'G':
		b, err := d.take(8)
		if err != nil {
			return err
		}
		d.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
		return nil
	case 0x8a: // LONG1
		size, err := d.number(1)
		if err == nil && size != 8 {
			err = d.errorf("Expected length to be 8, got %d", size)
		}
		if err != nil {
			return err
		}
		n, err := d.number(8)
		d.push(int64(n))
		return err
	}
	return nil
}

func (d *decoder) tuple(op byte) error {
	if op == 't' {
		items, err := d.group()
		d.push(&Tuple{items})
		return err
	}
	n := int(op-0x85) + 1
	items := make([]any, n)
	for i := n - 1; i >= 0; i-- {
		v, err := d.pop()
		if err != nil {
			return err
		}
		items[i] = v
	}
	d.push(&Tuple{items})
	return nil
}

func (d *decoder) remember(op byte) error {
	size := 1
	if op == 'r' || op == 'j' {
		size = 4
	}
	id, err := d.number(size)
	if err != nil {
		return err
	}
	if id > maxMemo {
		return d.errorf("a value is remembered under the number %d", id)
	}
	if op == 'h' || op == 'j' {
		v, ok := d.memo[int(id)]
		if !ok {
			return d.errorf("nothing is remembered under the number %d", id)
		}
		d.push(v)
		return nil
	}
	v, err := d.top()
	if err != nil {
		return err
	}
	d.memo[int(id)] = v
	return nil
}

func (d *decoder) fill(op byte) error {
	var items []any
	var err error
	switch op {
	case 'a', 's':
		n := 1
		if op == 's' {
			n = 2
		}
		items = make([]any, n)
		for i := n - 1; i >= 0; i-- {
			if items[i], err = d.pop(); err != nil {
				return err
			}
		}
	default:
		if items, err = d.group(); err != nil {
			return err
		}
	}
	container, err := d.top()
	if err != nil {
		return err
	}
	if op == 'a' || op == 'e' {
		l, ok := container.(*List)
		if !ok {
			return d.errorf("values are appended to what is no list")
		}
		l.Items = append(l.Items, items...)
		return nil
	}
	dict, ok := container.(*Dict)
	if !ok || len(items)%2 != 0 {
		return d.errorf("items are set in what is no dictionary")
	}
	for i := 0; i < len(items); i += 2 {
		dict.Keys = append(dict.Keys, items[i])
		dict.Values = append(dict.Values, items[i+1])
	}
	return nil
}

func (d *decoder) global() error {
	module, err := d.textLine()
	if err != nil {
		return err
	}
	name, err := d.textLine()
	d.push(Global{module, name})
	return err
}

func (d *decoder) build(op byte) error {
	arg, err := d.pop()
	if err != nil {
		return err
	}
	if op == 'Q' {
		d.push(&PersistentID{arg})
		return nil
	}
	target, err := d.pop()
	if err != nil {
		return err
	}
	if op == 'b' {
		o, ok := target.(*Object)
		if !ok {
			return d.errorf("state is set in what is no object")
		}
		if o.built {
			return d.errorf("the state of an object is set twice")
		}
		o.State, o.built = arg, true
		d.push(target)
		return nil
	}
	callee, ok := target.(Global)
	if !ok {
		return d.errorf("what is called is no global")
	}
	if op == 'R' {
		d.push(&Call{callee, arg})
		return nil
	}
	if args, isTuple := arg.(*Tuple); !isTuple || len(args.Items) > 0 {
		return d.errorf("a new object of %s has arguments", callee)
	}
	d.push(&Object{Class: callee})
	return nil
}
