package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
)

// Config is what a server is made with. Zero values stand for the defaults.
type Config struct {
	Models []ModelConfig
	// MaxBody bounds the bytes of a request, unpacked; 64 MiB.
	MaxBody int64
	// Timeout bounds the time of a request from its arrival to its answer; 30 s. A request may ask for less by its parameter timeout, in microseconds.
	Timeout time.Duration
	// Log hears of loads, reloads and of mistakes of the library; nil: nobody does.
	Log *slog.Logger
	// Registry gets the metrics; nil: one of the server's own.
	Registry *prometheus.Registry
}

// ModelConfig is a model and how it is served.
type ModelConfig struct {
	Name string
	// Path is the file of the model, which is loaded again when it changes (see Server.Watch); Model is one that is there already.
	Path  string
	Model gojit.Model
	// Method is what requests call; forward.
	Method string
	// MaxBatch is how many rows of requests one call may have: 1 is one request at a time, the default. Above that the first dimension of all
	// inputs and outputs must stand for rows that do not depend on each other.
	MaxBatch int
	// BatchDelay is how long a request waits for others to make a batch with; 1 ms. Less than 0: a batch is of those that wait already.
	BatchDelay time.Duration
	// MaxQueue is how many requests may wait; 256.
	MaxQueue int
	// Workers is how many calls run at a time; 1 where there are batches, else as many as there are processors.
	Workers int
	// Threads is how many threads each call uses; 0: as many as there are processors.
	Threads int
	// Load says how the file is read.
	Load gojit.LoadOptions
}

// Server serves models. It is safe for use by many goroutines at once.
type Server struct {
	config  Config
	models  map[string]*model
	mux     *http.ServeMux
	metrics *metrics
	stops   atomic.Bool
	known   messages
}

// New loads the models and returns a server for them. It fails where one cannot be loaded or has no such method.
func New(config Config) (*Server, error) {
	if config.MaxBody == 0 {
		config.MaxBody = 64 << 20
	}
	if config.Timeout == 0 {
		config.Timeout = 30 * time.Second
	}
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Registry == nil {
		config.Registry = prometheus.NewRegistry()
	}
	if config.MaxBody < 0 || config.Timeout < 0 {
		return nil, configError("MaxBody is %d and Timeout %v: expected no less than 0", config.MaxBody, config.Timeout)
	}
	s := &Server{config: config, models: map[string]*model{}, mux: http.NewServeMux()}
	s.metrics = newMetrics(config.Registry, s)
	for _, c := range config.Models {
		if c.Name == "" || strings.Contains(c.Name, "/") {
			s.Close()
			return nil, configError("%q is no name of a model: expected one without slashes", c.Name)
		}
		if s.models[c.Name] != nil {
			s.Close()
			return nil, configError("two models have the name %q", c.Name)
		}
		if c.MaxBatch < 0 || c.MaxQueue < 0 || c.Workers < 0 || c.Threads < 0 {
			s.Close()
			return nil, configError("the model %q has MaxBatch %d, MaxQueue %d, Workers %d, Threads %d: expected no less than 0", c.Name, c.MaxBatch, c.MaxQueue, c.Workers, c.Threads)
		}
		m, err := newModel(c, s)
		if err != nil {
			s.Close()
			return nil, err
		}
		s.models[c.Name] = m
	}
	s.routes()
	return s, nil
}

func configError(format string, args ...any) error {
	return &errs.CallError{Function: "serve.New", Err: fmt.Errorf("serve: "+format, args...)}
}

// Close ends the workers. Requests that wait are answered with 503.
func (s *Server) Close() {
	s.stops.Store(true)
	for _, m := range s.models {
		m.queue.close()
	}
}

// Drain has the server say that it is not ready, so that a load balancer sends no more; requests that come are still answered.
func (s *Server) Drain() { s.stops.Store(true) }

// Watch loads models again whose files change, looking every so often until ctx ends. A file that cannot be loaded leaves the model as it is.
func (s *Server) Watch(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, m := range s.models {
				m.reloadIfChanged()
			}
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) routes() {
	get := func(path string, answer func(r *http.Request) (any, error)) {
		s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			v, err := answer(r)
			if err != nil {
				writeError(w, err)
				return
			}
			writeJSON(w, http.StatusOK, v)
		})
	}
	ofModel := func(path string, answer func(m *model) (any, error)) {
		for _, prefix := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
			get(prefix+path, func(r *http.Request) (any, error) {
				m, err := s.find(r)
				if err != nil {
					return nil, err
				}
				return answer(m)
			})
		}
	}
	get("/v2/health/live", func(*http.Request) (any, error) { return map[string]bool{"live": true}, nil })
	get("/v2/health/ready", func(*http.Request) (any, error) { return map[string]bool{"ready": true}, s.ready() })
	get("/v2", func(*http.Request) (any, error) { return s.metadata(), nil })
	get("/v2/{$}", func(*http.Request) (any, error) { return s.metadata(), nil })
	ofModel("", func(m *model) (any, error) { return m.metadata(), nil })
	ofModel("/ready", func(m *model) (any, error) { return map[string]any{"name": m.config.Name, "ready": true}, s.ready() })
	ofModel("/config", func(m *model) (any, error) { return m.describe(), nil })
	s.mux.HandleFunc("POST /v2/repository/index", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.index()) })
	for _, prefix := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		s.mux.HandleFunc("POST "+prefix+"/infer", s.infer)
	}
	s.mux.Handle("GET /metrics", s.metrics.handler())
	s.mux.HandleFunc("/", s.unknown)
}

