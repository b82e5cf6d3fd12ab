package gpu

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// solver has the functions of cuSOLVER that are used here.
type solver struct {
	file                        string
	cusolverGetVersion          func(version *int32) int32
	cusolverDnCreate            func(handle *uintptr) int32
	cusolverDnSetStream         func(handle, stream uintptr) int32
	cusolverDnCreateSyevjInfo   func(made *uintptr) int32
	cusolverDnXsyevjSetSortEig  func(info uintptr, on int32) int32
	cusolverDnCreateGesvdjInfo  func(made *uintptr) int32
	cusolverDnXgesvdjSetSortEig func(info uintptr, on int32) int32
	of                          [4]solverRoutines // by solverLetters
}

// solverLetters are what the names of functions have for a type of elements.
const solverLetters = "SDCZ"

// solverTypes are the places of types among the letters.
var solverTypes = map[tensor.DType]int{tensor.Float32: 0, tensor.Float64: 1, tensor.Complex64: 2, tensor.Complex128: 3}

// solverRoutines are the functions for a type. A routine whose memory is asked for has two, the first of which tells how many elements that is.
type solverRoutines struct {
	lu, reflections, product, times, symmetric, symmetricBatch, singular, singularBatch, singularByQR, cholesky solverRoutine
	luSolution                                                                                                  solverRoutine // without memory
	choleskyBatch                                                                                               solverRoutine
}

type solverRoutine struct {
	name      string
	size, run procedure
}

// Numbers of cuSOLVER.
const (
	solverAllocFailed  = 2
	solverNotSupported = 9
	solverBatchOf      = 32 // rows and columns of the largest matrices of which many are decomposed at once
	solverCallsOf      = 4  // calls for each column that are no more work than own kernels, which take a column of all matrices at a time
)

// solverCodes are what cuSOLVER calls its codes, which it has no function for.
var solverCodes = map[int32]string{
	1: "CUSOLVER_STATUS_NOT_INITIALIZED", solverAllocFailed: "CUSOLVER_STATUS_ALLOC_FAILED", 3: "CUSOLVER_STATUS_INVALID_VALUE", 4: "CUSOLVER_STATUS_ARCH_MISMATCH", 6: "CUSOLVER_STATUS_EXECUTION_FAILED",
	7: "CUSOLVER_STATUS_INTERNAL_ERROR", 8: "CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED", solverNotSupported: "CUSOLVER_STATUS_NOT_SUPPORTED", 31: "CUSOLVER_STATUS_INVALID_WORKSPACE",
}

// openSolver opens cuSOLVER.
func openSolver(f *finder) (*solver, error) {
	l, err := f.openOptional(wantedSolver)
	if err != nil {
		return nil, err
	}
	s := &solver{file: l.name}
	functions := map[string]any{
		"cusolverGetVersion": &s.cusolverGetVersion, "cusolverDnCreate": &s.cusolverDnCreate, "cusolverDnSetStream": &s.cusolverDnSetStream,
		"cusolverDnCreateSyevjInfo": &s.cusolverDnCreateSyevjInfo, "cusolverDnXsyevjSetSortEig": &s.cusolverDnXsyevjSetSortEig,
		"cusolverDnCreateGesvdjInfo": &s.cusolverDnCreateGesvdjInfo, "cusolverDnXgesvdjSetSortEig": &s.cusolverDnXgesvdjSetSortEig,
	}
	for i, letter := range solverLetters {
		r := &s.of[i]
		orthogonal, symmetric := "or", "sy"
		if letter == 'C' || letter == 'Z' {
			orthogonal, symmetric = "un", "he"
		}
		for routine, name := range map[*solverRoutine]string{
			&r.lu: "getrf", &r.reflections: "geqrf", &r.product: orthogonal + "gqr", &r.times: orthogonal + "mqr", &r.symmetric: symmetric + "evd", &r.symmetricBatch: symmetric + "evjBatched",
			&r.singular: "gesvdj", &r.singularBatch: "gesvdjBatched", &r.singularByQR: "gesvd", &r.cholesky: "potrf", &r.luSolution: "getrs", &r.choleskyBatch: "potrfBatched",
		} {
			routine.name = "cusolverDn" + string(letter) + name
			functions[routine.name] = &routine.run
			if routine != &r.luSolution && routine != &r.choleskyBatch {
				functions[routine.name+"_bufferSize"] = &routine.size
			}
		}
	}
	return s, bind(l, functions)
}

