package gpu

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// dnn has the functions of cuDNN that are used here.
type dnn struct {
	file                              string
	cudnnGetVersion                   func() uint64
	cudnnGetErrorString               func(code int32) *byte
	cudnnCreate                       func(handle *uintptr) int32
	cudnnSetStream                    func(handle, stream uintptr) int32
	cudnnCreateTensorDescriptor       func(made *uintptr) int32
	cudnnSetTensorNdDescriptor        func(descriptor uintptr, dtype, dims int32, sizes, strides *int32) int32
	cudnnDestroyTensorDescriptor      func(descriptor uintptr) int32
	cudnnCreateFilterDescriptor       func(made *uintptr) int32
	cudnnSetFilterNdDescriptor        func(descriptor uintptr, dtype, format, dims int32, sizes *int32) int32
	cudnnDestroyFilterDescriptor      func(descriptor uintptr) int32
	cudnnCreateConvolutionDescriptor  func(made *uintptr) int32
	cudnnSetConvolutionNdDescriptor   func(descriptor uintptr, dims int32, padding, strides, dilations *int32, mode, compute int32) int32
	cudnnSetConvolutionGroupCount     func(descriptor uintptr, groups int32) int32
	cudnnSetConvolutionMathType       func(descriptor uintptr, math int32) int32
	cudnnDestroyConvolutionDescriptor func(descriptor uintptr) int32
	cudnnCreateActivationDescriptor   func(made *uintptr) int32
	cudnnSetActivationDescriptor      func(descriptor uintptr, mode, nans int32, limit float64) int32
	// (handle, *alpha, input, *input, weight, *weight, convolution, algorithm, workspace, bytes, *beta, added, *added, bias, *bias, activation, result, *result)
	cudnnConvolutionBiasActivationForward procedure
	results                               [3]dnnResult // by kernel.ConvolutionResult
}

// dnnResult has the functions that compute one of the three tensors of a convolution of the two others: left, right and result, of which those
// after the handle are descriptors.
type dnnResult struct {
	name      string                                                                                                        // of run
	choose    func(handle, left, right, convolution, result uintptr, most int32, found *int32, ways *[dnnWays]dnnWay) int32 // ways by what cuDNN expects of them
	workspace func(handle, left, right, convolution, result uintptr, algorithm int32, bytes *uint64) int32                  // that a way needs
	try       procedure                                                                                                     // (handle, left, *left, right, *right, convolution, result, *result, most, *found, *ways, workspace, bytes)
	run       procedure                                                                                                     // (handle, *alpha, left, *left, right, *right, convolution, algorithm, workspace, bytes, *beta, result, *result)
}

// dnnWay is a way to compute as cuDNN describes it.
type dnnWay struct {
	algorithm   int32
	status      int32
	_           [2]int32
	bytes       uint64 // of workspace
	determinism int32
	math        int32
	_           [4]int32
}

// Numbers of cuDNN.
const (
	dnnWays               = 16 // more than there are
	dnnByChannels         = 0  // the order of a filter: channels, then places
	dnnChannelsLast       = 1
	dnnCrossCorrelation   = 1
	dnnIdentity           = 5 // an activation
	dnnAddsBias           = 1 // the algorithm of convolutions that adds a bias without an activation
	dnnFloat              = 0 // types of elements
	dnnDouble             = 1
	dnnHalf               = 2
	dnnBFloat16           = 9
	dnnDefaultMath        = 0
	dnnTensorMath         = 1
	dnnExactMath          = 3
	dnnMostDims           = 5
	dnnExecutionFailed    = 5000 // to 5999; 8 before version 9
	dnnExecutionFailed8   = 8
	dnnAllocationFailed   = 4004
	dnnAllocationFailed8  = 2
	dnnMostWorkspaceBytes = 4 << 30 // where ways are tried
)

