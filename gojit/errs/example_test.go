package errs_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
)

// An argument that does not fit is the caller's mistake; nothing has run.
func ExampleCallError() {
	p, err := gojit.Compile("example.py", "def f(n: int):\n    return n\n")
	if err != nil {
		log.Fatal(err)
	}
	_, err = p.Call(context.Background(), "f", "three")
	var call *errs.CallError
	fmt.Println(errors.As(err, &call), call.Argument, errs.FaultOf(err))
	fmt.Println(err)
	// Output:
	// true n caller
	// f expects a value of type int for the argument 'n': found a Go value of type string: f(int n) -> int
}

// What the program raises is the program's mistake, with the lines that led to it.
func ExampleFaultOf() {
	p, err := gojit.Compile("example.py", "def f(n: int):\n    if n < 0:\n        raise ValueError('negative')\n    return n\n")
	if err != nil {
		log.Fatal(err)
	}
	_, err = p.Call(context.Background(), "f", -1)
	fmt.Println(errs.FaultOf(err))
	_, err = p.Call(context.Background(), "g")
	fmt.Println(errs.FaultOf(err))
	// Output:
	// program
	// caller
}

// A server can say where in the program a request failed.
func ExamplePlaceOf() {
	p, err := gojit.Compile("example.py", "def f(n: int):\n    return 1 // n\n")
	if err != nil {
		log.Fatal(err)
	}
	_, err = p.Call(context.Background(), "f", 0)
	file, line, column, ok := errs.PlaceOf(err)
	fmt.Println(file, line, column, ok)
	// Output: example.py 2 11 true
}

func ExampleFileError() {
	_, err := gojit.LoadBytes([]byte("junk"))
	var file *errs.FileError
	fmt.Println(errors.As(err, &file), errs.FaultOf(err))
	// Output: true caller
}
