package tile

import (
	"math"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Butterflies describes a kernel for one pass of discrete Fourier transforms, a transform in each lane of a vector. A
// number is two vectors, of the real parts and of the imaginary parts. Numbers x[q + s*(p + m*j)] of a transform give
//
//	y[q + s*(r*p + k)] = w[p][k] * sum over j of x[q + s*(p + m*j)] * e**(-2πi j k/r)
//
// for all q < s, p < m, j and k < r, which is Radix. The factors w are 1 without Twiddles; else w[p][0] is one and is not stored, unless All.
type Butterflies struct {
	ISA      asm.ISA
	Double   bool
	Radix    uint8
	Backward bool // exponents have the other sign
	Twiddles bool
	All      bool
	In, Out  int32 // bytes from one j and from one k to the next: s*m and s numbers
}

// ButterfliesArgs is what a kernel of Butterflies receives. Twiddles are real part, imaginary part; with AVX2 each of them a
// whole vector.
type ButterfliesArgs struct {
	From, To     unsafe.Pointer
	Twiddles     unsafe.Pointer
	Inner, Outer int64 // s and m
}

const (
	butterflyFrom = 8 * iota
	butterflyTo
	butterflyTwiddles
	butterflyInner
	butterflyOuter
)

const (
	butterflyX     = asm.RAX
	butterflyY     = asm.RCX
	butterflyW     = asm.RBX
	butterflyQ     = asm.RSI
	butterflyP     = asm.RDX
	butterflyTable = asm.R8
)

// HasRadix reports whether passes of a radix have kernels: those whose numbers fit in the registers.
func HasRadix(isa asm.ISA, radix int) bool {
	switch radix {
	case 1, 2, 3, 4, 5:
		return true
	case 7, 8, 11, 13:
		return isa == asm.AVX512
	}
	return false
}

// Code returns the kernel's code, made once.
func (k Butterflies) Code() *asm.Code { return butterflies.Get(k, k.ISA) }

var butterflies Kernels[Butterflies]

// butterflyWriter encodes one kernel.
type butterflyWriter struct {
	*asm.Assembler
	k                   Butterflies
	width               asm.Width
	bytes               int32 // of a vector
	plus, less, times   asm.Op
	addProduct, takeOff asm.Op
	twiddle             int32 // bytes of a part of a factor
}

// Encode appends the kernel's code.
func (k Butterflies) Encode(a *asm.Assembler) {
	w := &butterflyWriter{Assembler: a, k: k, width: k.ISA.Width(), bytes: int32(k.ISA.Width().Bytes())}
	w.plus, w.less, w.times, w.addProduct, w.takeOff = asm.ADDPS, asm.SUBPS, asm.MULPS, asm.FMADD231PS, asm.FNMADD231PS
	w.twiddle = 4
	if k.Double {
		w.plus, w.less, w.times, w.addProduct, w.takeOff = asm.ADDPD, asm.SUBPD, asm.MULPD, asm.FMADD231PD, asm.FNMADD231PD
		w.twiddle = 8
	}
	if k.ISA != asm.AVX512 {
		w.twiddle = w.bytes
	}
	a.Load(butterflyX, asm.At(asm.RDI, butterflyFrom))
	a.Load(butterflyY, asm.At(asm.RDI, butterflyTo))
	a.Load(butterflyW, asm.At(asm.RDI, butterflyTwiddles))
	a.Load(butterflyP, asm.At(asm.RDI, butterflyOuter))
	if table := rootsTable(int(k.Radix), k.Double); table != nil {
		a.MoveImm(butterflyTable, int64(uintptr(table)))
	}
	outer := a.Here()
	a.Load(butterflyQ, asm.At(asm.RDI, butterflyInner))
	a.Align(16)
	inner := a.Here()
	w.butterfly()
	a.AddImm(butterflyX, 2*w.bytes)
	a.AddImm(butterflyY, 2*w.bytes)
	a.Dec(butterflyQ)
	a.JumpIf(asm.NotEqual, inner)
	if k.Twiddles {
		factors := int32(k.Radix) - 1
		if k.All {
			factors++
		}
		a.AddImm(butterflyW, 2*factors*w.twiddle)
	}
	if k.Radix > 1 {
		a.AddImm(butterflyY, int32(k.Radix-1)*k.Out)
	}
	a.Dec(butterflyP)
	a.JumpIf(asm.NotEqual, outer)
	a.ZeroUpper()
	a.Ret()
}

func (w *butterflyWriter) butterfly() {
	switch r := int(w.k.Radix); r {
	case 1:
		w.load(0, 0)
		w.store(0, 0, 1, 2)
	case 2:
		w.load(0, 0)
		w.load(1, 2)
		w.apart(0, 2, 4)
		w.store(0, 0, 1, 6)
		w.store(1, 2, 3, 6)
	case 4:
		for j := range 4 {
			w.load(j, asm.Reg(2*j))
		}
		w.four([4]asm.Reg{0, 2, 4, 6}, [4]int{0, 1, 2, 3}, 8)
	case 8:
		w.eight()
	default:
		w.odd(r)
	}
}

// load reads number j into a register and the next one.
func (w *butterflyWriter) load(j int, to asm.Reg) {
	at := int32(j) * w.k.In
	w.V(asm.MOVUPS, w.width, to, 0, asm.M(asm.At(butterflyX, at)))
	w.V(asm.MOVUPS, w.width, to+1, 0, asm.M(asm.At(butterflyX, at+w.bytes)))
}

// store writes result k, multiplied with its factor; the registers may be changed.
func (w *butterflyWriter) store(k int, re, im, temporary asm.Reg) {
	if r := int(w.k.Radix); w.k.Backward && k > 0 {
		k = r - k
	}
	if w.k.Twiddles && (k > 0 || w.k.All) {
		n := k
		if !w.k.All {
			n--
		}
		wr, wi := w.factor(2*n), w.factor(2*n+1)
		w.V(w.times, w.width, temporary, im, wr)
		w.V(w.addProduct, w.width, temporary, re, wi)
		w.V(w.times, w.width, re, re, wr)
		w.V(w.takeOff, w.width, re, im, wi)
		im = temporary
	}
	at := int32(k) * w.k.Out
	w.V(asm.MOVUPSstore, w.width, re, 0, asm.M(asm.At(butterflyY, at)))
	w.V(asm.MOVUPSstore, w.width, im, 0, asm.M(asm.At(butterflyY, at+w.bytes)))
}

// factor is part i of the factors of this p.
func (w *butterflyWriter) factor(i int) asm.Operand {
	at := asm.At(butterflyW, int32(i)*w.twiddle)
	if w.k.ISA == asm.AVX512 {
		return asm.Splat(at)
	}
	return asm.M(at)
}

// apart replaces numbers x and y by their sum and their difference.
func (w *butterflyWriter) apart(x, y, temporary asm.Reg) {
	for part := range asm.Reg(2) {
		w.V(w.less, w.width, temporary, x+part, asm.R(y+part))
		w.V(w.plus, w.width, x+part, x+part, asm.R(y+part))
		w.V(asm.MOVAPS, w.width, y+part, 0, asm.R(temporary))
	}
}

// four transforms four numbers and stores the results as those that places says.
func (w *butterflyWriter) four(x [4]asm.Reg, places [4]int, temporary asm.Reg) {
	w.apart(x[0], x[2], temporary) // x0 + x2, x0 - x2
	w.apart(x[1], x[3], temporary) // x1 + x3, x1 - x3
	w.apart(x[0], x[1], temporary)
	w.store(places[0], x[0], x[0]+1, temporary)
	w.store(places[2], x[1], x[1]+1, temporary)
	// x2 - i*x3 and x2 + i*x3
	b, d := x[2], x[3]
	w.V(w.plus, w.width, temporary, b, asm.R(d+1))
	w.V(w.less, w.width, b, b, asm.R(d+1))
	w.V(w.less, w.width, d+1, b+1, asm.R(d))
	w.V(w.plus, w.width, b+1, b+1, asm.R(d))
	w.store(places[1], temporary, d+1, d)
	w.store(places[3], b, b+1, d)
}

// eight transforms eight numbers as two times four.
func (w *butterflyWriter) eight() {
	const temporary = asm.Reg(16)
	for j := range 4 {
		w.load(j, asm.Reg(2*j))
		w.load(j+4, asm.Reg(2*j+8))
		w.apart(asm.Reg(2*j), asm.Reg(2*j+8), temporary)
	}
	root := asm.M(asm.At(butterflyTable, 0)) // of one half
	// The differences by e**(-πi j/4).
	one, two, three := asm.Reg(10), asm.Reg(12), asm.Reg(14)
	w.V(w.plus, w.width, temporary, one, asm.R(one+1))
	w.V(w.less, w.width, one+1, one+1, asm.R(one))
	w.V(w.times, w.width, one, temporary, root)
	w.V(w.times, w.width, one+1, one+1, root)
	w.V(w.less, w.width, temporary, three+1, asm.R(three))
	w.V(w.plus, w.width, three+1, three+1, asm.R(three))
	w.V(w.times, w.width, three, temporary, root)
	w.V(asm.PXOR, w.width, temporary, temporary, asm.R(temporary))
	w.V(w.takeOff, w.width, temporary, three+1, root)
	w.V(asm.MOVAPS, w.width, three+1, 0, asm.R(temporary))
	w.V(asm.MOVAPS, w.width, temporary, 0, asm.R(two)) // times -i
	w.V(asm.MOVAPS, w.width, two, 0, asm.R(two+1))
	w.V(asm.PXOR, w.width, two+1, two+1, asm.R(two+1))
	w.V(w.less, w.width, two+1, two+1, asm.R(temporary))
	w.four([4]asm.Reg{0, 2, 4, 6}, [4]int{0, 2, 4, 6}, temporary)
	w.four([4]asm.Reg{8, one, two, three}, [4]int{1, 3, 5, 7}, temporary)
}

// odd transforms an odd number of them: sums and differences of pairs that lie alike from both ends need cosines and sines only.
func (w *butterflyWriter) odd(r int) {
	half := (r - 1) / 2
	sum := func(j int) asm.Reg { return asm.Reg(4*j - 2) } // and the difference behind it
	w.load(0, 0)
	a, b := asm.Reg(4*half+2), asm.Reg(4*half+4)
	temporary := b + 2
	for j := 1; j <= half; j++ {
		w.load(j, sum(j))
		w.load(r-j, sum(j)+2)
		w.apart(sum(j), sum(j)+2, temporary)
	}
	for k := 1; k <= half; k++ {
		for part := range asm.Reg(2) {
			w.V(asm.MOVAPS, w.width, a+part, 0, asm.R(part))
			for j := 1; j <= half; j++ {
				w.V(w.addProduct, w.width, a+part, sum(j)+part, w.root(r, j*k%r, false))
				op := w.addProduct
				if j == 1 {
					op = w.times
				}
				w.V(op, w.width, b+part, sum(j)+2+part, w.root(r, j*k%r, true))
			}
		}
		// a - i*b and a + i*b
		w.V(w.plus, w.width, temporary, a, asm.R(b+1))
		w.V(w.less, w.width, a, a, asm.R(b+1))
		w.V(w.less, w.width, b+1, a+1, asm.R(b))
		w.V(w.plus, w.width, a+1, a+1, asm.R(b))
		w.store(k, temporary, b+1, b)
		w.store(r-k, a, a+1, b)
	}
	for j := 1; j <= half; j++ {
		w.V(w.plus, w.width, 0, 0, asm.R(sum(j)))
		w.V(w.plus, w.width, 1, 1, asm.R(sum(j)+1))
	}
	w.store(0, 0, 1, a)
}

// root is the cosine or sine of 2π n/r as an operand.
func (w *butterflyWriter) root(r, n int, sine bool) asm.Operand {
	if sine {
		n += r
	}
	return asm.M(asm.At(butterflyTable, int32(64*n)))
}

// Tables of whole vectors of roots, which code refers to: they stay for good.
var rootTables struct {
	mu    sync.Mutex
	table map[[2]int][]uint64
}

// rootsTable returns the constants of a radix: cosines and sines, or for eight the root of one half; nil for none.
func rootsTable(r int, double bool) unsafe.Pointer {
	if r <= 2 || r == 4 {
		return nil
	}
	t := &rootTables
	t.mu.Lock()
	defer t.mu.Unlock()
	key := [2]int{r, bit(double)}
	if t.table == nil {
		t.table = map[[2]int][]uint64{}
	}
	words := t.table[key]
	if words == nil {
		add := func(v float64) {
			word := math.Float64bits(v)
			if !double {
				word = uint64(math.Float32bits(float32(v))) * (1<<32 + 1)
			}
			for range 8 {
				words = append(words, word)
			}
		}
		if r == 8 {
			add(math.Sqrt(0.5))
		} else {
			for n := range 2 * r {
				s, c := math.Sincos(2 * math.Pi * float64(n%r) / float64(r))
				if n >= r {
					c = s
				}
				add(c)
			}
		}
		t.table[key] = words
	}
	return unsafe.Pointer(&words[0])
}
