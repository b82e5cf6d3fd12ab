package tensor

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// PrintOptions are the settings of torch.set_printoptions.
type PrintOptions struct {
	Precision int
	Threshold int // number of elements from which only the edges are shown
	EdgeItems int
	LineWidth int
	SciMode   *bool // nil decides by the values
}

// DefaultPrintOptions are the settings of a fresh Python session.
var DefaultPrintOptions = PrintOptions{Precision: 4, Threshold: 1000, EdgeItems: 3, LineWidth: 80}

// printOptions are the settings in force, nil for DefaultPrintOptions.
var printOptions atomic.Pointer[PrintOptions]

// SetPrintOptions changes what Repr and String show, for the whole process.
func SetPrintOptions(o PrintOptions) { printOptions.Store(&o) }

// Repr returns what Python shows for the tensor. gradFn is the name of the node that made it, or "".
func (t *Tensor) Repr(gradFn string, more ...string) string {
	if o := printOptions.Load(); o != nil {
		return t.ReprWith(*o, gradFn, more...)
	}
	return t.ReprWith(DefaultPrintOptions, gradFn, more...)
}

// String returns the Python representation.
func (t *Tensor) String() string { return t.Repr("") }

// ReprWith is Repr with other settings.
func (t *Tensor) ReprWith(o PrintOptions, gradFn string, more ...string) string {
	const prefix = "tensor("
	device, requiresGrad := t.ShownDevice(), t.requiresGrad
	t, err := t.onHost()
	if err != nil {
		return prefix + err.Error() + ")"
	}
	var body string
	var suffixes []string
	isDefault := t.dtype == DefaultDType() || t.dtype == Int64 || t.dtype == Bool || t.dtype == DefaultDType().ToComplex()
	opaque := t.Layout() == MKLDNN
	if opaque {
		t = t.Sparse().Values
	}
	if device.Type != CPU {
		suffixes = append(suffixes, "device='"+device.String()+"'")
	}
	size := "size=" + pythonTuple(t.shape)
	newline := false
	switch {
	case t.IsSparse():
		parts := t.Sparse()
		body, newline = o.sparseText(parts, len(prefix)), parts.Layout == SparseCOO
		suffixes = append(suffixes[:0], size, "nnz="+strconv.Itoa(parts.NNZ()))
		if !isDefault {
			suffixes = append(suffixes, "dtype=torch."+t.dtype.String())
		}
		suffixes = append(suffixes, "layout=torch."+parts.Layout.String())
	case t.device.Type == Meta:
		suffixes = append(suffixes, size)
		if t.dtype != DefaultDType() {
			suffixes = append(suffixes, "dtype=torch."+t.dtype.String())
		}
		body = "..."
	case t.dtype.IsQuantized():
		suffixes = append(suffixes, size, "dtype=torch."+t.dtype.String())
		if t.quantizer == nil { // nobody has said how the integers are read
			body = o.tensorText(t.IntegersView(), len(prefix))
			break
		}
		suffixes = append(suffixes, o.quantizerText(t.quantizer)...)
		real, err := Dequantize(t)
		if err != nil {
			return "tensor(" + err.Error() + ")"
		}
		body = o.tensorText(real, len(prefix))
	case t.numel == 0:
		if len(t.shape) != 1 {
			suffixes = append(suffixes, size)
		}
		if t.dtype != DefaultDType() {
			suffixes = append(suffixes, "dtype=torch."+t.dtype.String())
		}
		body = "[]"
	default:
		if !isDefault {
			suffixes = append(suffixes, "dtype=torch."+t.dtype.String())
		}
		body = o.tensorText(t, len(prefix))
	}
	if opaque {
		suffixes = append(suffixes, "layout=torch._mkldnn")
	}
	if gradFn != "" {
		suffixes = append(suffixes, "grad_fn=<"+gradFn+">")
	} else if requiresGrad {
		suffixes = append(suffixes, "requires_grad=True")
	}
	if t.Names() != nil {
		suffixes = append(suffixes, "names="+t.namesText())
	}
	suffixes = append(suffixes, more...)
	return o.addSuffixes(prefix+body, suffixes, len(prefix), newline)
}

// sparseText shows the parts of a sparse tensor, one below the other.
func (o PrintOptions) sparseText(s *Sparse, indent int) string {
	names := map[bool][2]string{true: {"crow_indices", "col_indices"}, false: {"ccol_indices", "row_indices"}}[s.Layout.ByRows()]
	parts := []string{o.partText(names[0], s.Indices, indent), "", o.partText("values", s.Values, indent)}
	if s.Layout == SparseCOO {
		parts = []string{o.partText("indices", s.Indices, indent), parts[2]}
	} else {
		parts[1] = o.partText(names[1], s.Plain, indent)
	}
	return strings.Join(parts, ",\n"+strings.Repeat(" ", indent))
}

