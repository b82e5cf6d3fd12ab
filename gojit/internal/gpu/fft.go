package gpu

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// fft has the functions of cuFFT that are used here. A plan is a number.
type fft struct {
	file                   string
	cufftGetVersion        func(version *int32) int32
	cufftCreate            func(plan *int32) int32
	cufftDestroy           func(plan int32) int32
	cufftSetAutoAllocation func(plan, on int32) int32
	cufftMakePlanMany64    func(plan, dims int32, lengths, in *int64, inStride, inRow int64, out *int64, outStride, outRow int64, kind int32, rows int64, bytes *uint64) int32
	cufftSetWorkArea       procedure // (plan, at)
	cufftSetStream         procedure // (plan, stream)
	cufftExecC2C           procedure // (plan, *in, *out, direction), of floats of 32 bits
	cufftExecR2C           procedure // (plan, *in, *out)
	cufftExecC2R           procedure // (plan, *in, *out)
	cufftExecZ2Z           procedure // the same of 64 bits
	cufftExecD2Z           procedure
	cufftExecZ2D           procedure
}

// Numbers of cuFFT.
const (
	fftAllocFailed = 2
	fftForward     = -1
	fftBackward    = 1
)

// fftCodes are what cuFFT calls its codes, which it has no function for.
var fftCodes = map[int32]string{
	1: "CUFFT_INVALID_PLAN", fftAllocFailed: "CUFFT_ALLOC_FAILED", 3: "CUFFT_INVALID_TYPE", 4: "CUFFT_INVALID_VALUE", 5: "CUFFT_INTERNAL_ERROR", 6: "CUFFT_EXEC_FAILED", 7: "CUFFT_SETUP_FAILED",
	8: "CUFFT_INVALID_SIZE", 9: "CUFFT_UNALIGNED_DATA", 11: "CUFFT_INVALID_DEVICE", 13: "CUFFT_NO_WORKSPACE", 14: "CUFFT_NOT_IMPLEMENTED", 16: "CUFFT_NOT_SUPPORTED",
}

// fftKind is between what a plan transforms, as cuFFT numbers it.
type fftKind int32

// The kinds for floats of 32 bits; those for 64 bits are fftOfDoubles more.
const (
	complexToComplex fftKind = 0x29
	realToComplex    fftKind = 0x2a
	complexToReal    fftKind = 0x2c
	fftOfDoubles     fftKind = 0x40
)

// openFFT opens cuFFT.
func openFFT(f *finder) (*fft, error) {
	l, err := f.openOptional(wantedFFT)
	if err != nil {
		return nil, err
	}
	t := &fft{file: l.name}
	return t, bind(l, map[string]any{
		"cufftGetVersion": &t.cufftGetVersion, "cufftCreate": &t.cufftCreate, "cufftDestroy": &t.cufftDestroy, "cufftSetAutoAllocation": &t.cufftSetAutoAllocation,
		"cufftMakePlanMany64": &t.cufftMakePlanMany64, "cufftSetWorkArea": &t.cufftSetWorkArea, "cufftSetStream": &t.cufftSetStream,
		"cufftExecC2C": &t.cufftExecC2C, "cufftExecR2C": &t.cufftExecR2C, "cufftExecC2R": &t.cufftExecC2R,
		"cufftExecZ2Z": &t.cufftExecZ2Z, "cufftExecD2Z": &t.cufftExecD2Z, "cufftExecZ2D": &t.cufftExecZ2D,
	})
}

// check turns a code that a function of cuFFT returned into an error.
func (t *fft) check(name string, code int32) error {
	return namedError("cuFFT", name, code, fftCodes)
}

// mostPlans is how many plans are kept at most, unless a program says otherwise.
const mostPlans = 4096

// transformLibrary is cuFFT for one device. The lock guards all but what the beginning writes; a plan is used by one thread at a time.
type transformLibrary struct {
	beginning
	fft     *fft
	version int32
	mu      sync.Mutex
	plans   map[planKey]*plan
	uses    uint64 // counted for plans, of which the one goes that was used longest ago
	limit   int    // of plans, and one more: zero for mostPlans
}

