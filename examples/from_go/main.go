// From_go runs a model that PyTorch saved, with neither Python nor libtorch.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/torchjit/torchjit/gojit"
)

func main() {
	model, err := gojit.Load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	text, err := model.Call(context.Background(), "generate", "the c", 40)
	fmt.Println(text.Str(), err)
}
