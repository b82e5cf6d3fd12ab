package archive

import (
	"bytes"
	"encoding/binary"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/flatbuffer"
	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// IsFlat reports whether data is a file in PyTorch's mobile format as a FlatBuffer.
func IsFlat(data []byte) bool { return flatbuffer.Is(data, flatIdentifier) }

// ArchiveOfFlat returns the archive that says what a FlatBuffer says: source text, state, constants, bytecode and extra files. All that reads
// archives reads it.
func ArchiveOfFlat(data []byte) (made []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			m, ok := r.(flatbuffer.Malformed)
			if !ok {
				panic(r)
			}
			made, err = nil, archiveError("The FlatBuffer is damaged: %s", string(m))
		}
	}()
	r := &flatReader{root: flatbuffer.Open(data), left: flatRate*len(data) + 1<<20}
	r.values, r.classes = r.root.Tables(4), r.root.Tables(7)
	for _, s := range r.root.Tables(6) {
		r.storages = append(r.storages, r.spend(s.Bytes(0, 1)))
	}
	records, err := r.records()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = writeArchive(&b, noFile, records)
	return b.Bytes(), err
}

func damagedFlat(text string) { panic(flatbuffer.Malformed(text)) }

// flatRate is how many times its own size a FlatBuffer may say: its parts may lie over each other.
const flatRate = 16

type flatReader struct {
	root     flatbuffer.Table
	left     int // bytes that the archive may still have
	values   []flatbuffer.Table
	classes  []flatbuffer.Table
	storages [][]byte
}

// spend takes the size of what comes into the archive from what is left.
func (r *flatReader) spend(b []byte) []byte {
	if r.left -= len(b); r.left < 0 {
		damagedFlat("it says more than its size allows")
	}
	return b
}

func (r *flatReader) records() (records []record, err error) {
	sources := r.root.Tables(8)
	if len(sources) == 0 {
		return nil, archiveError("The FlatBuffer has bytecode alone: a module is read by its source text, which torch.jit.save_jit_module_to_flatbuffer writes")
	}
	for _, s := range sources {
		name := "code/" + strings.ReplaceAll(s.Text(0), ".", "/") + ".py"
		if path.Clean(name) != name {
			damagedFlat("a text of the program has no name")
		}
		records = append(records, record{name, r.spend(s.Bytes(1, 1))})
	}
	state := r.pickle("data")
	state.push(r.root.Uint32(3))
	records = append(records, state.finish()...)
	constants := r.pickle("constants")
	constants.e.Mark()
	for _, i := range r.root.Uint32s(9) {
		constants.push(i)
	}
	constants.e.Tuple()
	code := r.pickle("constants")
	code.keys, code.used = constants.keys, constants.used
	code.bytecode(r.root.Uint32s(2))
	constants.used = code.used
	records = append(records, constants.finish()...)
	records = append(records, record{"bytecode.pkl", code.e.Finish()}, record{"version", []byte(strconv.Itoa(maxVersion) + "\n")})
	extra := map[string][]byte{}
	for _, x := range r.root.Tables(1) {
		extra[x.Text(0)] = r.spend(x.Bytes(1, 1))
	}
	return appendExtra(records, extra)
}

// flatPickle writes values of a FlatBuffer as a pickle.
type flatPickle struct {
	r      *flatReader
	e      *pickle.Encoder
	folder string
	memo   map[int]int
	open   map[int]bool
	keys   map[int]int
	used   []int // the storages, by key
	depth  int
	spent  int // bytes of the pickle that the reader knows of
}

// account tells the reader of the bytes that the pickle has got.
func (p *flatPickle) account() {
	p.r.left -= p.e.Len() - p.spent
	p.spent = p.e.Len()
	p.r.spend(nil)
}

func (r *flatReader) pickle(folder string) *flatPickle {
	return &flatPickle{r: r, e: pickle.NewEncoder(), folder: folder, memo: map[int]int{}, open: map[int]bool{}, keys: map[int]int{}}
}

func (p *flatPickle) finish() (records []record) {
	for key, i := range p.used {
		records = append(records, record{p.folder + "/" + strconv.Itoa(key), p.r.storages[i]})
	}
	return append(records, record{p.folder + ".pkl", p.e.Finish()})
}

// content returns the kind of a value and the table that holds it.
func (p *flatPickle) content(i int) (kind uint8, v flatbuffer.Table) {
	if i >= len(p.r.values) {
		damagedFlat("a value refers to one that is not there")
	}
	v = p.r.values[i]
	return v.Uint8(0), v
}

