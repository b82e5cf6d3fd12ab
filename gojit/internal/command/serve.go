package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/serve"
)

// service is what serve is asked for.
type service struct {
	address    string
	config     serve.Config
	common     serve.ModelConfig // of all models
	watch      time.Duration
	grace      time.Duration
	refuseCode bool
}

func serveVerb(s *Session) *cobra.Command {
	v := &service{}
	verb := &cobra.Command{
		Use: "serve MODEL|NAME=MODEL|FOLDER...", Short: "Serve models over HTTP by the KServe v2 protocol", GroupID: groupRun, Args: cobra.MinimumNArgs(1),
		Long: "Serves models over HTTP by the KServe v2 inference protocol, in JSON and with binary tensors. A model has the name of its file without its end; a folder serves all its .pt and .pt2 files. " +
			"An interrupt or SIGTERM ends it: it says that it is not ready, answers what has come, and stops. Metrics for Prometheus are at /metrics. See docs/serving.md.",
		Example: "  gojit serve digits=model.pt --max-batch 32 --threads 1",
		RunE:    func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), s, args) },
	}
	f := verb.Flags()
	f.StringVar(&v.address, "address", "127.0.0.1:8000", "where to listen")
	f.StringVarP(&v.common.Method, "method", "m", "forward", "the method that requests call")
	f.IntVar(&v.common.MaxBatch, "max-batch", 1, "rows of requests that one call may have; more than 1 only for models whose rows do not depend on each other")
	f.DurationVar(&v.common.BatchDelay, "batch-delay", time.Millisecond, "how long a request waits for others to make a batch with (0: a batch is of those that wait already)")
	f.IntVar(&v.common.MaxQueue, "max-queue", 256, "requests that may wait for a model; others are answered with 429")
	f.IntVar(&v.common.Workers, "workers", 0, "calls of a model that run at a time (0: 1 with batches, else as many as there are processors)")
	f.IntVar(&v.common.Threads, "threads", 0, "threads of each call (0: as many as there are processors)")
	f.Int64Var(&v.config.MaxBody, "max-body", 64<<20, "bytes that a request may have")
	f.DurationVar(&v.config.Timeout, "timeout", 30*time.Second, "how long a request may take; others are answered with 503")
	f.DurationVar(&v.watch, "watch", 5*time.Second, "how often to look whether a file has changed, which is loaded again (0: never)")
	f.DurationVar(&v.grace, "grace", 30*time.Second, "how long requests may take that have come when the server is told to stop")
	f.BoolVar(&v.refuseCode, "refuse-code", false, "refuse archives that run code of theirs while they are loaded")
	return verb
}

func (v *service) run(ctx context.Context, s *Session, args []string) error {
	if v.common.MaxBatch < 1 || v.common.MaxQueue < 1 || v.config.MaxBody < 1 || v.config.Timeout <= 0 {
		return usagef("--max-batch, --max-queue, --max-body, --timeout: expected more than 0")
	}
	if v.common.Workers < 0 || v.common.Threads < 0 || v.common.BatchDelay < 0 || v.watch < 0 || v.grace < 0 {
		return usagef("--workers, --threads, --batch-delay, --watch, --grace: expected no less than 0")
	}
	if v.common.BatchDelay == 0 {
		v.common.BatchDelay = -1 // 0 is the default there
	}
	models, err := v.models(args)
	if err != nil {
		return err
	}
	v.config.Models, v.config.Log = models, slog.New(slog.NewTextHandler(s.Err, nil))
	server, err := serve.New(v.config)
	if err != nil {
		return err
	}
	defer server.Close()
	listener, err := net.Listen("tcp", v.address)
	if err != nil {
		return usagef("--address %s: %w", v.address, err)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second one ends the process
	defer stop()
	v.config.Log.Info("serving", "address", listener.Addr().String())
	return v.serve(ctx, server, listener)
}

// serve answers requests until ctx ends, and then those that have come.
func (v *service) serve(ctx context.Context, server *serve.Server, listener net.Listener) error {
	h := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: v.config.Timeout + time.Minute, IdleTimeout: 2 * time.Minute}
	if v.watch > 0 {
		go server.Watch(ctx, v.watch)
	}
	done := make(chan error, 1)
	go func() { done <- h.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	v.config.Log.Info("stopping")
	server.Drain()
	last, cancel := context.WithTimeout(context.Background(), v.grace)
	defer cancel()
	if err := h.Shutdown(last); err != nil {
		return fmt.Errorf("requests were left when the grace was over: %w", err)
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// models returns how the models of the command line are served.
func (v *service) models(args []string) ([]serve.ModelConfig, error) {
	var models []serve.ModelConfig
	add := func(name, path string) {
		c := v.common
		c.Name, c.Path, c.Load = name, path, gojit.LoadOptions{RefuseCode: v.refuseCode}
		models = append(models, c)
	}
	for _, arg := range args {
		if name, path, ok := strings.Cut(arg, "="); ok && !strings.Contains(name, "/") {
			add(name, path)
			continue
		}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, usagef("%w", err)
		}
		if !info.IsDir() {
			add(stem(arg), arg)
			continue
		}
		found, err := modelsIn(arg)
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			add(stem(path), path)
		}
	}
	return models, nil
}

func modelsIn(folder string) ([]string, error) {
	var found []string
	for _, end := range []string{"*.pt", "*.pt2"} {
		paths, err := filepath.Glob(filepath.Join(folder, end))
		if err != nil {
			return nil, usagef("%s: %w", folder, err)
		}
		found = append(found, paths...)
	}
	if len(found) == 0 {
		return nil, usagef("%s has no .pt and no .pt2", folder)
	}
	slices.Sort(found)
	return found, nil
}

// stem returns the name of a file without its folder and its end.
func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}
