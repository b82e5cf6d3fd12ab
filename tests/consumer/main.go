// Consumer prints what a method of a model gives for zeros of some sizes, and what a server of the model says of it: consumer MODEL METHOD N...
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/serve"
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
	if err := serveModel(model, os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// serveModel serves a model on a free port and asks the server what it serves.
func serveModel(model gojit.Model, method string) error {
	server, err := serve.New(serve.Config{Models: []serve.ModelConfig{{Name: "m", Model: model, Method: method}}})
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	go h.Serve(listener)
	defer h.Close()
	resp, err := http.Get("http://" + listener.Addr().String() + "/v2/models/m")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}