// planKey is what a plan transforms.
type planKey struct {
	length, rows int
	kind         fftKind
}

// plan is one of cuFFT, whose tables are in memory that the driver gave.
type plan struct {
	number int32
	bytes  uint64       // of memory that it needs while it transforms
	used   uint64       // when
	graphs atomic.Int32 // that have it, and are as long as it must be
	isLost atomic.Bool  // from the plans that are kept
	over   sync.Once
}

// transforms returns cuFFT for the device, nil where it is not used.
func (v *Device) transforms() *transformLibrary {
	l := &v.transform
	if !l.done(v, func() error { return v.beginTransforms(l) }, l.text) {
		return nil
	}
	return l
}

func (v *Device) beginTransforms(l *transformLibrary) (err error) {
	if l.fft, err = v.driver.fft(); err != nil {
		return err
	}
	return l.fft.check("cufftGetVersion", l.fft.cufftGetVersion(&l.version))
}

func (l *transformLibrary) text() string {
	if l.why != nil {
		return fmt.Sprintf("cuFFT is not used: %v", l.why)
	}
	return fmt.Sprintf("cuFFT %d, %s", l.version, l.fft.file)
}

// most returns how many plans are kept. The lock is held.
func (l *transformLibrary) most() int {
	if l.limit == 0 {
		return mostPlans
	}
	return l.limit - 1
}

// Plans returns how many plans of cuFFT are kept, and how many may be.
func (v *Device) Plans() (kept, most int) {
	l := &v.transform
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.plans), l.most()
}

// LimitPlans has at most so many plans of cuFFT be kept.
func (v *Device) LimitPlans(most int) error {
	switch {
	case most < 0:
		return source.Errorf(source.RuntimeError, source.Range{}, "cuFFT plan cache size must be non-negative, but got %d", most)
	case most > math.MaxInt32:
		return source.Errorf(source.RuntimeError, source.Range{}, "cuFFT plan cache size can not be larger than %d, but got %d", math.MaxInt32, most)
	}
	l := &v.transform
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit = most + 1
	l.keepAtMost(v, most)
	return nil
}

// keepAtMost gives plans up until there are no more than so many, those first that were used longest ago. The lock is held.
func (l *transformLibrary) keepAtMost(v *Device, most int) {
	for len(l.plans) > max(most, 0) {
		var oldest planKey
		least := uint64(math.MaxUint64)
		for key, p := range l.plans {
			if p.used < least {
				oldest, least = key, p.used
			}
		}
		p := l.plans[oldest]
		delete(l.plans, oldest)
		p.isLost.Store(true)
		if p.graphs.Load() == 0 {
			l.destroy(v, p)
		}
	}
}

// destroy gives the memory of a plan back, which waits for the device.
func (l *transformLibrary) destroy(v *Device, p *plan) {
	p.over.Do(func() {
		v.captures.whenNoneIsOpen(func() {
			_ = v.do(func() error { return l.fft.check("cufftDestroy", l.fft.cufftDestroy(p.number)) })
		})
	})
}

// planOf returns the plan of a key, and makes it; nil where it cannot be made now. The lock is held, the context current.
func (l *transformLibrary) planOf(v *Device, key planKey) (*plan, error) {
	l.uses++
	if p := l.plans[key]; p != nil {
		p.used = l.uses
		return p, nil
	}
	if v.Stream().IsCapturing() { // tables are copied to the device, and its memory is asked for
		v.logLibrary("cuFFT is not used for rows of %d within a capture: transform such rows once before", key.length)
		return nil, nil
	}
	l.keepAtMost(v, l.most()-1)
	p := &plan{used: l.uses}
	code := l.makePlan(p, key)
	if code == fftAllocFailed {
		v.giveUpMemory()
		code = l.makePlan(p, key)
	}
	if code == fftAllocFailed {
		return nil, l.fft.check("cufftMakePlanMany64", code)
	}
	if code != 0 {
		v.logLibrary("%v: rows of %d are transformed by own kernels", l.fft.check("cufftMakePlanMany64", code), key.length)
		return nil, nil
	}
	if l.plans == nil {
		l.plans = map[planKey]*plan{}
	}
	if l.plans[key] = p; l.most() == 0 {
		p.isLost.Store(true)
		delete(l.plans, key)
	}
	return p, nil
}