func (o PrintOptions) partText(name string, t *Tensor, indent int) string {
	prefix := name + "=tensor("
	if t.numel == 0 {
		return prefix + "[], size=" + pythonTuple(t.shape) + ")"
	}
	return prefix + o.tensorText(t, indent+len(prefix)) + ")"
}

// quantizerText is how the integers of a quantized tensor are read.
func (o PrintOptions) quantizerText(q *Quantizer) []string {
	if !q.PerChannel() {
		return []string{
			"quantization_scheme=torch.per_tensor_affine",
			"scale=" + decimal.Python(q.Scale), "zero_point=" + strconv.FormatInt(q.ZeroPoint, 10),
		}
	}
	if q.FloatZeros != nil {
		return []string{
			"quantization_scheme=torch." + q.Scheme(), "scale=" + vectorText(o, q.floatScales()),
			"zero_point=" + vectorText(o, q.FloatZeros), "axis=" + strconv.Itoa(q.Axis),
		}
	}
	return []string{
		"quantization_scheme=torch.per_channel_affine",
		"scale=" + vectorText(o, q.Scales),
		"zero_point=" + vectorText(o, q.ZeroPoints),
		"axis=" + strconv.Itoa(q.Axis),
	}
}

func vectorText[T Element](o PrintOptions, numbers []T) string {
	t, err := FromSlice(numbers, len(numbers))
	if err != nil {
		return "tensor(" + err.Error() + ")"
	}
	return t.ReprWith(o, "")
}

// addSuffixes puts them behind a text, the first one on a line of its own where newline is set.
func (o PrintOptions) addSuffixes(text string, suffixes []string, indent int, newline bool) string {
	line := len(text) - strings.LastIndexByte(text, '\n') + 1
	for _, s := range suffixes {
		if newline || line+len(s)+2 > o.LineWidth {
			text += ",\n" + strings.Repeat(" ", indent) + s
			line, newline = indent+len(s), false
		} else {
			text += ", " + s
			line += len(s) + 2
		}
	}
	return text + ")"
}

func pythonTuple(shape []int) string {
	parts := make([]string, len(shape))
	for i, n := range shape {
		parts[i] = strconv.Itoa(n)
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// formatter writes all elements of one tensor, or one part of complex ones, in one width.
type formatter struct {
	precision int
	width     int
	floating  bool
	whole     bool // every value is a whole number
	sci       bool
}

// newFormatter chooses the form by the values that will be shown.
func (o PrintOptions) newFormatter(values []float64, texts []string) *formatter {
	f := &formatter{precision: o.Precision, width: 1, floating: texts == nil, whole: true}
	if !f.floating {
		for _, s := range texts {
			f.width = max(f.width, len(s))
		}
		return f
	}
	low, high := math.Inf(1), 0.0
	shown := values[:0:0]
	for _, v := range values {
		if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		shown = append(shown, v)
		low, high = min(low, math.Abs(v)), max(high, math.Abs(v))
		f.whole = f.whole && v == math.Ceil(v)
	}
	if len(shown) == 0 {
		return f
	}
	f.sci = high/low > 1000 || high > 1e8 || !f.whole && low < 1e-4
	for _, v := range shown {
		f.width = max(f.width, len(f.digits(v)))
	}
	if o.SciMode != nil { // the width stays that of the form which the values ask for
		f.sci = *o.SciMode
	}
	return f
}

// digits writes one number without padding.
func (f *formatter) digits(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 0):
		return decimal.Python(v)
	case f.sci:
		return strconv.FormatFloat(v, 'e', f.precision, 64)
	case f.whole:
		return strconv.FormatFloat(v, 'f', 0, 64) + "."
	}
	return strconv.FormatFloat(v, 'f', f.precision, 64)
}

