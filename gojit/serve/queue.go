package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// job is a request that waits for a worker, or is with one.
type job struct {
	loaded *loaded
	inputs []gojit.Keyword
	ctx    context.Context
	result chan outcome // gets one
}

// outcome is what a call gave.
type outcome struct {
	outputs []gojit.Output
	err     error
}

// queue holds the requests of a model.
type queue struct {
	model   *model
	waiting chan *job
	stopped chan struct{}
	once    sync.Once
}

func newQueue(m *model) *queue {
	q := &queue{model: m, waiting: make(chan *job, m.config.MaxQueue), stopped: make(chan struct{})}
	for range m.config.Workers {
		go q.serve()
	}
	return q
}

func (q *queue) close() { q.once.Do(func() { close(q.stopped) }) }

// run waits for the outcome of a job.
func (q *queue) run(ctx context.Context, j *job) ([]gojit.Output, error) {
	j.ctx, j.result = ctx, make(chan outcome, 1)
	select {
	case q.waiting <- j:
	default:
		return nil, problemf(http.StatusTooManyRequests, "%d requests wait for the model %q already", cap(q.waiting), q.model.config.Name)
	}
	select {
	case o := <-j.result:
		return o.outputs, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-q.stopped:
		return nil, problemf(http.StatusServiceUnavailable, "the server stops")
	}
}

// serve is the life of a worker. A job that does not fit into a batch begins the next one.
func (q *queue) serve() {
	var next *job
	for {
		first := next
		next = nil
		if first == nil {
			select {
			case first = <-q.waiting:
			case <-q.stopped:
				return
			}
		}
		var batch []*job
		batch, next = q.gather(first)
		q.model.metrics.batch.Observe(float64(len(batch)))
		q.call(batch)
	}
}

// gather adds jobs of the same kind to the first one, as long as there is room and time.
func (q *queue) gather(first *job) (batch []*job, next *job) {
	batch = []*job{first}
	rows := first.rows()
	if q.model.config.MaxBatch == 1 || rows == 0 || first.loaded.unbatched.Load() {
		return batch, nil
	}
	timer := time.NewTimer(q.model.config.BatchDelay)
	defer timer.Stop()
	for rows < q.model.config.MaxBatch {
		j := q.another(timer.C)
		if j == nil {
			break
		}
		if !first.fits(j) || rows+j.rows() > q.model.config.MaxBatch {
			return batch, j
		}
		batch = append(batch, j)
		rows += j.rows()
	}
	return batch, nil
}

// another returns a job that waits or comes before the time is over, nil where there is none.
func (q *queue) another(over <-chan time.Time) *job {
	select {
	case j := <-q.waiting:
		return j
	default:
	}
	if q.model.config.BatchDelay < 0 {
		return nil
	}
	select {
	case j := <-q.waiting:
		return j
	case <-over:
	case <-q.stopped:
	}
	return nil
}

// rows returns the size of the first dimension that all inputs have, 0 where they do not have one in common.
func (j *job) rows() int {
	rows := 0
	for _, in := range j.inputs {
		t, ok := in.Value.(*tensor.Tensor)
		if !ok || t.Dim() == 0 || t.Size(0) == 0 || rows != 0 && rows != t.Size(0) {
			return 0
		}
		rows = t.Size(0)
	}
	return rows
}

// fits reports whether two jobs can be rows of one call.
func (j *job) fits(other *job) bool {
	if j.loaded != other.loaded || len(j.inputs) != len(other.inputs) || other.rows() == 0 {
		return false
	}
	for i, in := range j.inputs {
		a, b := in.Value.(*tensor.Tensor), other.inputs[i].Value.(*tensor.Tensor)
		if in.Name != other.inputs[i].Name || a.DType() != b.DType() || !tensor.SameShape(a.Shape()[1:], b.Shape()[1:]) {
			return false
		}
	}
	return true
}

// call runs a batch and gives each job its outcome.
func (q *queue) call(batch []*job) {
	var alive []*job
	for _, j := range batch {
		if err := j.ctx.Err(); err != nil {
			j.result <- outcome{err: err}
			continue
		}
		alive = append(alive, j)
	}
	if len(alive) > 1 && q.callTogether(alive) {
		return
	}
	for _, j := range alive {
		outputs, err := q.callOne(j.ctx, j.loaded, j.inputs)
		j.result <- outcome{outputs, err}
	}
}

func (q *queue) callOne(ctx context.Context, l *loaded, inputs []gojit.Keyword) ([]gojit.Output, error) {
	args := make([]any, 0, len(inputs)+1)
	for _, in := range inputs {
		args = append(args, in)
	}
	out, err := l.model.Call(ctx, l.method, append(args, gojit.WithThreads(q.model.config.Threads))...)
	if err != nil {
		return nil, err
	}
	return gojit.Outputs(out), nil
}

// callTogether runs jobs as one call. It reports false, and answers none of them, where that fails, or gives something else than their rows: then
// they run one by one, and each gets its own outcome.
func (q *queue) callTogether(batch []*job) bool {
	joined, total, err := join(batch)
	if err != nil {
		return false
	}
	ctx, cancel := longest(batch)
	defer cancel()
	first := batch[0].loaded
	outputs, err := q.callOne(ctx, first, joined)
	if err != nil {
		return false
	}
	for _, o := range outputs {
		if !o.Value.IsTensor() || o.Value.Tensor().Dim() == 0 || o.Value.Tensor().Size(0) != total {
			if !first.unbatched.Swap(true) {
				q.model.server.config.Log.Warn("results are not rows of the inputs: requests run one by one", "model", q.model.config.Name, "output", o.Name)
			}
			return false
		}
	}
	at := 0
	parts := make([]outcome, len(batch))
	for i, j := range batch {
		parts[i] = rowsOf(outputs, at, j.rows())
		at += j.rows()
	}
	for i, j := range batch {
		j.result <- parts[i]
	}
	return true
}

// longest returns a context that ends when the last of the jobs' would.
func longest(batch []*job) (context.Context, context.CancelFunc) {
	var last time.Time
	for _, j := range batch {
		if d, ok := j.ctx.Deadline(); ok && d.After(last) {
			last = d
		}
	}
	return context.WithDeadline(context.Background(), last)
}

// join puts the rows of jobs behind each other.
func join(batch []*job) ([]gojit.Keyword, int, error) {
	total := 0
	for _, j := range batch {
		total += j.rows()
	}
	joined := make([]gojit.Keyword, len(batch[0].inputs))
	for i, in := range batch[0].inputs {
		t := in.Value.(*tensor.Tensor)
		all, err := tensor.Empty(append([]int{total}, t.Shape()[1:]...), t.DType())
		if err != nil {
			return nil, 0, err
		}
		memory := tensor.Raw(all)
		for _, j := range batch {
			memory = memory[copy(memory, tensor.Raw(j.inputs[i].Value.(*tensor.Tensor))):]
		}
		joined[i] = gojit.Keyword{Name: in.Name, Value: all}
	}
	return joined, total, nil
}

func rowsOf(outputs []gojit.Output, at, n int) outcome {
	own := make([]gojit.Output, len(outputs))
	for i, o := range outputs {
		part, err := o.Value.Tensor().Narrow(0, at, n)
		if err != nil {
			return outcome{err: err}
		}
		v, err := gojit.ValueOf(part)
		if err != nil {
			return outcome{err: err}
		}
		own[i] = gojit.Output{Name: o.Name, Value: v}
	}
	return outcome{outputs: own}
}