// openDNN opens cuDNN.
func openDNN(f *finder) (*dnn, error) {
	l, err := f.openOptional(wantedDNN)
	if err != nil {
		return nil, err
	}
	d := &dnn{file: l.name}
	functions := map[string]any{
		"cudnnGetVersion": &d.cudnnGetVersion, "cudnnGetErrorString": &d.cudnnGetErrorString, "cudnnCreate": &d.cudnnCreate, "cudnnSetStream": &d.cudnnSetStream,
		"cudnnCreateTensorDescriptor": &d.cudnnCreateTensorDescriptor, "cudnnSetTensorNdDescriptor": &d.cudnnSetTensorNdDescriptor,
		"cudnnDestroyTensorDescriptor": &d.cudnnDestroyTensorDescriptor, "cudnnCreateFilterDescriptor": &d.cudnnCreateFilterDescriptor,
		"cudnnSetFilterNdDescriptor": &d.cudnnSetFilterNdDescriptor, "cudnnDestroyFilterDescriptor": &d.cudnnDestroyFilterDescriptor,
		"cudnnCreateConvolutionDescriptor": &d.cudnnCreateConvolutionDescriptor, "cudnnSetConvolutionNdDescriptor": &d.cudnnSetConvolutionNdDescriptor,
		"cudnnSetConvolutionGroupCount": &d.cudnnSetConvolutionGroupCount, "cudnnSetConvolutionMathType": &d.cudnnSetConvolutionMathType,
		"cudnnDestroyConvolutionDescriptor": &d.cudnnDestroyConvolutionDescriptor, "cudnnCreateActivationDescriptor": &d.cudnnCreateActivationDescriptor,
		"cudnnSetActivationDescriptor": &d.cudnnSetActivationDescriptor, "cudnnConvolutionBiasActivationForward": &d.cudnnConvolutionBiasActivationForward,
	}
	for of, name := range map[kernel.ConvolutionResult]string{kernel.ConvolutionForward: "Forward", kernel.ConvolutionOfInput: "BackwardData", kernel.ConvolutionOfWeight: "BackwardFilter"} {
		r := &d.results[of]
		r.name = "cudnnConvolution" + name
		functions["cudnnGetConvolution"+name+"Algorithm_v7"] = &r.choose
		functions["cudnnGetConvolution"+name+"WorkspaceSize"] = &r.workspace
		functions["cudnnFindConvolution"+name+"AlgorithmEx"] = &r.try
		functions[r.name] = &r.run
	}
	return d, bind(l, functions)
}

// check turns a code that a function of cuDNN returned into an error.
func (d *dnn) check(name string, code int32) error {
	return libraryError("cuDNN", name, code, d.cudnnGetErrorString)
}

// convolutionLibrary is cuDNN for one device. The lock guards all but what the beginning writes; a handle is used by one thread at a time.
type convolutionLibrary struct {
	beginning
	dnn     *dnn
	mu      sync.Mutex
	handle  uintptr
	none    uintptr // the descriptor of no activation
	isBound bool    // to a stream
	stream  uintptr
	made    map[convolutionKey]*convolution
}

// convolutionKey is what a convolution is kept by.
type convolutionKey struct {
	shape                                          kernel.ConvolutionShape
	of                                             kernel.ConvolutionResult
	dtype                                          tensor.DType
	tf32, isDeterministic, benchmark, channelsLast bool
}

// convolution is what cuDNN was told of a convolution, and how it is computed.
type convolution struct {
	input, result, weight, convolution uintptr  // descriptors
	bias                               uintptr  // one; 0 where it cannot be added at once
	left, right, out                   uintptr  // those of them for what is computed
	ways                               []dnnWay // the best first; none where cuDNN has none
	math                               int32    // what the descriptor of the convolution says
	alpha, beta                        uintptr
	why                                error // why there are none
}