// makePlan has cuFFT make a plan for rows that lie one behind another, with memory that each transform is given.
func (l *transformLibrary) makePlan(p *plan, key planKey) (code int32) {
	if code := l.fft.cufftCreate(&p.number); code != 0 {
		return code
	}
	length := int64(key.length)
	if code = l.fft.cufftSetAutoAllocation(p.number, 0); code == 0 {
		code = l.fft.cufftMakePlanMany64(p.number, 1, &length, nil, 1, 0, nil, 1, 0, int32(key.kind), int64(key.rows), &p.bytes)
	}
	if code != 0 {
		l.fft.cufftDestroy(p.number)
	}
	return code
}

// ForgetPlans gives all plans of cuFFT up.
func (v *Device) ForgetPlans() {
	l := &v.transform
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keepAtMost(v, 0)
}

// hold has a plan last as long as the graph that a stream is captured for. The lock is held.
func (l *transformLibrary) hold(v *Device, p *plan) {
	c := v.Stream().capture.Load()
	if c == nil {
		return
	}
	p.graphs.Add(1)
	c.keep(func() {
		if p.graphs.Add(-1) == 0 && p.isLost.Load() {
			l.destroy(v, p)
		}
	})
}

// Transform has cuFFT transform rows.
func (b *Backend) Transform(t *kernel.Transform) (done bool, err error) {
	v, err := b.Device(t.Out.Device())
	if err != nil {
		return false, err
	}
	key, ok := planKeyOf(t)
	if !ok {
		return false, nil
	}
	l := v.transforms()
	if l == nil {
		return false, nil
	}
	in, madeIn, err := v.transformed(t, key.kind)
	if err != nil {
		return false, err
	}
	defer madeIn.release()
	if err = v.do(func() error { done, err = l.transform(v, key, t, in); return err }); err != nil || !done {
		return false, err
	}
	runtime.KeepAlive(in)
	isConjugate := key.kind&^fftOfDoubles == realToComplex && t.Backwards // cuFFT makes half a spectrum forwards alone
	if t.Scale == 1 && !isConjugate {
		return true, nil
	}
	parts, err := t.Out.ViewDType(t.Out.DType().ToReal())
	if err != nil {
		return false, err
	}
	if !isConjugate {
		return true, v.scale(parts, t.Scale)
	}
	return true, v.scaleParts(parts, t.Scale, -t.Scale)
}

// planKeyOf returns what a plan has to transform. ok is false where that is nothing that cuFFT has a plan for.
func planKeyOf(t *kernel.Transform) (key planKey, ok bool) {
	n, half, row := t.Length, t.Length/2+1, t.In.Size(t.In.Dim()-1)
	out := t.Out.Size(t.Out.Dim() - 1)
	key.length, key.rows = n, t.Out.Numel()/max(out, 1)
	switch toComplex := t.Out.DType().IsComplex(); {
	case toComplex && !t.In.DType().IsComplex() && row == n && out == half:
		key.kind = realToComplex
	case toComplex && row == n && out == n:
		key.kind = complexToComplex
	case !toComplex && t.In.DType().IsComplex() && row == half && out == n:
		key.kind = complexToReal
	default:
		return key, false
	}
	switch t.Out.DType().ToReal() {
	case tensor.Float32:
	case tensor.Float64:
		key.kind += fftOfDoubles
	default:
		return key, false
	}
	return key, n > 1 && key.rows > 0
}

