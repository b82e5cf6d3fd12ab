package serve

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what /metrics shows.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  *prometheus.GaugeVec
	batch    *prometheus.HistogramVec
	reloads  *prometheus.CounterVec
}

func newMetrics(registry *prometheus.Registry, s *Server) *metrics {
	m := &metrics{
		registry: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gojit_requests_total", Help: "Requests for inference that were answered, by status."}, []string{"model", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gojit_request_seconds", Help: "Time from the arrival of a request to its answer.", Buckets: prometheus.ExponentialBuckets(0.0001, 2.5, 14),
		}, []string{"model"}),
		running: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "gojit_requests_running", Help: "Requests that have come and are not answered."}, []string{"model"}),
		batch: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gojit_batch_requests", Help: "Requests that one call of a model had.", Buckets: prometheus.ExponentialBuckets(1, 2, 9),
		}, []string{"model"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gojit_reloads_total", Help: "Loads of models whose files have changed."}, []string{"model", "outcome"}),
	}
	registry.MustRegister(m.requests, m.seconds, m.running, m.batch, m.reloads, waitingRequests{s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// modelMetrics are the metrics of one model.
type modelMetrics struct {
	requests *prometheus.CounterVec // by status
	answered prometheus.Counter     // of those, the ones with the status 200
	seconds  prometheus.Observer
	running  prometheus.Gauge
	batch    prometheus.Observer
}

func (m *metrics) of(model string) modelMetrics {
	requests := m.requests.MustCurryWith(prometheus.Labels{"model": model})
	return modelMetrics{
		requests: requests, answered: requests.WithLabelValues("200"), seconds: m.seconds.WithLabelValues(model),
		running: m.running.WithLabelValues(model), batch: m.batch.WithLabelValues(model),
	}
}

func (m *modelMetrics) done(status int, took time.Duration) {
	if status == http.StatusOK {
		m.answered.Inc()
	} else {
		m.requests.WithLabelValues(strconv.Itoa(status)).Inc()
	}
	m.seconds.Observe(took.Seconds())
}

func (m *metrics) reloaded(model string, err error) {
	outcome := "loaded"
	if err != nil {
		outcome = "failed"
	}
	m.reloads.WithLabelValues(model, outcome).Inc()
}

// waitingRequests collects the lengths of the queues.
type waitingRequests struct{ server *Server }

var waitingDesc = prometheus.NewDesc("gojit_requests_waiting", "Requests that wait for a worker.", []string{"model"}, nil)

// Describe implements prometheus.Collector.
func (waitingRequests) Describe(to chan<- *prometheus.Desc) { to <- waitingDesc }

// Collect implements prometheus.Collector.
func (w waitingRequests) Collect(to chan<- prometheus.Metric) {
	for name, m := range w.server.models {
		to <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(len(m.queue.waiting)), name)
	}
}