// convolutions returns cuDNN for the device, nil where it is not used.
func (v *Device) convolutions() *convolutionLibrary {
	c := &v.convolution
	if !c.done(v, func() error { return v.beginConvolutions(c) }, c.text) {
		return nil
	}
	return c
}

func (v *Device) beginConvolutions(c *convolutionLibrary) (err error) {
	_, _ = v.driver.blas() // cuDNN opens it by its name alone
	if c.dnn, err = v.driver.dnn(); err != nil {
		return err
	}
	return v.do(func() error {
		code := c.dnn.cudnnCreate(&c.handle)
		if code == dnnAllocationFailed || code == dnnAllocationFailed8 {
			v.giveUpMemory()
			code = c.dnn.cudnnCreate(&c.handle)
		}
		if err := c.dnn.check("cudnnCreate", code); err != nil {
			return err
		}
		if err := c.dnn.check("cudnnCreateActivationDescriptor", c.dnn.cudnnCreateActivationDescriptor(&c.none)); err != nil {
			return err
		}
		return c.dnn.check("cudnnSetActivationDescriptor", c.dnn.cudnnSetActivationDescriptor(c.none, dnnIdentity, 0, 0))
	})
}

// DNNVersion returns the version of cuDNN that a device uses, 91002 for 9.10.2, and why it uses none.
func (v *Device) DNNVersion() (int, error) {
	d, err := v.driver.dnn()
	if err != nil {
		return 0, err
	}
	return int(d.cudnnGetVersion()), nil
}

// dnnTypes are the element types as cuDNN numbers them.
var dnnTypes = map[tensor.DType]int32{tensor.Float32: dnnFloat, tensor.Float64: dnnDouble, tensor.Float16: dnnHalf, tensor.BFloat16: dnnBFloat16}

// Convolve has cuDNN convolve.
func (b *Backend) Convolve(c *kernel.Convolution) (done bool, err error) {
	v, err := b.Device(c.Out.Device())
	if err != nil {
		return false, err
	}
	d := c.Out.DType()
	if _, ok := dnnTypes[d]; !ok || c.Left.DType() != d || c.Right.DType() != d || !UseDNN.IsSet() {
		return false, nil
	}
	if min(c.Left.Numel(), c.Right.Numel(), c.Out.Numel()) == 0 {
		return false, nil
	}
	if n := max(c.Left.Numel(), c.Right.Numel(), c.Out.Numel()); n > math.MaxInt32 {
		v.logLibrary("cuDNN is not used for a convolution of %v: a tensor has %d elements, at most %d are numbered", c.Shape, n, math.MaxInt32)
		return false, nil
	}
	l := v.convolutions()
	if l == nil {
		return false, nil
	}
	err = v.do(func() error {
		done, err = l.convolve(v, c)
		return err
	})
	runtime.KeepAlive(c)
	return done, err
}

// convolve computes by the first way that works. The context is current.
func (l *convolutionLibrary) convolve(v *Device, c *kernel.Convolution) (done bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if stream := v.Stream().handle; !l.isBound || l.stream != stream {
		if err := l.dnn.check("cudnnSetStream", l.dnn.cudnnSetStream(l.handle, stream)); err != nil {
			return false, err
		}
		l.isBound, l.stream = true, stream
	}
	key := convolutionKey{c.Shape, c.Of, c.Out.DType(), TF32Convolutions.IsSet(), Deterministic.IsSet() || DeterministicAlgorithms.IsSet(), Benchmark.IsSet() && !v.Stream().IsCapturing(), c.ChannelsLast}
	made := l.made[key]
	if made == nil {
		if len(l.made) >= mostPrograms {
			l.forget()
		}
		if made, err = l.describe(v, c, &key); err != nil {
			return false, err
		}
		if l.made == nil {
			l.made = map[convolutionKey]*convolution{}
		}
		l.made[key] = made
	}
	for i := 0; i < len(made.ways); {
		way := &made.ways[i]
		code, err := l.run(v, c, made, way)
		switch {
		case code == 0 && err == nil:
			v.noteLaunch(nil)
			return true, nil
		case err != nil && !isOutOfMemory(err) || code == dnnExecutionFailed8 || code/1000 == dnnExecutionFailed/1000:
			if err == nil {
				err = l.dnn.check(l.dnn.results[c.Of].name, code)
			}
			return false, err
		case err != nil: // another way may need less memory
			made.why = err
			i++
		default:
			made.why = l.dnn.check(l.dnn.results[c.Of].name, code)
			v.logLibrary("%v: a convolution of %v is not computed by algorithm %d", made.why, key, way.algorithm)
			made.ways = slices.Delete(made.ways, i, i+1)
		}
	}
	v.logLibrary("cuDNN is not used for a convolution of %v: %v", key, made.why)
	return false, nil
}

