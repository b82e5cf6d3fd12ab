// Package command is the command gojit: what `gojit` and `python -m torchjit` do.
//
// Run takes the arguments and returns the exit status. Every verb makes a report, which is printed as text or, with --json, as one JSON value. An
// interrupt ends the process, as nothing here listens, but for serve, which ends what it has begun first.
package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
)

// The exit statuses.
const (
	StatusOK     = 0
	StatusFailed = 1 // the model failed, or the output could not be written
	StatusUsage  = 2 // the command line asks for what there is not
	StatusBroken = 3 // a file that was given is damaged, or of another kind
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Session is one run of the command.
type Session struct {
	Streams
	JSON    bool // reports are JSON
	started bool // the command line has been understood
	host    Host
	out     *sink
}

// Host is what the program around the command brings, which the static program does not have.
type Host struct {
	// WriteONNX writes the module of a file as ONNX: what forward does with arguments, which have names, as has its result.
	WriteONNX func(module string, arguments []gojit.Value, inputs, outputs []string, file string) error
	// Devices describes the GPUs that tensors can be on. The error says why there are none.
	Devices func() ([]string, error)
	// Cache returns the folder that keeps compiled kernels of GPUs, "" for none.
	Cache func() string
}

// usageError is an error of the command line.
type usageError struct{ error }

// usagef returns an error of the command line, for which the status is 2.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// failed is an outcome that is no error of its own, such as a difference: the report has said it.
type failed struct{ status int }

func (failed) Error() string { return "" }

// sink buffers the output and keeps the first error of writing it.
type sink struct {
	*bufio.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

func (s *sink) flush() error {
	if err := s.Writer.Flush(); s.err == nil {
		s.err = err
	}
	return s.err
}

// Run runs the command line and returns the exit status.
func Run(ctx context.Context, args []string, streams Streams, host Host) int {
	s := &Session{Streams: streams, host: host, out: &sink{Writer: bufio.NewWriter(streams.Out)}}
	s.Out = s.out
	root := s.root()
	root.SetArgs(longOptions(args))
	err := root.ExecuteContext(ctx)
	status := s.statusOf(err)
	if writeErr := s.out.flush(); writeErr != nil && (err == nil || errors.Is(err, writeErr)) {
		status, err = StatusFailed, fmt.Errorf("the output cannot be written: %w", writeErr)
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintln(s.Err, "gojit:", strings.TrimRight(err.Error(), "\n"))
		for _, note := range errs.AdviceOf(err) {
			fmt.Fprintln(s.Err, note)
		}
	}
	return status
}

// longOptions lets -passes=cse stand for --passes=cse, which is how Go programs write options.
func longOptions(args []string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		if strings.HasPrefix(a, "-passes") || strings.HasPrefix(a, "-json") {
			a = "-" + a
		}
		out[i] = a
	}
	return out
}

func (s *Session) statusOf(err error) int {
	var usage usageError
	var file *errs.FileError
	var call *errs.CallError
	var outcome failed
	switch {
	case err == nil:
		return StatusOK
	case errors.As(err, &outcome):
		return outcome.status
	case !s.started, errors.As(err, &usage), errors.As(err, &call), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return StatusUsage
	case errors.As(err, &file):
		return StatusBroken
	}
	return StatusFailed
}

// A report is what a verb has found.
type report interface {
	// text prints the report for people.
	text(w io.Writer)
}

// print prints a report in the form that was asked for.
func (s *Session) print(r report) error {
	if !s.JSON {
		r.text(s.Out)
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "%s\n", text)
	return nil
}

// plainText is a report that is a text.
type plainText struct {
	Text string `json:"text"`
}

func (t plainText) text(w io.Writer) { io.WriteString(w, t.Text) }

// The groups of verbs in the help.
const (
	groupRun     = "run"
	groupLook    = "look"
	groupInside  = "inside"
	longOverview = `gojit runs and looks at models that PyTorch saved: TorchScript archives (torch.jit.save) and exported programs (torch.export.save).

Exit status: 0 done; 1 the model failed, or what was asked for turned out not to be so; 2 the command line is wrong; 3 a file is damaged.`
)

func (s *Session) root() *cobra.Command {
	root := &cobra.Command{
		Use: "gojit", Short: "Run and look at models that PyTorch saved", Long: longOverview,
		SilenceErrors: true, SilenceUsage: true, Args: knownVerb, SuggestionsMinimumDistance: 2,
		PersistentPreRun: func(*cobra.Command, []string) { s.started = true },
	}
	// cobra's own flag prints a template, and the package of templates has the linker keep every exported method: a tenth of the program
	version := root.Flags().BoolP("version", "v", false, "version for gojit")
	root.RunE = func(c *cobra.Command, _ []string) error {
		if !*version {
			return c.Help()
		}
		var text strings.Builder
		versionNow().text(&text)
		_, err := io.WriteString(s.Out, text.String())
		return err
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.PersistentFlags().BoolVar(&s.JSON, "json", false, "print one JSON value instead of text")
	root.AddGroup(&cobra.Group{ID: groupRun, Title: "Run a model:"}, &cobra.Group{ID: groupLook, Title: "Look at a model:"},
		&cobra.Group{ID: groupInside, Title: "Look at torchjit:"})
	root.SetHelpCommandGroupID(groupInside)
	root.SetCompletionCommandGroupID(groupInside)
	for _, verb := range []func(*Session) *cobra.Command{
		runVerb, benchVerb, diffVerb, serveVerb, infoVerb, verifyVerb, graphVerb, codeVerb, explainVerb, optVerb, exportVerb, compileVerb,
		doctorVerb, versionVerb, operatorsVerb, kernelVerb, cudaVerb,
	} {
		root.AddCommand(withCompletion(withUse(verb(s))))
	}
	refuseUnknown(root)
	return root
}

// knownVerb refuses words that are no verbs, and says which is like them.
func knownVerb(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	like := "`gojit help` lists the commands"
	if suggested := root.SuggestionsFor(args[0]); len(suggested) > 0 {
		like = "did you mean " + strings.Join(suggested, " or ") + "?"
	}
	return usagef("unknown command %q for %q: %s", args[0], root.Name(), like)
}

// withUse has a verb say what it takes where it is given something else.
func withUse(verb *cobra.Command) *cobra.Command {
	if allowed := verb.Args; allowed != nil {
		verb.Args = func(c *cobra.Command, args []string) error {
			if allowed(c, args) == nil {
				return nil
			}
			return usagef("%s: found %d arguments, expected gojit %s (see gojit help %s)", c.Name(), len(args), c.Use, c.Name())
		}
	}
	verb.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%s: %w (gojit help %s lists the options)", c.Name(), err, c.Name())
	})
	return verb
}

// refuseUnknown has help and completion refuse what they do not know, which cobra answers with the help.
func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, verb := range root.Commands() {
		switch verb.Name() {
		case "help":
			show := verb.Run
			verb.Run, verb.RunE = nil, func(help *cobra.Command, args []string) error {
				if found, _, err := root.Find(args); err != nil || found == root && len(args) > 0 {
					return usagef("help: there is no verb %s", strings.Join(args, " "))
				}
				show(help, args)
				return nil
			}
		case "completion":
			verb.RunE = func(completion *cobra.Command, _ []string) error { return completion.Help() }
		}
	}
}
