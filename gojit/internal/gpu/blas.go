package gpu

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// blas has the functions of cuBLAS that are used here.
type blas struct {
	file                       string
	lt                         blasLt
	cublasCreate_v2            func(handle *uintptr) int32
	cublasDestroy_v2           func(handle uintptr) int32
	cublasGetVersion_v2        func(handle uintptr, version *int32) int32
	cublasGetStatusName        func(code int32) *byte
	cublasSetStream_v2         func(handle, stream uintptr) int32
	cublasSetWorkspace_v2      func(handle uintptr, at pointer, bytes uint64) int32
	cublasSetMathMode          func(handle uintptr, mode int32) int32
	cublasGemmEx               procedure // (handle, opA, opB, m, n, k, *alpha, A, typeA, ldA, B, typeB, ldB, *beta, C, typeC, ldC, compute, algorithm)
	cublasGemmStridedBatchedEx procedure // the same with a step behind each ld, and the number of products before compute
	// by solverLetters: (handle, side, triangle, form, unit, m, n, *alpha, A, ldA, B, ldB), and of lists of matrices with their number behind
	trsm, trsmBatched [4]procedure
}

// Numbers of cuBLAS.
const (
	blasAllocFailed    = 3
	blasNotSupported   = 15
	blasAsIs           = 0 // operations on matrices
	blasTransposed     = 1
	blasDefault        = -1 // the algorithm that cuBLAS chooses
	blasDefaultMath    = 0
	blasNoReducedSums  = 16 // a bit of the mode of computing
	blasCompute32      = 68
	blasCompute64      = 70
	blasCompute32ByTF  = 77
	blasWorkspace      = 8 << 20
	blasWorkspaceFor90 = 32 << 20 // from capability 9.0 on, as NVIDIA advises
)

// dataTypes are the element types as CUDA's libraries number them.
var dataTypes = map[tensor.DType]int32{tensor.Float32: 0, tensor.Float64: 1, tensor.Float16: 2, tensor.BFloat16: 14, tensor.Complex64: 4, tensor.Complex128: 5}

// What products are scaled by: a complex number begins with the real one of its precision.
var (
	zero, one     = complex128(0), complex128(1)
	zero32, one32 = complex64(0), complex64(1)
)

// openBLAS opens cuBLAS.
func openBLAS(f *finder) (*blas, error) {
	l, err := f.openOptional(wantedBLAS)
	if err != nil {
		return nil, err
	}
	b := &blas{file: l.name}
	if err := b.lt.bind(l); err != nil { // cuBLAS is made of it
		return nil, err
	}
	functions := map[string]any{
		"cublasCreate_v2": &b.cublasCreate_v2, "cublasDestroy_v2": &b.cublasDestroy_v2, "cublasGetVersion_v2": &b.cublasGetVersion_v2,
		"cublasGetStatusName": &b.cublasGetStatusName, "cublasSetStream_v2": &b.cublasSetStream_v2, "cublasSetWorkspace_v2": &b.cublasSetWorkspace_v2,
		"cublasSetMathMode": &b.cublasSetMathMode, "cublasGemmEx": &b.cublasGemmEx, "cublasGemmStridedBatchedEx": &b.cublasGemmStridedBatchedEx,
	}
	for i, letter := range solverLetters {
		functions["cublas"+string(letter)+"trsm_v2"] = &b.trsm[i]
		functions["cublas"+string(letter)+"trsmBatched"] = &b.trsmBatched[i]
	}
	return b, bind(l, functions)
}

// check turns a code that a function of cuBLAS returned into an error.
func (b *blas) check(name string, code int32) error {
	return libraryError("cuBLAS", name, code, b.cublasGetStatusName)
}

// productLibrary is cuBLAS for one device. The lock guards all but what the beginning writes; a handle is used by one thread at a time.
type productLibrary struct {
	beginning
	blas      *blas
	version   int32
	mu        sync.Mutex
	handle    uintptr
	isBound   bool // to a stream and a workspace
	stream    uintptr
	workspace *Memory
	mode      int32
	sums      map[sumKey]*sum
}

// products returns cuBLAS for the device, nil where it is not used.
func (v *Device) products() *productLibrary {
	p := &v.product
	if !p.done(v, func() error { return v.beginProducts(p) }, p.text) {
		return nil
	}
	return p
}