func isOutOfMemory(err error) bool {
	var e *source.Error
	return errors.As(err, &e) && e.Class == source.OutOfMemoryError
}

// run computes in one of the ways.
func (l *convolutionLibrary) run(v *Device, c *kernel.Convolution, made *convolution, way *dnnWay) (code int32, err error) {
	if way.math != made.math {
		if code := l.dnn.cudnnSetConvolutionMathType(made.convolution, way.math); code != 0 {
			return code, nil
		}
		made.math = way.math
	}
	workspace, err := v.Allocate(int(way.bytes))
	if err != nil {
		return 0, err
	}
	defer func() { _ = workspace.Free() }()
	if c.Bias != nil && made.bias != 0 && way.algorithm == dnnAddsBias {
		code := l.dnn.cudnnConvolutionBiasActivationForward.call(l.handle, made.alpha, made.left, uintptr(c.Left.Address()), made.right, uintptr(c.Right.Address()), made.convolution,
			word(way.algorithm), uintptr(workspace.at), uintptr(way.bytes), made.beta, made.out, uintptr(c.Out.Address()), made.bias, uintptr(c.Bias.Address()), l.none, made.out, uintptr(c.Out.Address()))
		if c.IsBiased = code == 0; c.IsBiased {
			return 0, nil
		}
		l.dnn.cudnnDestroyTensorDescriptor(made.bias) // without it then, and if that fails, too, its error is told
		made.bias = 0
	}
	for range 2 {
		code = l.dnn.results[c.Of].run.call(l.handle, made.alpha, made.left, uintptr(c.Left.Address()), made.right, uintptr(c.Right.Address()), made.convolution,
			word(way.algorithm), uintptr(workspace.at), uintptr(way.bytes), made.beta, made.out, uintptr(c.Out.Address()))
		if code != dnnAllocationFailed && code != dnnAllocationFailed8 {
			break
		}
		v.giveUpMemory()
	}
	return code, nil
}

// describe tells cuDNN of a convolution, and has it choose how to compute it.
func (l *convolutionLibrary) describe(v *Device, c *kernel.Convolution, key *convolutionKey) (made *convolution, err error) {
	made = &convolution{alpha: uintptr(unsafe.Pointer(&one32)), beta: uintptr(unsafe.Pointer(&zero32))}
	if key.dtype == tensor.Float64 {
		made.alpha, made.beta = uintptr(unsafe.Pointer(&one)), uintptr(unsafe.Pointer(&zero))
	}
	if !endsWhereItShould(&key.shape) {
		made.why = errors.New("the result is larger than cuDNN makes it")
		return made, nil
	}
	err = l.describeTensors(made, key)
	if err == nil {
		err = l.chooseWay(v, c, made, key)
	}
	if err != nil {
		l.destroy(made)
		if isOutOfMemory(err) {
			return nil, err
		}
		made.why = err
	}
	return made, nil
}

// endsWhereItShould reports whether the result has the size that follows from the others, as for cuDNN it must.
func endsWhereItShould(s *kernel.ConvolutionShape) bool {
	for i := range 3 {
		if s.Out[i] != (s.In[i]+2*s.Padding[i]-s.Dilation[i]*(s.Kernel[i]-1)-1)/s.Stride[i]+1 {
			return false
		}
	}
	return true
}