func (f *formatter) pad(s string) string {
	if n := f.width - len(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// printer writes one tensor.
type printer struct {
	PrintOptions
	summarize  bool
	first      *formatter
	imaginary  *formatter // for complex elements, else nil
	elementLen int
	visited    int // rows and elements so far
}

func (o PrintOptions) tensorText(t *Tensor, indent int) string {
	p := &printer{PrintOptions: o, summarize: t.numel > o.Threshold}
	var values, imaginary []float64
	var texts []string
	p.visit(t, func(s Scalar) {
		switch {
		case t.dtype.IsFloating() || t.dtype.IsComplex():
			values = append(values, s.real())
			if t.dtype.IsComplex() {
				imaginary = append(imaginary, s.imag)
			}
		default:
			texts = append(texts, integerText(s))
		}
	})
	p.first = o.newFormatter(values, texts)
	p.elementLen = p.first.width + 2
	if t.dtype.IsComplex() {
		p.imaginary = o.newFormatter(imaginary, nil)
		p.elementLen += p.imaginary.width + 1
	}
	return p.text(t, indent)
}

func integerText(s Scalar) string {
	if s.Kind == BoolScalar {
		if s.Bool() {
			return "True"
		}
		return "False"
	}
	return strconv.FormatInt(s.Int64(), 10)
}

// visit calls f for every element that will be shown.
func (p *printer) visit(t *Tensor, f func(Scalar)) {
	if len(t.shape) == 0 {
		f(t.At())
		return
	}
	p.edges(t, func(row *Tensor) { p.visit(row, f) }, func() {})
}

// edges calls f for the shown slices along the first dimension and gap where some are left out.
func (p *printer) edges(t *Tensor, f func(*Tensor), gap func()) {
	n := t.shape[0]
	for i := 0; i < n; i++ {
		if p.summarize && n > 2*p.EdgeItems && i == p.EdgeItems {
			gap()
			i = n - p.EdgeItems
			if i == n {
				break
			}
		}
		if p.visited++; p.visited%256 == 0 {
			parallel.Look()
		}
		row, _ := t.Select(0, i) // i is in range
		f(row)
	}
}

func (p *printer) element(s Scalar) string {
	if !p.first.floating {
		return p.first.pad(integerText(s))
	}
	re := p.first.pad(p.first.digits(s.real()))
	if p.imaginary == nil {
		return re
	}
	im := strings.TrimLeft(p.imaginary.pad(p.imaginary.digits(s.imag))+"j", " ")
	if im[0] != '-' && im[0] != '+' {
		im = "+" + im
	}
	return re + im
}

func (p *printer) text(t *Tensor, indent int) string {
	switch len(t.shape) {
	case 0:
		return p.element(t.At())
	case 1:
		return p.vector(t, indent)
	}
	var rows []string
	p.edges(t, func(row *Tensor) { rows = append(rows, p.text(row, indent+1)) }, func() { rows = append(rows, "...") })
	separator := "," + strings.Repeat("\n", len(t.shape)-1) + strings.Repeat(" ", indent+1)
	return "[" + strings.Join(rows, separator) + "]"
}

func (p *printer) vector(t *Tensor, indent int) string {
	perLine := max(1, (p.LineWidth-indent)/p.elementLen)
	var items []string
	p.edges(t, func(e *Tensor) { items = append(items, p.element(e.At())) }, func() { items = append(items, " ...") })
	var lines []string
	for i := 0; i < len(items); i += perLine {
		lines = append(lines, strings.Join(items[i:min(i+perLine, len(items))], ", "))
	}
	return "[" + strings.Join(lines, ",\n"+strings.Repeat(" ", indent+1)) + "]"
}

// CppString returns the form that C++ streams and print in a compiled program give: rows of
// numbers and a line with type and sizes. Complex elements show their real part.
func (t *Tensor) CppString() string {
	if t.Layout() == MKLDNN {
		s := t.Sparse().Values.CppString()
		at := strings.LastIndex(s, "[ ")
		return s[:at] + "[ Mkldnn" + s[at+len("[ "):]
	}
	if t.IsSparse() {
		return "[ Sparse" + map[bool]string{true: "Csr"}[t.Layout().Compressed()] + "CPU" + strings.TrimSuffix(t.dtype.TensorClass(), "Tensor") + "Type{" + strings.Trim(FormatShape(t.shape), "[]") + "} ]"
	}
	var b strings.Builder
	real := t
	if t.device.Type != Meta {
		var err error
		if real, err = t.onHost(); err == nil {
			real, err = real.To(Float64)
		}
		if err != nil { // more elements than fit the memory, of which many share theirs
			return "[ " + err.Error() + " ]"
		}
	}
	switch {
	case t.device.Type == Meta:
	case len(t.shape) == 0:
		fmt.Fprintf(&b, "%s\n", decimal.General(real.At().Float64(), 6))
	case t.numel == 0:
	case len(t.shape) == 1:
		f := chooseCppFormat(real)
		f.writeScale(&b)
		for i := range t.shape[0] {
			f.write(&b, real.At(i).Float64())
			b.WriteByte('\n')
		}
	case len(t.shape) == 2:
		writeCppMatrix(&b, real, 0)
	default:
		writeCppMatrices(&b, real)
	}
	sizes := make([]string, len(t.shape))
	for i, n := range t.shape {
		sizes[i] = strconv.Itoa(n)
	}
	kind := ""
	if t.dtype.IsQuantized() {
		kind = "Quantized"
	}
	fmt.Fprintf(&b, "[ %s%s%sType{%s}", kind, strings.ToUpper(deviceNames[t.device.Type]), t.dtype.CppName(), strings.Join(sizes, ","))
	if t.quantizer != nil {
		fmt.Fprintf(&b, ", qscheme: per_tensor_affine, scale: %s, zero_point: %d", decimal.General(t.quantizer.Scale, 6), t.quantizer.ZeroPoint)
	}
	b.WriteString(" ]")
	return b.String()
}

// cppFormat is the form of all numbers of one matrix or vector.
type cppFormat struct {
	verb  byte // g, e or f
	width int
	scale float64
}

func chooseCppFormat(t *Tensor) cppFormat {
	whole, any := true, false
	low, high := 1.0, 1.0
	var l Loop
	l.Init(t.shape, true, t)
	for l.Next() {
		for i := range l.N {
			v := *at[float64](l.Ptr[0], l.Step[0], i)
			if math.IsInf(v, 0) || math.IsNaN(v) {
				continue
			}
			whole = whole && v == math.Ceil(v)
			a := math.Abs(v)
			if !any {
				low, high, any = a, a, true
			}
			low = min(low, a)
			if v > high { // signed, as in PyTorch: a negative number behind the first does not widen the columns
				high = a
			}
		}
	}
	lowExp, highExp := decimalExponent(low), decimalExponent(high)
	switch {
	case whole && highExp > 9:
		return cppFormat{'e', 11, 1}
	case whole:
		return cppFormat{'g', highExp + 1, 1}
	case highExp-lowExp > 4:
		width := 11
		if max(highExp, -highExp) > 99 || max(lowExp, -lowExp) > 99 {
			width++
		}
		return cppFormat{'e', width, 1}
	case highExp > 5 || highExp < 0:
		return cppFormat{'f', 7, math.Pow(10, float64(highExp-1))}
	case highExp == 0:
		return cppFormat{'f', 7, 1}
	}
	return cppFormat{'f', highExp + 6, 1}
}

func decimalExponent(v float64) int {
	if v == 0 {
		return 1
	}
	return int(math.Floor(math.Log10(v))) + 1
}

func (f cppFormat) write(b *strings.Builder, v float64) {
	v /= f.scale
	s := decimal.General(v, 6)
	if f.verb != 'g' && !math.IsNaN(v) && !math.IsInf(v, 0) {
		s = strconv.FormatFloat(v, f.verb, 4, 64)
	}
	fmt.Fprintf(b, "%*s", f.width, s)
}

func (f cppFormat) writeScale(b *strings.Builder) {
	if f.scale != 1 {
		b.WriteString(strconv.FormatFloat(f.scale, 'g', 4, 64) + " *\n")
	}
}

func writeCppMatrix(b *strings.Builder, t *Tensor, indent int) {
	const lineSize = 80
	pad := strings.Repeat(" ", indent)
	f := chooseCppFormat(t)
	b.WriteString(pad)
	rows, columns := t.shape[0], t.shape[1]
	perLine := max((lineSize-indent)/(f.width+1), 1)
	for first := 0; first < columns; first += perLine {
		last := min(first+perLine, columns) - 1
		if perLine < columns {
			if first != 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(b, "Columns %d to %d%s", first+1, last+1, pad)
		}
		if f.scale != 1 {
			f.writeScale(b)
			b.WriteString(pad)
		}
		for r := range rows {
			for c := first; c <= last; c++ {
				f.write(b, t.At(r, c).Float64())
				if c < last {
					b.WriteByte(' ')
				}
			}
			b.WriteByte('\n')
			if r != rows-1 {
				b.WriteString(pad)
				if f.scale != 1 {
					b.WriteByte(' ')
				}
			}
		}
	}
}

// writeCppMatrices writes the matrices of the last two dimensions, each under its index, of which the first number moves fastest.
func writeCppMatrices(b *strings.Builder, t *Tensor) {
	outer := t.shape[:len(t.shape)-2]
	count := 1
	for _, size := range outer {
		count *= size
	}
	for at := range count {
		if at > 0 {
			b.WriteByte('\n')
		}
		b.WriteByte('(')
		matrix := t
		for _, size := range outer {
			fmt.Fprintf(b, "%d,", at%size+1)
			matrix, _ = matrix.Select(0, at%size) // it is in range
			at /= size
		}
		b.WriteString(".,.) = \n")
		writeCppMatrix(b, matrix, 1)
	}
}