// check turns a code that a function of cuSOLVER returned into an error.
func (s *solver) check(name string, code int32) error {
	return namedError("cuSOLVER", name, code, solverCodes)
}

// solverLibrary is cuSOLVER for one device. The lock guards all but what the beginning writes; a handle is used by one thread at a time.
type solverLibrary struct {
	beginning
	solver  *solver
	version int32
	mu      sync.Mutex
	handle  uintptr
	syevj   uintptr // how eigenvalues of batches are found: in their order
	gesvdj  uintptr // the same for singular values
}

// solvers returns cuSOLVER for the device, nil where it is not used.
func (v *Device) solvers() *solverLibrary {
	l := &v.solving
	if !l.done(v, func() error { return v.beginSolving(l) }, l.text) {
		return nil
	}
	return l
}

func (v *Device) beginSolving(l *solverLibrary) (err error) {
	_, _ = v.driver.blas() // cuSOLVER opens it by its name alone
	if l.solver, err = v.driver.solver(); err != nil {
		return err
	}
	s := l.solver
	return v.do(func() error {
		code := s.cusolverDnCreate(&l.handle)
		if code == solverAllocFailed {
			v.giveUpMemory()
			code = s.cusolverDnCreate(&l.handle)
		}
		for _, err := range []error{
			s.check("cusolverDnCreate", code), s.check("cusolverGetVersion", s.cusolverGetVersion(&l.version)),
			s.check("cusolverDnCreateSyevjInfo", s.cusolverDnCreateSyevjInfo(&l.syevj)), s.check("cusolverDnCreateGesvdjInfo", s.cusolverDnCreateGesvdjInfo(&l.gesvdj)),
			s.check("cusolverDnXsyevjSetSortEig", s.cusolverDnXsyevjSetSortEig(l.syevj, 1)), s.check("cusolverDnXgesvdjSetSortEig", s.cusolverDnXgesvdjSetSortEig(l.gesvdj, 1)),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *solverLibrary) text() string {
	if l.why != nil {
		return fmt.Sprintf("cuSOLVER is not used: %v", l.why)
	}
	return fmt.Sprintf("cuSOLVER %d, %s", l.version, l.solver.file)
}

// batch is matrices of one size that lie behind each other, by columns.
type batch struct {
	at            uintptr
	bytes         uintptr // of an element
	rows, columns int
	step          uintptr // bytes from one to the next
}

// batchOf looks at a tensor whose last dimension goes down a column, and the one before that from column to column; nothing where there is none.
func batchOf(t *tensor.Tensor) (b batch) {
	if t == nil {
		return b
	}
	n := t.Dim()
	b = batch{at: uintptr(t.Address()), bytes: uintptr(t.DType().Size()), rows: t.Size(n - 1), columns: t.Size(n - 2)}
	b.step = uintptr(b.rows*b.columns) * b.bytes
	return b
}

// rowsOf looks at a tensor that has a row of numbers for each matrix.
func rowsOf(t *tensor.Tensor) (b batch) {
	if t == nil {
		return b
	}
	b = batch{at: uintptr(t.Address()), bytes: uintptr(t.DType().Size()), rows: t.Size(t.Dim() - 1), columns: 1}
	b.step = uintptr(b.rows) * b.bytes
	return b
}

// of returns where one of the matrices lies.
func (b *batch) of(i int) uintptr { return b.at + uintptr(i)*b.step }

// operations on matrices, as CUDA's libraries number them.
var matrixOperations = map[kernel.MatrixForm]int32{kernel.AsIs: blasAsIs, kernel.Transposed: blasTransposed, kernel.Adjoint: 2}

// flag is a word for what is so or not.
func flag(is bool) uintptr {
	if is {
		return 1
	}
	return 0
}

// Solve has cuSOLVER, or cuBLAS for triangles, compute.
func (b *Backend) Solve(w *kernel.MatrixWork) (done bool, err error) {
	v, err := b.Device(w.A.Device())
	if err != nil {
		return false, err
	}
	letter, ok := solverTypes[w.A.DType()]
	s := &solving{v: v, w: w, letter: letter, a: batchOf(w.A), b: batchOf(w.B), right: batchOf(w.V), numbers: rowsOf(w.Numbers), pivots: rowsOf(w.Pivots)}
	if s.w.Info != nil {
		s.info = batch{at: uintptr(w.Info.Address()), step: 4}
	}
	if !ok || w.A.Numel() == 0 || w.B != nil && w.B.Numel() == 0 || max(w.A.Numel(), s.a.rows, s.b.columns) > math.MaxInt32 {
		return false, nil
	}
	s.count = w.A.Numel() / (s.a.rows * s.a.columns)
	if w.Of == kernel.TriangleSolution {
		done, err = s.solveTriangles()
	} else {
		done, err = s.run()
	}
	runtime.KeepAlive(w)
	return done, err
}

// solving is what Solve is given, as the libraries take it.
type solving struct {
	v                 *Device
	w                 *kernel.MatrixWork
	l                 *solverLibrary
	letter, count     int
	a, b, right       batch
	numbers, pivots   batch
	info              batch
	workspace         *Memory
	workspaceElements int32
}

// run calls cuSOLVER.
func (s *solving) run() (done bool, err error) {
	fewer := s.count <= solverCallsOf*min(s.a.rows, s.a.columns)
	small := s.count > 1 && max(s.a.rows, s.a.columns) <= solverBatchOf
	switch s.w.Of {
	case kernel.SymmetricEigenvalues, kernel.SingularValues, kernel.Cholesky:
	default:
		if !fewer {
			return false, nil
		}
	}
	if s.l = s.v.solvers(); s.l == nil {
		return false, nil
	}
	if s.v.Stream().IsCapturing() { // it may wait for the device
		s.v.logLibrary("cuSOLVER is not used within a capture")
		return false, nil
	}
	err = s.v.do(func() error {
		s.l.mu.Lock()
		defer s.l.mu.Unlock()
		if err := s.l.solver.check("cusolverDnSetStream", s.l.solver.cusolverDnSetStream(s.l.handle, s.v.Stream().handle)); err != nil {
			return err
		}
		done, err = s.call(small)
		if s.workspace != nil {
			_ = s.workspace.Free()
		}
		return err
	})
	return done, err
}

// call calls the functions that compute what is asked for. The lock is held, the context current.
func (s *solving) call(small bool) (done bool, err error) {
	w, r := s.w, &s.l.solver.of[s.letter]
	m, n, rows := uintptr(s.a.rows), uintptr(s.a.columns), uintptr(max(s.a.rows, 1))
	k := min(m, n)
	upper, vectors := flag(w.Upper), flag(w.Vectors)
	switch w.Of {
	case kernel.LU:
		return s.each(&r.lu, []uintptr{m, n, s.a.at, rows}, func(i int) []uintptr {
			return []uintptr{m, n, s.a.of(i), rows, uintptr(s.workspace.at), s.pivots.of(i), s.info.of(i)}
		})
	case kernel.LUSolution:
		return s.each(&r.luSolution, nil, func(i int) []uintptr {
			return []uintptr{word(matrixOperations[w.Form]), n, uintptr(s.b.columns), s.a.of(i), rows, s.pivots.of(i), s.b.of(i), n, s.info.of(i)}
		})
	case kernel.Cholesky:
		if s.count > 1 && s.a.rows <= 512 {
			return s.choleskyBatch(&r.choleskyBatch)
		}
		return s.each(&r.cholesky, []uintptr{upper, n, s.a.at, rows}, func(i int) []uintptr {
			return []uintptr{upper, n, s.a.of(i), rows, uintptr(s.workspace.at), word(s.workspaceElements), s.info.of(i)}
		})
	case kernel.Reflections:
		return s.each(&r.reflections, []uintptr{m, n, s.a.at, rows}, func(i int) []uintptr {
			return []uintptr{m, n, s.a.of(i), rows, s.numbers.of(i), uintptr(s.workspace.at), word(s.workspaceElements), s.info.of(i)}
		})
	case kernel.ReflectionsProduct:
		factors := uintptr(s.numbers.rows)
		return s.each(&r.product, []uintptr{m, n, factors, s.a.at, rows, s.numbers.at}, func(i int) []uintptr {
			return []uintptr{m, n, factors, s.a.of(i), rows, s.numbers.of(i), uintptr(s.workspace.at), word(s.workspaceElements), s.info.of(i)}
		})
	case kernel.ReflectionsTimes:
		side, form := flag(w.Right), word(matrixOperations[w.Form])
		tall, wide := uintptr(s.b.rows), uintptr(s.b.columns)
		factors := uintptr(s.numbers.rows)
		return s.each(&r.times, []uintptr{side, form, tall, wide, factors, s.a.at, rows, s.numbers.at, s.b.at, tall}, func(i int) []uintptr {
			return []uintptr{side, form, tall, wide, factors, s.a.of(i), rows, s.numbers.of(i), s.b.of(i), tall, uintptr(s.workspace.at), word(s.workspaceElements), s.info.of(i)}
		})
	case kernel.SymmetricEigenvalues:
		if small {
			count := uintptr(s.count)
			return s.once(&r.symmetricBatch, []uintptr{vectors, upper, n, s.a.at, rows, s.numbers.at}, []uintptr{s.l.syevj, count}, func() []uintptr {
				return []uintptr{vectors, upper, n, s.a.at, rows, s.numbers.at, uintptr(s.workspace.at), word(s.workspaceElements), s.info.at, s.l.syevj, count}
			})
		}
		return s.each(&r.symmetric, []uintptr{vectors, upper, n, s.a.at, rows, s.numbers.at}, func(i int) []uintptr {
			return []uintptr{vectors, upper, n, s.a.of(i), rows, s.numbers.of(i), uintptr(s.workspace.at), word(s.workspaceElements), s.info.of(i)}
		})
	case kernel.SingularValues:
		if w.ByQR {
			return s.singularByQR(&r.singularByQR, m, n)
		}
		if small && (!w.Vectors || s.b.columns == s.a.rows) { // vectors of batches are all there are
			count := uintptr(s.count)
			return s.once(&r.singularBatch, []uintptr{vectors, m, n, s.a.at, rows, s.numbers.at, s.b.at, m, s.right.at, n}, []uintptr{s.l.gesvdj, count}, func() []uintptr {
				return []uintptr{vectors, m, n, s.a.at, rows, s.numbers.at, s.b.at, m, s.right.at, n, uintptr(s.workspace.at), word(s.workspaceElements), s.info.at, s.l.gesvdj, count}
			})
		}
		fewer := flag(uintptr(s.b.columns) == k)
		return s.eachWith(&r.singular, []uintptr{vectors, fewer, m, n, s.a.at, rows, s.numbers.at, s.b.at, m, s.right.at, n}, []uintptr{s.l.gesvdj}, func(i int) []uintptr {
			return []uintptr{vectors, fewer, m, n, s.a.of(i), rows, s.numbers.of(i), s.b.of(i), m, s.right.of(i), n, uintptr(s.workspace.at), word(s.workspaceElements), s.info.of(i), s.l.gesvdj}
		})
	}
	return false, nil
}

// singularByQR finds singular values by the slower way that always ends. The right vectors are the adjoint of a matrix by columns.
func (s *solving) singularByQR(r *solverRoutine, m, n uintptr) (done bool, err error) {
	left, right := uintptr('N'), uintptr('N')
	if s.w.Vectors {
		left, right = 'S', 'S'
		if s.b.columns == s.a.rows {
			left = 'A'
		}
	}
	return s.each(r, []uintptr{m, n}, func(i int) []uintptr {
		return []uintptr{left, right, m, n, s.a.of(i), m, s.numbers.of(i), s.b.of(i), m, s.right.of(i), n, uintptr(s.workspace.at), word(s.workspaceElements), 0, s.info.of(i)}
	})
}

// once asks for memory and calls a function for all matrices. Both take the arguments that follow what is written, which are the last of the first one.
func (s *solving) once(r *solverRoutine, asked, behind []uintptr, arguments func() []uintptr) (done bool, err error) {
	if done, err := s.prepare(r, asked, behind); !done || err != nil {
		return false, err
	}
	return s.one(r, arguments())
}

// each asks for memory, where there is a function for that, and calls another for each matrix.
func (s *solving) each(r *solverRoutine, asked []uintptr, arguments func(i int) []uintptr) (done bool, err error) {
	return s.eachWith(r, asked, nil, arguments)
}

func (s *solving) eachWith(r *solverRoutine, asked, behind []uintptr, arguments func(i int) []uintptr) (done bool, err error) {
	if done, err := s.prepare(r, asked, behind); !done || err != nil {
		return false, err
	}
	for i := range s.count {
		if done, err := s.one(r, arguments(i)); !done || err != nil {
			if i > 0 && err == nil {
				err = s.l.solver.check(r.name, solverNotSupported) // what was computed is there, and the rest is not
			}
			return false, err
		}
	}
	return true, nil
}

// prepare asks how much memory is needed and allocates it.
func (s *solving) prepare(r *solverRoutine, asked, behind []uintptr) (done bool, err error) {
	if r.size == 0 {
		return true, nil
	}
	words := append([]uintptr{s.l.handle}, asked...)
	elements := new(int32)
	words = append(append(words, uintptr(unsafe.Pointer(elements))), behind...)
	code := r.size.call(words...)
	runtime.KeepAlive(elements)
	if code == solverNotSupported {
		s.v.logLibrary("%v", s.l.solver.check(r.name+"_bufferSize", code))
		return false, nil
	}
	if err := s.l.solver.check(r.name+"_bufferSize", code); err != nil {
		return false, err
	}
	s.workspaceElements = *elements
	s.workspace, err = s.v.Allocate(max(int(*elements), 1) * int(s.a.bytes))
	return err == nil, err
}

// one calls a function of cuSOLVER. done is false where it does not support what it is given.
func (s *solving) one(r *solverRoutine, arguments []uintptr) (done bool, err error) {
	words := append([]uintptr{s.l.handle}, arguments...)
	code := r.run.call(words...)
	if code == solverAllocFailed {
		s.v.giveUpMemory()
		code = r.run.call(words...)
	}
	if code == solverNotSupported {
		s.v.logLibrary("%v", s.l.solver.check(r.name, code))
		return false, nil
	}
	if err := s.l.solver.check(r.name, code); err != nil {
		return false, err
	}
	s.v.noteLaunch(nil)
	return true, nil
}

// pointersTo is the routine that writes where the matrices of a batch lie.
var pointersTo = &kernel.Routine{Text: "pointers", Entry: "list"}

// pointers returns a list, on the device, of where matrices lie. The context is current.
func (s *solving) pointers(b *batch) (*Memory, error) {
	m, err := s.v.routine(pointersTo)
	if err != nil {
		return nil, err
	}
	r := *pointersTo
	r.Threads = s.count
	words, err := routineWords(&r, nil, []int64{int64(b.at), int64(b.step)})
	if err != nil {
		return nil, err
	}
	list, err := s.v.Allocate(8 * s.count)
	if err != nil {
		return nil, err
	}
	words[2] = uint64(list.at)
	if err := s.v.runRoutine(m, &r, words); err != nil {
		_ = list.Free()
		return nil, err
	}
	return list, nil
}

// choleskyBatch factorizes all matrices by one call.
func (s *solving) choleskyBatch(r *solverRoutine) (done bool, err error) {
	list, err := s.pointers(&s.a)
	if err != nil {
		return false, err
	}
	defer func() { _ = list.Free() }()
	n := uintptr(s.a.columns)
	return s.one(r, []uintptr{flag(s.w.Upper), n, uintptr(list.at), n, s.info.at, uintptr(s.count)})
}

// solveTriangles has cuBLAS solve with triangles.
func (s *solving) solveTriangles() (done bool, err error) {
	v, w := s.v, s.w
	p := v.products()
	if p == nil {
		return false, nil
	}
	var lists [2]*Memory
	if s.count > 1 {
		for i, b := range []*batch{&s.a, &s.b} {
			if lists[i], err = s.pointers(b); err != nil {
				return false, err
			}
			defer func() { _ = lists[i].Free() }()
		}
	}
	size := productSize{d: w.A.DType()}
	alpha, _ := size.scales(false)
	return true, v.do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := p.bind(v); err != nil {
			return err
		}
		n := uintptr(s.a.columns)
		words := []uintptr{p.handle, 0, flag(w.Upper), word(matrixOperations[w.Form]), flag(w.Unit), n, uintptr(s.b.columns), alpha}
		run, name := p.blas.trsm[s.letter], "cublas"+solverLetters[s.letter:][:1]+"trsm"
		if s.count == 1 {
			words = append(words, s.a.at, n, s.b.at, n)
		} else {
			run, name = p.blas.trsmBatched[s.letter], name+"Batched"
			words = append(words, uintptr(lists[0].at), n, uintptr(lists[1].at), n, uintptr(s.count))
		}
		code := run.call(words...)
		if code == blasAllocFailed {
			v.giveUpMemory()
			code = run.call(words...)
		}
		v.noteLaunch(nil)
		return p.blas.check(name, code)
	})
}