// dimsOf returns from which dimension on a convolution has places: two of them at least.
func dimsOf(s *kernel.ConvolutionShape) (first int) {
	if s.In[0] == 1 && s.Out[0] == 1 && s.Kernel[0] == 1 && s.Padding[0] == 0 {
		return 1
	}
	return 0
}

// describeTensors makes the descriptors.
func (l *convolutionLibrary) describeTensors(made *convolution, key *convolutionKey) error {
	d, s, first := l.dnn, &key.shape, dimsOf(&key.shape)
	format := int32(dnnByChannels)
	if key.channelsLast {
		format = dnnChannelsLast
	}
	tensorOf := func(at *uintptr, batch, channels int, places [3]int) error {
		sizes, strides := [dnnMostDims]int32{int32(batch), int32(channels)}, [dnnMostDims]int32{}
		dims := 2 + copyWords(sizes[2:], places[first:])
		step := int32(1)
		if key.channelsLast {
			strides[1], step = 1, sizes[1]
		}
		for i := dims - 1; i >= 0; i-- {
			if i != 1 || !key.channelsLast {
				strides[i] = step
				step *= sizes[i]
			}
		}
		if err := d.check("cudnnCreateTensorDescriptor", d.cudnnCreateTensorDescriptor(at)); err != nil {
			return err
		}
		return d.check("cudnnSetTensorNdDescriptor", d.cudnnSetTensorNdDescriptor(*at, dnnTypes[key.dtype], int32(dims), &sizes[0], &strides[0]))
	}
	if err := tensorOf(&made.input, s.Batch, s.InChannels, s.In); err != nil {
		return err
	}
	if err := tensorOf(&made.result, s.Batch, s.OutChannels, s.Out); err != nil {
		return err
	}
	if key.of == kernel.ConvolutionForward {
		if err := tensorOf(&made.bias, 1, s.OutChannels, [3]int{1, 1, 1}); err != nil {
			return err
		}
	}
	sizes := [dnnMostDims]int32{int32(s.OutChannels), int32(s.InChannels / s.Groups)}
	dims := 2 + copyWords(sizes[2:], s.Kernel[first:])
	if err := d.check("cudnnCreateFilterDescriptor", d.cudnnCreateFilterDescriptor(&made.weight)); err != nil {
		return err
	}
	if err := d.check("cudnnSetFilterNdDescriptor", d.cudnnSetFilterNdDescriptor(made.weight, dnnTypes[key.dtype], format, int32(dims), &sizes[0])); err != nil {
		return err
	}
	if err := d.check("cudnnCreateConvolutionDescriptor", d.cudnnCreateConvolutionDescriptor(&made.convolution)); err != nil {
		return err
	}
	var padding, strides, dilations [3]int32
	compute := int32(dnnFloat)
	if key.dtype == tensor.Float64 {
		compute = dnnDouble
	}
	n := copyWords(padding[:], s.Padding[first:])
	copyWords(strides[:], s.Stride[first:])
	copyWords(dilations[:], s.Dilation[first:])
	if err := d.check("cudnnSetConvolutionNdDescriptor", d.cudnnSetConvolutionNdDescriptor(made.convolution, int32(n), &padding[0], &strides[0], &dilations[0], dnnCrossCorrelation, compute)); err != nil {
		return err
	}
	if err := d.check("cudnnSetConvolutionGroupCount", d.cudnnSetConvolutionGroupCount(made.convolution, int32(s.Groups))); err != nil {
		return err
	}
	switch key.of {
	case kernel.ConvolutionForward:
		made.left, made.right, made.out = made.input, made.weight, made.result
	case kernel.ConvolutionOfInput:
		made.left, made.right, made.out = made.weight, made.result, made.input
	case kernel.ConvolutionOfWeight:
		made.left, made.right, made.out = made.input, made.result, made.weight
	}
	made.math = key.math()
	return d.check("cudnnSetConvolutionMathType", d.cudnnSetConvolutionMathType(made.convolution, made.math))
}