// unknown answers requests for what there is not, or not by their method.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if _, pattern := s.mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "/" {
			w.Header().Set("Allow", method)
			writeError(w, problemf(http.StatusMethodNotAllowed, "%s %s: expected %s", r.Method, r.URL.Path, method))
			return
		}
	}
	writeError(w, problemf(http.StatusNotFound, "there is no path %s: models are at /v2/models/NAME", r.URL.Path))
}

// problem is an error with the status of its answer.
type problem struct {
	status int
	err    error
}

func (p *problem) Error() string { return p.err.Error() }
func (p *problem) Unwrap() error { return p.err }

func problemf(status int, format string, args ...any) error {
	return &problem{status, fmt.Errorf(format, args...)}
}

func badRequest(format string, args ...any) error {
	return problemf(http.StatusBadRequest, format, args...)
}

// statusClientGone is the status that metrics have for a caller who went away, who gets no answer.
const statusClientGone = 499

// statusOf returns the status of the answer to a request that failed.
func statusOf(err error) int {
	var p *problem
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p.status
	case errors.As(err, &tooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	case errors.Is(err, context.Canceled):
		return statusClientGone
	}
	switch errs.FaultOf(err) {
	case errs.CallerFault:
		return http.StatusBadRequest
	case errs.InternalFault:
		return http.StatusInternalServerError
	}
	return http.StatusUnprocessableEntity
}

func writeError(w http.ResponseWriter, err error) {
	status := statusOf(err)
	text := err.Error()
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "1")
	case http.StatusInternalServerError:
		text, _, _ = strings.Cut(text, "\n") // the rest is for the log
	}
	if errors.Is(err, context.DeadlineExceeded) {
		text = "the time of the request is over"
	}
	writeJSON(w, status, map[string]string{"error": strings.TrimSpace(text)})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller may have gone
}

func (s *Server) ready() error {
	if s.stops.Load() {
		return problemf(http.StatusServiceUnavailable, "the server stops")
	}
	return nil
}

func (s *Server) metadata() any {
	return map[string]any{"name": "gojit", "version": gojit.Version, "extensions": []string{"binary_tensor_data"}}
}

func (s *Server) index() any {
	list := []map[string]string{}
	for name := range s.models {
		list = append(list, map[string]string{"name": name, "version": "1", "state": "READY", "reason": ""})
	}
	slices.SortFunc(list, func(a, b map[string]string) int { return strings.Compare(a["name"], b["name"]) })
	return list
}

// find returns the model of a request's path.
func (s *Server) find(r *http.Request) (*model, error) {
	m := s.models[r.PathValue("model")]
	if m == nil {
		return nil, problemf(http.StatusNotFound, "there is no model %q", r.PathValue("model"))
	}
	if v := r.PathValue("version"); v != "" && v != "1" {
		return nil, problemf(http.StatusNotFound, "the model %q has no version %q: it has 1", m.config.Name, v)
	}
	return m, nil
}

// infer answers a request for inference.
func (s *Server) infer(w http.ResponseWriter, r *http.Request) {
	m, err := s.find(r)
	if err != nil {
		_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, s.config.MaxBody))
		writeError(w, err)
		return
	}
	begin := time.Now()
	m.metrics.running.Inc()
	answer, err := s.answer(w, r, m)
	m.metrics.running.Dec()
	status := http.StatusOK
	if err != nil {
		status = statusOf(err)
		if status == http.StatusInternalServerError {
			s.config.Log.Error("internal error", "model", m.config.Name, "error", err)
		}
	}
	m.metrics.done(status, time.Since(begin))
	if err != nil {
		writeError(w, err)
		return
	}
	answer.write(w)
}

// answer reads a request, has it run, and makes the answer.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, m *model) (*answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), s.config.Timeout)
	defer cancel()
	loaded := m.loaded.Load()
	q, err := s.decode(w, r, loaded)
	if err != nil {
		return nil, err
	}
	if q.timeout > 0 && q.timeout < s.config.Timeout {
		ctx, cancel = context.WithTimeout(ctx, q.timeout)
		defer cancel()
	}
	out, err := m.queue.run(ctx, &job{loaded: loaded, inputs: q.inputs})
	if err != nil {
		return nil, err
	}
	return encode(m.config.Name, q, out)
}
