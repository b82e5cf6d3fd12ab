// Package serve serves models over HTTP by the KServe v2 inference protocol, in JSON and with binary tensors.
//
// New makes a Server, which is an http.Handler: it has the paths of the protocol (/v2/...) and /metrics for Prometheus. A request goes from the
// handler to the queue of its model (queue.go), where a worker takes it, alone or with others of the same kind as one batch, and calls the
// model. Nothing of a request is kept after its answer.
//
//	request  -> decode.go -> queue.go -> gojit.Model -> encode.go -> answer
//
// An error says whose it is: 400 the request is not of the protocol or does not fit the model, 404 there is no such model, 413 it is too large, 422 the
// model failed on it, 429 the queue is full, 500 the library is wrong, 503 the server stops or the time of the request is over.
package serve