// push pushes a value by its number.
func (p *flatPickle) push(i int) {
	p.account()
	kind, v := p.content(i)
	e := p.e
	switch kind {
	case flatNone:
		e.None()
	case flatInt:
		e.Int(int64(binary.LittleEndian.Uint64(v.Struct(1, 8))))
	case flatBool:
		e.Bool(v.Struct(1, 1)[0] != 0)
	case flatDouble:
		e.Float(math.Float64frombits(binary.LittleEndian.Uint64(v.Struct(1, 8))))
	case flatComplex:
		b := v.Struct(1, 16)
		e.Global("builtins", "complex")
		e.Mark()
		e.Float(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		e.Float(math.Float64frombits(binary.LittleEndian.Uint64(b[8:])))
		e.Tuple()
		e.Reduce()
	case flatString:
		e.String(v.Table(1).Text(0))
	case flatDevice:
		e.Global("torch", "device")
		e.Mark()
		e.String(v.Table(1).Text(0))
		e.Tuple()
		e.Reduce()
	default:
		p.shared(i, kind, v)
	}
}

func (p *flatPickle) shared(i int, kind uint8, v flatbuffer.Table) {
	if id, ok := p.memo[i]; ok {
		p.e.Recall(id)
		return
	}
	if p.open[i] {
		damagedFlat("a value holds itself")
	}
	if p.depth++; p.depth > maxDepth {
		damagedFlat("values are nested too deep")
	}
	p.open[i] = true
	p.compound(kind, v.Table(1))
	delete(p.open, i)
	p.depth--
	p.memo[i] = p.e.Remember()
}

func (p *flatPickle) all(indices []int) {
	for _, i := range indices {
		p.push(i)
	}
}

// global pushes a class by its qualified name.
func (p *flatPickle) global(name string) {
	dot := strings.LastIndexByte(name, '.')
	p.e.Global(name[:max(dot, 0)], name[dot+1:])
}

func (p *flatPickle) compound(kind uint8, v flatbuffer.Table) {
	e := p.e
	switch kind {
	case flatTensor:
		p.tensor(v)
	case flatTuple:
		e.Mark()
		p.all(v.Uint32s(0))
		e.Tuple()
	case flatList:
		p.built("restore_type_tag", func() { p.all(v.Uint32s(0)) }, v.Text(1))
	case flatIntList:
		p.built("build_intlist", func() { eachWord(v.Bytes(0, 8), func(x uint64) { e.Int(int64(x)) }) }, "")
	case flatDoubleList:
		p.built("build_doublelist", func() { eachWord(v.Bytes(0, 8), func(x uint64) { e.Float(math.Float64frombits(x)) }) }, "")
	case flatBoolList:
		p.built("build_boollist", func() {
			for _, x := range v.Bytes(0, 1) {
				e.Bool(x != 0)
			}
		}, "")
	case flatDict:
		p.dict(v)
	case flatEnum:
		p.global(v.Text(0))
		p.push(v.Uint32(1))
		e.Reduce()
	case flatObject:
		p.object(v)
	default:
		damagedFlat("a value is of kind " + strconv.Itoa(int(kind)))
	}
}

func eachWord(b []byte, f func(x uint64)) {
	for ; len(b) >= 8; b = b[8:] {
		f(binary.LittleEndian.Uint64(b))
	}
}

// built pushes a list that a function makes of items and of the text of its type.
func (p *flatPickle) built(builder string, items func(), text string) {
	e := p.e
	e.Global("torch.jit._pickle", builder)
	e.Mark()
	e.EmptyList()
	e.Mark()
	items()
	e.Append()
	if text != "" {
		e.String(text)
	}
	e.Tuple()
	e.Reduce()
}

func (p *flatPickle) dict(v flatbuffer.Table) {
	keys, elems := v.Uint32s(0), v.Uint32s(1)
	if len(keys) != len(elems) {
		damagedFlat("a dictionary has more keys than values, or less")
	}
	e := p.e
	e.Global("torch.jit._pickle", "restore_type_tag")
	e.Mark()
	e.EmptyDict()
	e.Mark()
	for i, k := range keys {
		p.push(k)
		p.push(elems[i])
	}
	e.SetItems()
	e.String(v.Text(2))
	e.Tuple()
	e.Reduce()
}

func (p *flatPickle) object(v flatbuffer.Table) {
	i := v.Uint32(0)
	if i >= len(p.r.classes) {
		damagedFlat("an object is of a class that is not there")
	}
	class := p.r.classes[i]
	p.global(class.Text(0))
	p.e.EmptyTuple()
	p.e.NewObject()
	switch class.Uint8(1) {
	case flatWithFields:
		names, attributes := class.Texts(2), v.Uint32s(2)
		if len(names) != len(attributes) {
			damagedFlat("an object has other attributes than its class")
		}
		p.e.EmptyDict()
		p.e.Mark()
		for k, name := range names {
			p.e.String(name)
			p.push(attributes[k])
		}
		p.e.SetItems()
	case flatNative, flatWithSetState:
		p.push(v.Uint32(1))
	default:
		damagedFlat("the state of a class stands in a way that is not known")
	}
	p.e.Build()
}

func (p *flatPickle) sizes(v flatbuffer.Table, field int) {
	p.e.Mark()
	for _, n := range v.Uint32s(field) {
		p.e.Int(int64(int32(uint32(n))))
	}
	p.e.Tuple()
}

func (p *flatPickle) tensor(v flatbuffer.Table) {
	i, dtype := v.Uint32(0), tensor.DType(v.Uint8(1))
	if i >= len(p.r.storages) || int(dtype) >= len(storageClasses) || storageClasses[dtype] == "" {
		damagedFlat("a tensor has no memory, or no type of elements")
	}
	key, ok := p.keys[i]
	if !ok {
		key = len(p.used)
		p.keys[i] = key
		p.used = append(p.used, i)
	}
	e := p.e
	quantized := v.Has(6)
	if quantized {
		e.Global("torch._utils", "_rebuild_qtensor")
	} else {
		e.Global("torch._utils", "_rebuild_tensor_v2")
	}
	e.Mark()
	e.Mark()
	e.String("storage")
	e.Global("torch", storageClasses[dtype])
	e.String(strconv.Itoa(key))
	e.String("cpu")
	e.Int(int64(len(p.r.storages[i]) / dtype.Size()))
	e.Tuple()
	e.Persistent()
	e.Int(int64(v.Int32(2, 0)))
	p.sizes(v, 3)
	p.sizes(v, 4)
	if quantized {
		p.quantizer(v.Table(6))
	}
	e.Bool(v.Uint8(5) != 0)
	e.Global("collections", "OrderedDict")
	e.EmptyTuple()
	e.Reduce()
	e.Tuple()
	e.Reduce()
}

func (p *flatPickle) quantizer(v flatbuffer.Table) {
	scheme := int(v.Uint8(0))
	if scheme >= len(flatSchemes) {
		damagedFlat("a tensor is quantized in a way that is not known")
	}
	p.e.Mark()
	p.e.Global("torch", flatSchemes[scheme])
	if !v.Has(3) {
		p.e.Float(v.Float64(1))
		p.e.Int(int64(v.Int32(2, 0)))
		p.e.Tuple()
		return
	}
	p.tensor(v.Table(3))
	p.tensor(v.Table(4))
	p.e.Int(int64(v.Int32(5, 0)))
	p.e.Tuple()
}

// bytecode pushes functions by their numbers, as archives for the lite interpreter have them.
func (p *flatPickle) bytecode(functions []int) {
	e := p.e
	e.Mark()
	e.Int(int64(p.r.root.Uint32(0)))
	for _, i := range functions {
		kind, v := p.content(i)
		if kind != flatFunction {
			damagedFlat("a method is no function")
		}
		p.function(v.Table(1))
		p.account()
	}
	e.Tuple()
}

func (p *flatPickle) function(v flatbuffer.Table) {
	e := p.e
	e.Mark()
	e.String(v.Text(0))
	e.Mark()
	var words []uint64
	eachWord(v.Bytes(1, 8), func(x uint64) { words = append(words, x) })
	table(e, "instructions", words, func(x uint64) {
		if int(x&0xff) >= len(flatOpcodes) {
			damagedFlat("an instruction is not known")
		}
		e.Mark()
		e.String(flatOpcodes[x&0xff])
		e.Int(int64(int32(x >> 32)))
		e.Int(int64(x >> 16 & 0xffff))
		e.Tuple()
	})
	table(e, "operators", v.Tables(2), func(o flatbuffer.Table) {
		e.Mark()
		e.String(o.Text(0))
		e.String(o.Text(1))
		e.Int(int64(o.Int32(2, -1)))
		e.Tuple()
	})
	table(e, "constants", v.Uint32s(3), p.push)
	table(e, "types", v.Texts(4), e.String)
	e.Mark()
	e.String("register_size")
	e.Int(int64(v.Int32(5, 0)))
	e.Tuple()
	e.Tuple()
	e.Mark()
	schema := v.Table(6)
	for i, name := range []string{"arguments", "returns"} {
		table(e, name, schema.Tables(i), func(a flatbuffer.Table) {
			e.Mark()
			entry(e, "name", func() { e.String(a.Text(0)) })
			entry(e, "type", func() { e.String(a.Text(1)) })
			entry(e, "default_value", func() { p.push(a.Uint32(2)) })
			e.Tuple()
		})
	}
	e.Tuple()
	e.Tuple()
}

// entry pushes (name, value).
func entry(e *pickle.Encoder, name string, push func()) {
	e.Mark()
	e.String(name)
	push()
	e.Tuple()
}
