package frontend

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/quantized"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// nativeMethods has the operators that methods of native classes are, by the name of the class.
var nativeMethods = map[string]map[string]string{
	types.NativePrefix + "quantized.LinearPackedParamsBase":    {"unpack": quantized.LinearUnpack},
	types.NativePrefix + "quantized.EmbeddingPackedParamsBase": {"unpack": quantized.EmbeddingBagUnpack},
	types.NativePrefix + "quantized.Conv2dPackedParamsBase":    convMethods("quantized::conv2d_"),
	types.NativePrefix + "quantized.Conv3dPackedParamsBase":    convMethods("quantized::conv3d_"),
}

// convMethods gives the operators of a packed convolution, whose names begin with prefix.
func convMethods(prefix string) map[string]string {
	methods := map[string]string{}
	for _, name := range []string{"unpack", "stride", "padding", "output_padding", "dilation", "groups", "transpose"} {
		methods[name] = prefix + name
	}
	return methods
}

// nativeMethod is a method of an object of a native class: an operator whose first argument is the object.
type nativeMethod struct {
	*BuiltinFunction
	object *ir.Value
}

// Call implements SugaredValue.
func (m *nativeMethod) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	return m.BuiltinFunction.Call(e, at, append([]ir.Argument{ir.Arg(m.object)}, args...), kwargs, binders)
}