func (v *Device) beginProducts(p *productLibrary) (err error) {
	if p.blas, err = v.driver.blas(); err != nil {
		return err
	}
	b := p.blas
	return v.do(func() error {
		code := b.cublasCreate_v2(&p.handle)
		if code == blasAllocFailed {
			v.giveUpMemory()
			code = b.cublasCreate_v2(&p.handle)
		}
		if err := b.check("cublasCreate", code); err != nil {
			return err
		}
		return b.check("cublasGetVersion", b.cublasGetVersion_v2(p.handle, &p.version))
	})
}

// bind has the library compute on the calling goroutine's stream with memory that is the stream's. The lock is held, the context current.
func (p *productLibrary) bind(v *Device) error {
	bytes := blasWorkspace
	if v.major >= 9 {
		bytes = blasWorkspaceFor90
	}
	s := v.Stream()
	workspace, err := s.workspace(bytes)
	if err != nil || p.isBound && p.stream == s.handle && p.workspace == workspace {
		return err
	}
	stream := s.handle
	p.workspace, p.isBound = workspace, false
	if err := p.blas.check("cublasSetStream", p.blas.cublasSetStream_v2(p.handle, stream)); err != nil {
		return err
	}
	if err := p.blas.check("cublasSetWorkspace", p.blas.cublasSetWorkspace_v2(p.handle, p.workspace.at, uint64(p.workspace.bytes))); err != nil { // a new stream forgets it
		return err
	}
	p.isBound, p.stream = true, stream
	return nil
}

// factor is a matrix, or a batch of them, as cuBLAS reads it: by columns, so that a matrix by rows is its transposed.
type factor struct {
	at uintptr
	order
}

// order is how a matrix, or a batch of them, lies.
type order struct {
	operation int32
	leading   int
	step      int // from one matrix to the next
}

// made is a tensor that was made for one call, nil for none.
type made struct{ *tensor.Tensor }

func (m made) release() {
	if m.Tensor != nil {
		m.Release()
	}
}

// factorOf describes a matrix, or a copy that is made where neither its rows nor its columns lie one after another.
func (v *Device) factorOf(t *tensor.Tensor) (f factor, copied made, err error) {
	f, ok := factorOf(t)
	if !ok {
		if copied.Tensor, err = v.contiguous(t, t.DType()); err == nil {
			f, _ = factorOf(copied.Tensor)
		}
	}
	return f, copied, err
}

// factorOf describes a matrix; ok is false where no leading dimension tells how it lies.
func factorOf(t *tensor.Tensor) (f factor, ok bool) {
	n, strides := t.Dim(), t.Strides()
	rows, columns, byRow, byColumn := t.Size(n-2), t.Size(n-1), strides[n-2], strides[n-1]
	f.at = uintptr(t.Address())
	if n == 3 {
		f.step = strides[0]
	}
	switch {
	case (byColumn == 1 || columns == 1) && (byRow >= columns || rows == 1):
		f.operation, f.leading = blasAsIs, byRow
		if rows == 1 {
			f.leading = columns
		}
	case (byRow == 1 || rows == 1) && (byColumn >= rows || columns == 1):
		f.operation, f.leading = blasTransposed, byColumn
		if columns == 1 {
			f.leading = rows
		}
	default:
		return f, false
	}
	return f, f.leading <= math.MaxInt32
}