// transformed returns what a plan reads, a copy where the tensor must stay as it is, is of another type, or does not begin where cuFFT reads it.
func (v *Device) transformed(t *kernel.Transform, kind fftKind) (in *tensor.Tensor, copied made, err error) {
	in = t.In
	needed := t.Out.DType().ToComplex()
	read := needed
	if kind&^fftOfDoubles == realToComplex {
		read = needed.ToReal()
	}
	overwritten := kind&^fftOfDoubles == complexToReal
	if in.DType() == read && !overwritten && in.Address()%uint64(needed.Size()) == 0 {
		return in, made{}, nil
	}
	if copied.Tensor, err = v.contiguous(in, read); err != nil || !overwritten {
		return copied.Tensor, copied, err
	}
	parts, err := copied.ViewDType(read.ToReal())
	if err != nil {
		return nil, copied, err
	}
	if !t.Backwards { // of half a spectrum cuFFT makes numbers backwards alone
		if err := v.scaleParts(parts, 1, -1); err != nil {
			return nil, copied, err
		}
	}
	row := parts.Size(parts.Dim() - 1)
	for _, at := range []int{1, row - 1} { // the numbers are real: what is not is left out, which cuFFT takes for granted
		if at == 1 || t.Length%2 == 0 {
			part, err := parts.Narrow(parts.Dim()-1, at, 1)
			if err == nil {
				err = v.fill(part, tensor.Float(0))
			}
			if err != nil {
				return nil, copied, err
			}
		}
	}
	return copied.Tensor, copied, nil
}

// transform calls cuFFT. done is false where it has no plan. The context is current.
func (l *transformLibrary) transform(v *Device, key planKey, t *kernel.Transform, in *tensor.Tensor) (done bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := l.planOf(v, key)
	if p == nil || err != nil {
		return false, err
	}
	if p.isLost.Load() { // no plan is kept
		defer l.destroy(v, p)
	}
	workspace, err := v.Allocate(int(p.bytes))
	if err != nil {
		return false, err
	}
	defer func() { _ = workspace.Free() }()
	f, number := l.fft, word(p.number)
	if err := f.check("cufftSetStream", f.cufftSetStream.call(number, v.Stream().handle)); err != nil {
		return false, err
	}
	if p.bytes > 0 {
		if err := f.check("cufftSetWorkArea", f.cufftSetWorkArea.call(number, uintptr(workspace.at))); err != nil {
			return false, err
		}
	}
	direction := int32(fftForward)
	if t.Backwards {
		direction = fftBackward
	}
	name, run := "cufftExecC2C", f.cufftExecC2C
	words := []uintptr{number, uintptr(in.Address()), uintptr(t.Out.Address())}
	switch key.kind {
	case complexToComplex:
		words = append(words, word(direction))
	case complexToComplex + fftOfDoubles:
		name, run, words = "cufftExecZ2Z", f.cufftExecZ2Z, append(words, word(direction))
	case realToComplex:
		name, run = "cufftExecR2C", f.cufftExecR2C
	case realToComplex + fftOfDoubles:
		name, run = "cufftExecD2Z", f.cufftExecD2Z
	case complexToReal:
		name, run = "cufftExecC2R", f.cufftExecC2R
	case complexToReal + fftOfDoubles:
		name, run = "cufftExecZ2D", f.cufftExecZ2D
	}
	if err := f.check(name, run.call(words...)); err != nil {
		return false, err
	}
	v.noteLaunch(nil)
	l.hold(v, p)
	return true, nil
}

// scale multiplies the elements of a tensor of floats by a number.
func (v *Device) scale(t *tensor.Tensor, by float64) error {
	p, err := v.scales.get(t.DType(), func() (*Program, error) {
		b := kernel.NewBuilder()
		b.Output(b.Mul(b.Input(t.DType(), t.DType()), b.Param(t.DType())), t.DType())
		return NewProgram(v, b.Kernel())
	})
	if err != nil {
		return err
	}
	return p.Run([]*tensor.Tensor{t, t}, []tensor.Scalar{tensor.Float(by)})
}

// scaleParts multiplies real and imaginary parts, which take turns in the last dimension.
func (v *Device) scaleParts(parts *tensor.Tensor, real, imaginary float64) error {
	last := parts.Dim() - 1
	for i, by := range []float64{real, imaginary} {
		if by == 1 {
			continue
		}
		part, err := parts.Slice(last, i, parts.Size(last), 2)
		if err == nil {
			err = v.scale(part, by)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
