package tensor_test

import (
	"fmt"
	"log"

	"github.com/torchjit/torchjit/gojit/tensor"
)

func ExampleFromSlice() {
	t, err := tensor.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t)
	fmt.Println(t.DType(), t.Shape())
	// Output:
	// tensor([[1., 2., 3.],
	//         [4., 5., 6.]])
	// float32 [2 3]
}

// The elements of a view are those that it shows, in order.
func ExampleElements() {
	t, err := tensor.FromSlice([]int64{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		log.Fatal(err)
	}
	column, err := t.Narrow(1, 1, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.Elements[int64](column))
	_, err = tensor.Elements[float32](column)
	fmt.Println(err)
	// Output:
	// [2 5] <nil>
	// the tensor has elements of type int64, not float32: convert it with To
}

func ExampleTensor_Float64s() {
	t, err := tensor.FromSlice([]uint8{1, 2, 255}, 3)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Float64s())
	// Output: [1 2 255] <nil>
}