// Multiply has cuBLAS multiply matrices.
func (b *Backend) Multiply(m *kernel.Product) (done bool, err error) {
	v, err := b.Device(m.Out.Device())
	if err != nil {
		return false, err
	}
	d := m.Out.DType()
	if _, ok := dataTypes[d]; !ok || m.Left.DType() != d || m.Right.DType() != d {
		return false, nil
	}
	p := v.products()
	if p == nil {
		return false, nil
	}
	n := m.Out.Dim()
	batch, rows, columns, depth := 1, m.Out.Size(n-2), m.Out.Size(n-1), m.Left.Size(n-1)
	if n == 3 {
		batch = m.Out.Size(0)
	}
	if min(batch, rows, columns, depth) == 0 {
		return false, nil
	}
	if max(batch, rows, columns, depth) > math.MaxInt32 {
		v.logLibrary("cuBLAS is not used for %d products of %d by %d by %d: at most %d are numbered", batch, rows, depth, columns, math.MaxInt32)
		return false, nil
	}
	out, _ := factorOf(m.Out)
	left, madeLeft, err := v.factorOf(m.Left)
	if err != nil {
		return false, err
	}
	defer madeLeft.release()
	right, madeRight, err := v.factorOf(m.Right)
	if err != nil {
		return false, err
	}
	defer madeRight.release()
	size := productSize{d, batch, rows, columns, depth}
	if m.Added != nil {
		if done, err := p.multiplyAndAdd(v, m, size, &out, &left, &right); done || err != nil {
			return done, err
		}
		if err := v.convert(m.Out, m.Added); err != nil {
			return false, err
		}
	}
	name := "cublasGemmEx"
	if batch > 1 {
		name = "cublasGemmStridedBatchedEx"
	}
	err = v.do(func() error {
		var code int32
		if code, err = p.multiply(v, size, &out, &left, &right, m.Added != nil); err != nil {
			return err
		}
		if code == blasAllocFailed { // cuBLAS takes memory of its own, too
			v.giveUpMemory()
			if code, err = p.multiply(v, size, &out, &left, &right, m.Added != nil); err != nil {
				return err
			}
		}
		if done = code == 0; code == blasNotSupported {
			v.logLibrary("cuBLAS does not support a product of %s, %d by %d by %d: it is not used", d, rows, depth, columns)
			return nil
		}
		return p.blas.check(name, code)
	})
	runtime.KeepAlive(m)
	return done, err
}

// productSize is what is multiplied: matrices of a type, rows by depth and depth by columns.
type productSize struct {
	d                           tensor.DType
	batch, rows, columns, depth int
}

// computing returns what cuBLAS computes in, and whether parts of sums may be rounded to the type of the result.
func (s *productSize) computing() (compute int32, isReduced bool) {
	switch s.d {
	case tensor.Float64, tensor.Complex128:
		return blasCompute64, true
	case tensor.Float16:
		return blasCompute32, ReducedHalfSums.IsSet()
	case tensor.BFloat16:
		return blasCompute32, ReducedBFloat16Sums.IsSet()
	}
	if TF32Products.IsSet() {
		return blasCompute32ByTF, true
	}
	return blasCompute32, true
}

// scales returns where the numbers are that products, and what is added to them, are multiplied by.
func (s *productSize) scales(add bool) (alpha, beta uintptr) {
	alpha, beta = uintptr(unsafe.Pointer(&one32)), uintptr(unsafe.Pointer(&zero32))
	if s.d == tensor.Float64 || s.d == tensor.Complex128 {
		alpha, beta = uintptr(unsafe.Pointer(&one)), uintptr(unsafe.Pointer(&zero))
	}
	if add {
		beta = alpha
	}
	return alpha, beta
}

// multiply calls cuBLAS. What it computes by columns is the transposed of the result: the right factor times the left one.
func (p *productLibrary) multiply(v *Device, size productSize, out, left, right *factor, add bool) (code int32, err error) {
	compute, isReduced := size.computing()
	mode, t := int32(blasDefaultMath), word(dataTypes[size.d])
	if !isReduced {
		mode = blasNoReducedSums
	}
	alpha, beta := size.scales(add)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.bind(v); err != nil {
		return 0, err
	}
	if mode != p.mode {
		if err := p.blas.check("cublasSetMathMode", p.blas.cublasSetMathMode(p.handle, mode)); err != nil {
			return 0, err
		}
		p.mode = mode
	}
	v.noteLaunch(nil)
	if size.batch == 1 {
		return p.blas.cublasGemmEx.call(p.handle, word(right.operation), word(left.operation), uintptr(size.columns), uintptr(size.rows), uintptr(size.depth), alpha,
			right.at, t, uintptr(right.leading), left.at, t, uintptr(left.leading), beta, out.at, t, uintptr(out.leading), word(compute), word(blasDefault)), nil
	}
	return p.blas.cublasGemmStridedBatchedEx.call(p.handle, word(right.operation), word(left.operation), uintptr(size.columns), uintptr(size.rows), uintptr(size.depth), alpha,
		right.at, t, uintptr(right.leading), uintptr(right.step), left.at, t, uintptr(left.leading), uintptr(left.step), beta,
		out.at, t, uintptr(out.leading), uintptr(out.step), uintptr(size.batch), word(compute), word(blasDefault)), nil
}

// giveUpMemory gives what nobody uses back to the driver, for libraries that take memory of their own.
func (v *Device) giveUpMemory() {
	tensor.CollectAll()
	_ = v.EmptyCache()
}
