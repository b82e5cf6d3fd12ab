// Consumer prints what a method of a model gives for zeros of some sizes: consumer MODEL METHOD N...
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func main() {
	model, err := gojit.LoadWith(os.Args[1], gojit.LoadOptions{RefuseCode: true})
	if err != nil {
		log.Fatal(err)
	}
	var sizes []int
	for _, text := range os.Args[3:] {
		n, err := strconv.Atoi(text)
		if err != nil {
			log.Fatal(err)
		}
		sizes = append(sizes, n)
	}
	zeros, err := tensor.Zeros(sizes, tensor.Float32)
	if err != nil {
		log.Fatal(err)
	}
	result, err := model.Call(context.Background(), os.Args[2], zeros)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := gojit.As[[][]float32](result)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(rows), len(rows[0]))
}
