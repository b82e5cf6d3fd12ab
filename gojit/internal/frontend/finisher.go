package frontend

import "github.com/torchjit/torchjit/gojit/internal/ir"

// BackgroundFinisher makes the graphs of functions on another goroutine, in the order in which they were emitted, while
// others are emitted. Until Define returns, the functions that were compiled with it have a schema and no graph.
type BackgroundFinisher struct {
	queue  chan func() error
	done   chan outcome
	spares chan *ir.NodePool
}

type outcome struct {
	err      error
	panicked any
}

// ahead is how many functions may be emitted that are not finished. Each has memory that the next could be made of.
const ahead = 4

// NewBackgroundFinisher returns one that runs until Define is called.
func NewBackgroundFinisher() *BackgroundFinisher {
	f := &BackgroundFinisher{queue: make(chan func() error, ahead), done: make(chan outcome, 1), spares: make(chan *ir.NodePool, ahead+2)}
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			for range f.queue { // what follows is not wanted any more
			}
			f.done <- o
		}()
		for finish := range f.queue {
			if o.err = finish(); o.err != nil {
				return
			}
		}
	}()
	return f
}

// spare returns memory that a finished graph did not keep, nil without a finisher.
func (f *BackgroundFinisher) spare() *ir.NodePool {
	if f == nil {
		return nil
	}
	select {
	case s := <-f.spares:
		return s
	default:
		return &ir.NodePool{}
	}
}

func (f *BackgroundFinisher) recycle(s *ir.NodePool) {
	select {
	case f.spares <- s:
	default: // there is enough
	}
}

func (f *BackgroundFinisher) add(finish func() error) { f.queue <- finish }

// Define defines functions whose options have f, in order, and returns when their graphs are made. It fails with
// the first error of a definition; then the rest stays undefined. Nothing can be compiled with f afterwards.
func (f *BackgroundFinisher) Define(functions []*ir.Function) (err error) {
	for _, function := range functions {
		if err = function.EnsureDefined(); err != nil {
			break
		}
	}
	close(f.queue)
	o := <-f.done
	if o.panicked != nil {
		panic(o.panicked)
	}
	if err != nil {
		return err
	}
	return o.err
}
