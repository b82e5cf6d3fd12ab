// Package quantized names the kinds of nodes that the passes of quantization make and look for.
package quantized

const (
	Add                = "quantized::add"
	BatchNorm          = "quantized::batch_norm"
	BatchNormRelu      = "quantized::batch_norm_relu"
	Cat                = "quantized::cat"
	Conv1d             = "quantized::conv1d"
	Conv2d             = "quantized::conv2d"
	Conv3d             = "quantized::conv3d"
	ConvTranspose1d    = "quantized::conv_transpose1d"
	ConvTranspose2d    = "quantized::conv_transpose2d"
	Elu                = "quantized::elu"
	EmbeddingBagUnpack = "quantized::embedding_bag_unpack"
	InstanceNorm       = "quantized::instance_norm"
	Linear             = "quantized::linear"
	LinearDynamic      = "quantized::linear_dynamic"
	LinearDynamicFp16  = "quantized::linear_dynamic_fp16"
	LinearPrepackFp16  = "quantized::linear_prepack_fp16"
	LinearUnpack       = "quantized::linear_unpack"
	LinearUnpackFp16   = "quantized::linear_unpack_fp16"
	Mul                = "quantized::mul"
)
