package serve

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit"
)

// model is a model that is served.
type model struct {
	config  ModelConfig
	server  *Server
	loaded  atomic.Pointer[loaded]
	queue   *queue
	metrics modelMetrics
	failed  fileState // of the last load that failed
}

// loaded is a model as it is in memory. A request runs on the one that was there when it came.
type loaded struct {
	model     gojit.Model
	method    string
	signature gojit.Signature
	file      fileState
	unbatched atomic.Bool // its results are not rows: requests run one by one
}

// fileState tells whether a file has changed.
type fileState struct {
	size     int64
	modified time.Time
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{info.Size(), info.ModTime()}
}

func newModel(c ModelConfig, s *Server) (*model, error) {
	if c.Method == "" {
		c.Method = "forward"
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = 1
	}
	if c.BatchDelay == 0 {
		c.BatchDelay = time.Millisecond
	}
	if c.MaxQueue == 0 {
		c.MaxQueue = 256
	}
	if c.Workers == 0 {
		c.Workers = 1
		if c.MaxBatch == 1 {
			c.Workers = runtime.GOMAXPROCS(0)
		}
	}
	m := &model{config: c, server: s, metrics: s.metrics.of(c.Name)}
	l, err := m.load()
	if err != nil {
		return nil, err
	}
	m.loaded.Store(l)
	m.queue = newQueue(m)
	s.config.Log.Info("model loaded", "model", c.Name, "file", c.Path)
	return m, nil
}

func (m *model) load() (*loaded, error) {
	l := &loaded{model: m.config.Model, method: m.config.Method}
	if l.model == nil {
		var err error
		l.file = stateOf(m.config.Path)
		if l.model, err = gojit.Open(m.config.Path, m.config.Load); err != nil {
			return nil, fmt.Errorf("%s: %w", m.config.Path, err)
		}
	}
	var err error
	l.signature, err = l.model.Signature(l.method)
	return l, err
}

// reloadIfChanged loads the model again where its file is another than the one that was loaded, or could not be.
func (m *model) reloadIfChanged() {
	if m.config.Path == "" {
		return
	}
	now := stateOf(m.config.Path)
	if now == m.loaded.Load().file || now == m.failed || now == (fileState{}) {
		return
	}
	l, err := m.load()
	m.server.metrics.reloaded(m.config.Name, err)
	if err != nil {
		m.failed = now
		m.server.config.Log.Error("the model cannot be loaded again and stays as it is", "model", m.config.Name, "file", m.config.Path, "error", err)
		return
	}
	m.loaded.Store(l)
	m.server.config.Log.Info("model loaded again", "model", m.config.Name, "file", m.config.Path)
}

// tensorMetadata describes an input or an output. Programs do not say sizes: one dimension of -1 stands for any.
type tensorMetadata struct {
	Name     string `json:"name"`
	DataType string `json:"datatype"`
	Shape    []int  `json:"shape"`
	Optional bool   `json:"optional,omitempty"`
}

func (m *model) metadata() any {
	l := m.loaded.Load()
	inputs, outputs := []tensorMetadata{}, []tensorMetadata{}
	for _, p := range l.signature.Parameters {
		inputs = append(inputs, tensorMetadata{p.Name, dataTypeOf(p.Type), shapeOf(p.Type), p.Optional})
	}
	for _, name := range l.signature.Outputs {
		outputs = append(outputs, tensorMetadata{name, "ANY", []int{-1}, false})
	}
	platform := "pytorch_torchscript"
	if _, ok := l.model.(*gojit.Exported); ok {
		platform = "pytorch_export"
	}
	return map[string]any{"name": m.config.Name, "versions": []string{"1"}, "platform": platform, "inputs": inputs, "outputs": outputs}
}

// dataTypeOf returns the datatype of a parameter of a type: ANY where the program takes what it can.
func dataTypeOf(annotation string) string {
	switch strings.TrimSuffix(strings.TrimPrefix(annotation, "Optional["), "]") {
	case "int":
		return "INT64"
	case "float":
		return "FP64"
	case "bool":
		return "BOOL"
	case "str":
		return "BYTES"
	}
	return "ANY"
}

func shapeOf(annotation string) []int {
	if dataTypeOf(annotation) != "ANY" {
		return []int{1}
	}
	return []int{-1}
}

// describe says how the model is served, in the form of the protocol's extension for configurations.
func (m *model) describe() any {
	d := map[string]any{"name": m.config.Name, "platform": "pytorch_libtorch", "max_batch_size": 0, "input": []any{}, "output": []any{}}
	if m.config.MaxBatch > 1 {
		d["dynamic_batching"] = map[string]any{"preferred_batch_size": []int{m.config.MaxBatch}, "max_queue_delay_microseconds": m.config.BatchDelay.Microseconds()}
	}
	return d
}
