package gpu

import (
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// blasLt has the functions of cuBLASLt that are used here: for products that something is added to, which cuBLAS has to find in the result.
type blasLt struct {
	cublasLtMatmulDescCreate             func(made *uintptr, compute, scale int32) int32
	cublasLtMatmulDescDestroy            func(product uintptr) int32
	cublasLtMatmulDescSetAttribute       procedure // (product, attribute, *value, bytes)
	cublasLtMatrixLayoutCreate           func(made *uintptr, dtype int32, rows, columns uint64, leading int64) int32
	cublasLtMatrixLayoutDestroy          func(layout uintptr) int32
	cublasLtMatrixLayoutSetAttribute     procedure // (layout, attribute, *value, bytes)
	cublasLtMatmulPreferenceCreate       func(made *uintptr) int32
	cublasLtMatmulPreferenceDestroy      func(preference uintptr) int32
	cublasLtMatmulPreferenceSetAttribute procedure // (preference, attribute, *value, bytes)
	cublasLtMatmulAlgoGetHeuristic       func(handle, product, a, b, c, d, preference uintptr, most int32, ways *blasLtWay, found *int32) int32
	cublasLtMatmul                       procedure // (handle, product, *alpha, A, a, B, b, *beta, C, c, D, d, *algorithm, workspace, bytes, stream)
}

func (b *blasLt) bind(l *library) error {
	return bind(l, map[string]any{
		"cublasLtMatmulDescCreate": &b.cublasLtMatmulDescCreate, "cublasLtMatmulDescDestroy": &b.cublasLtMatmulDescDestroy,
		"cublasLtMatmulDescSetAttribute": &b.cublasLtMatmulDescSetAttribute, "cublasLtMatrixLayoutCreate": &b.cublasLtMatrixLayoutCreate,
		"cublasLtMatrixLayoutDestroy": &b.cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutSetAttribute": &b.cublasLtMatrixLayoutSetAttribute,
		"cublasLtMatmulPreferenceCreate": &b.cublasLtMatmulPreferenceCreate, "cublasLtMatmulPreferenceDestroy": &b.cublasLtMatmulPreferenceDestroy,
		"cublasLtMatmulPreferenceSetAttribute": &b.cublasLtMatmulPreferenceSetAttribute, "cublasLtMatmulAlgoGetHeuristic": &b.cublasLtMatmulAlgoGetHeuristic,
		"cublasLtMatmul": &b.cublasLtMatmul,
	})
}

// blasLtWay is a way to multiply as cuBLASLt describes it.
type blasLtWay struct {
	algorithm [8]uint64
	_         uint64 // bytes of workspace
	state     int32
	_         [5]int32
}

// Numbers of cuBLASLt.
const (
	ltTransposeA      = 3 // attributes of a product
	ltTransposeB      = 4
	ltEpilogue        = 7
	ltBias            = 8
	ltBatch           = 5 // attributes of a layout
	ltStep            = 6
	ltWorkspaceBytes  = 1 // attributes of a preference
	ltReductions      = 3
	ltAlignment       = 5 // of A; B, C and D follow
	ltAddsBias        = 4 // an epilogue
	ltAllReductions   = 7
	ltReducedToResult = 4 // of them: parts of sums are rounded to the type of the result
	ltMostAlignment   = 256
)

// sumKey is what products that something is added to are kept by.
type sumKey struct {
	size                    productSize
	compute                 int32
	isReduced, isRow        bool // a row is added to each row
	out, left, right, added order
	alignment               [5]uint8 // powers of two that divide the addresses
}

// sum is what cuBLASLt was told of such products, and how it computes them.
type sum struct {
	product, left, right, added, out uintptr // descriptors, as cuBLAS sees it: A is the right factor
	way                              blasLtWay
	ok                               bool
}

// addendOf describes what is added to a product: one row to each, or a matrix. ok is false where it lies as neither can.
func addendOf(t *tensor.Tensor) (f factor, isRow, ok bool) {
	n, strides := t.Dim(), t.Strides()
	if (strides[n-2] == 0 || t.Size(n-2) == 1) && (strides[n-1] == 1 || t.Size(n-1) == 1) && (n == 2 || strides[0] == 0 || t.Size(0) == 1) {
		return factor{at: uintptr(t.Address())}, true, true
	}
	f, ok = factorOf(t)
	return f, false, ok && f.operation == blasAsIs
}

// alignmentOf returns the power of two, up to 256, that divides an address.
func alignmentOf(at uintptr) uint8 { return uint8(bits.TrailingZeros64(uint64(at) | ltMostAlignment)) }

// multiplyAndAdd has cuBLASLt multiply and add, where it does so for these.
func (p *productLibrary) multiplyAndAdd(v *Device, m *kernel.Product, size productSize, out, left, right *factor) (done bool, err error) {
	added, isRow, ok := addendOf(m.Added)
	if !ok || m.Added.DType() != size.d {
		return false, nil
	}
	compute, isReduced := size.computing()
	key := sumKey{size: size, compute: compute, isReduced: isReduced, isRow: isRow, out: out.order, left: left.order, right: right.order, added: added.order,
		alignment: [5]uint8{alignmentOf(right.at), alignmentOf(left.at), alignmentOf(added.at), alignmentOf(out.at)}}
	if isRow {
		key.alignment[2], key.alignment[4] = key.alignment[3], key.alignment[2] // C is the result
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err = v.do(func() error {
		if err := p.bind(v); err != nil {
			return err
		}
		made := p.sums[key]
		if made == nil {
			if len(p.sums) >= mostPrograms {
				p.forget()
			}
			if p.sums == nil {
				p.sums = map[sumKey]*sum{}
			}
			made = &sum{}
			err := p.describe(made, &key, added.at)
			made.ok = err == nil
			p.sums[key] = made
			if err != nil {
				v.logLibrary("%v: what is added to %v is copied to the result first", err, size)
			}
		}
		if !made.ok {
			return nil
		}
		alpha, beta := size.scales(!isRow)
		c := added.at
		if isRow {
			c = out.at
			if err := p.blas.check("cublasLtMatmulDescSetAttribute", setAttribute(p.blas.lt.cublasLtMatmulDescSetAttribute, made.product, ltBias, added.at)); err != nil {
				return err
			}
		}
		code := p.blas.lt.cublasLtMatmul.call(p.handle, made.product, alpha, right.at, made.right, left.at, made.left, beta, c, made.added, out.at, made.out,
			uintptr(unsafe.Pointer(&made.way.algorithm)), uintptr(p.workspace.at), uintptr(p.workspace.bytes), p.stream)
		if code == blasNotSupported {
			made.ok = false
			return nil
		}
		done = true
		v.noteLaunch(nil)
		return p.blas.check("cublasLtMatmul", code)
	})
	runtime.KeepAlive(m)
	return done && err == nil, err
}

// setAttribute sets an attribute of a descriptor.
func setAttribute[T uint32 | int32 | int64 | uint64 | uintptr](set procedure, descriptor uintptr, attribute int32, value T) (code int32) {
	return set.call(descriptor, word(attribute), uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value))
}

// describe tells cuBLASLt of products and has it choose how to compute them. The error says that it cannot.
func (p *productLibrary) describe(made *sum, key *sumKey, bias uintptr) error {
	preference, err := p.blas.lt.describe(p.blas, made, key, bias, uint64(p.workspace.bytes))
	if preference != 0 {
		defer p.blas.lt.cublasLtMatmulPreferenceDestroy(preference)
	}
	if err != nil {
		return err
	}
	var found int32
	code := p.blas.lt.cublasLtMatmulAlgoGetHeuristic(p.handle, made.product, made.right, made.left, made.added, made.out, preference, 1, &made.way, &found)
	if code == 0 && found == 0 {
		code = blasNotSupported
	}
	return p.blas.check("cublasLtMatmulAlgoGetHeuristic", max(code, made.way.state))
}

// describe makes the descriptors of products, and of what a way to compute them may use.
func (lt *blasLt) describe(b *blas, made *sum, key *sumKey, bias uintptr, workspace uint64) (preference uintptr, err error) {
	s, d := &key.size, dataTypes[key.size.d]
	scale := d
	if s.d == tensor.Float16 || s.d == tensor.BFloat16 {
		scale = dataTypes[tensor.Float32]
	}
	check := func(name string, code int32) { // the first that fails is told
		if err == nil {
			err = b.check(name, code)
		}
	}
	layout := func(at *uintptr, o order, rows, columns int) { // by columns, so that rows and columns change places
		if o.operation == blasTransposed {
			rows, columns = columns, rows
		}
		check("cublasLtMatrixLayoutCreate", lt.cublasLtMatrixLayoutCreate(at, d, uint64(columns), uint64(rows), int64(o.leading)))
		if err == nil && s.batch > 1 {
			check("cublasLtMatrixLayoutSetAttribute", setAttribute(lt.cublasLtMatrixLayoutSetAttribute, *at, ltBatch, int32(s.batch)))
			check("cublasLtMatrixLayoutSetAttribute", setAttribute(lt.cublasLtMatrixLayoutSetAttribute, *at, ltStep, int64(o.step)))
		}
	}
	added := key.added
	if key.isRow {
		added = key.out
	}
	check("cublasLtMatmulDescCreate", lt.cublasLtMatmulDescCreate(&made.product, key.compute, scale))
	layout(&made.left, key.left, s.rows, s.depth)
	layout(&made.right, key.right, s.depth, s.columns)
	layout(&made.added, added, s.rows, s.columns)
	layout(&made.out, key.out, s.rows, s.columns)
	check("cublasLtMatmulPreferenceCreate", lt.cublasLtMatmulPreferenceCreate(&preference))
	if err != nil {
		return preference, err
	}
	set := func(attribute int32, value uint32) {
		check("cublasLtMatmulDescSetAttribute", setAttribute(lt.cublasLtMatmulDescSetAttribute, made.product, attribute, value))
	}
	set(ltTransposeA, uint32(key.right.operation))
	set(ltTransposeB, uint32(key.left.operation))
	if key.isRow {
		set(ltEpilogue, ltAddsBias)
		check("cublasLtMatmulDescSetAttribute", setAttribute(lt.cublasLtMatmulDescSetAttribute, made.product, ltBias, bias))
	}
	reductions := uint32(ltAllReductions)
	if !key.isReduced {
		reductions &^= ltReducedToResult
	}
	check("cublasLtMatmulPreferenceSetAttribute", setAttribute(lt.cublasLtMatmulPreferenceSetAttribute, preference, ltWorkspaceBytes, workspace))
	check("cublasLtMatmulPreferenceSetAttribute", setAttribute(lt.cublasLtMatmulPreferenceSetAttribute, preference, ltReductions, reductions))
	for i := range int32(4) {
		check("cublasLtMatmulPreferenceSetAttribute", setAttribute(lt.cublasLtMatmulPreferenceSetAttribute, preference, ltAlignment+i, uint32(1)<<key.alignment[i]))
	}
	return preference, err
}

// forget gives up the descriptors that were made.
func (p *productLibrary) forget() {
	for _, made := range p.sums {
		for _, layout := range []uintptr{made.left, made.right, made.added, made.out} {
			if layout != 0 {
				p.blas.lt.cublasLtMatrixLayoutDestroy(layout)
			}
		}
		if made.product != 0 {
			p.blas.lt.cublasLtMatmulDescDestroy(made.product)
		}
	}
	p.sums = nil
}