func copyWords(to []int32, from []int) int {
	for i, n := range from {
		to[i] = int32(n)
	}
	return len(from)
}

// math returns what may be computed with: tensor cores, and for float32 TF32 or not.
func (k *convolutionKey) math() int32 {
	switch {
	case k.dtype == tensor.Float16 || k.dtype == tensor.BFloat16:
		return dnnTensorMath
	case k.dtype == tensor.Float32 && !k.tf32:
		return dnnExactMath
	}
	return dnnDefaultMath
}

// chooseWay has cuDNN say in which ways a convolution can be computed: in which it expects to be fast, or was where they are tried.
func (l *convolutionLibrary) chooseWay(v *Device, c *kernel.Convolution, made *convolution, key *convolutionKey) error {
	var found int32
	var ways [dnnWays]dnnWay
	r := &l.dnn.results[key.of]
	if key.benchmark {
		if err := v.Stream().refuse("ways to convolve are tried, as torch.backends.cudnn.benchmark says: convolve once before"); err != nil {
			return err
		}
		free, _, err := v.MemoryInfo()
		if err != nil {
			return err
		}
		workspace, err := v.Allocate(min(free/2, dnnMostWorkspaceBytes))
		if isOutOfMemory(err) {
			workspace, err = v.Allocate(0)
		}
		if err != nil {
			return err
		}
		code := r.try.call(l.handle, made.left, uintptr(c.Left.Address()), made.right, uintptr(c.Right.Address()), made.convolution, made.out, uintptr(c.Out.Address()),
			dnnWays, uintptr(unsafe.Pointer(&found)), uintptr(unsafe.Pointer(&ways)), uintptr(workspace.at), uintptr(workspace.bytes))
		_ = workspace.Free()
		_ = v.EmptyCache() // nobody else needs so much at once
		if err := l.dnn.check("cudnnFindConvolutionAlgorithmEx", code); err != nil {
			return err
		}
	} else if err := l.dnn.check("cudnnGetConvolutionAlgorithm_v7", r.choose(l.handle, made.left, made.right, made.convolution, made.out, dnnWays, &found, &ways)); err != nil {
		return err
	}
	for i := range ways[:found] {
		way := &ways[i]
		if way.status != 0 || key.isDeterministic && way.determinism != 1 {
			continue
		}
		if key.math() == dnnExactMath {
			way.math = dnnExactMath
		}
		var bytes uint64
		if l.dnn.cudnnSetConvolutionMathType(made.convolution, way.math) != 0 ||
			r.workspace(l.handle, made.left, made.right, made.convolution, made.out, way.algorithm, &bytes) != 0 {
			continue
		}
		made.math, way.bytes = way.math, max(way.bytes, bytes)
		made.ways = append(made.ways, *way)
	}
	if len(made.ways) == 0 {
		return errors.New("cuDNN has no way to compute it")
	}
	return nil
}

// forget gives up what was made.
func (l *convolutionLibrary) forget() {
	for _, made := range l.made {
		l.destroy(made)
	}
	l.made = nil
}

// destroy gives the descriptors back.
func (l *convolutionLibrary) destroy(made *convolution) {
	for _, t := range []uintptr{made.input, made.result, made.bias} {
		if t != 0 {
			l.dnn.cudnnDestroyTensorDescriptor(t)
		}
	}
	if made.weight != 0 {
		l.dnn.cudnnDestroyFilterDescriptor(made.weight)
	}
	if made.convolution != 0 {
		l.dnn.cudnnDestroyConvolutionDescriptor(made.convolution)
	}
	*made = convolution{why: made.why}
}
