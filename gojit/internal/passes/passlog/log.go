// Package passlog prints what passes and steps of the engine make of graphs.
package passlog

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// Logging prints what passes and steps make of graphs: PYTORCH_JIT_LOG_LEVEL, or what a program sets, names them, with ":" between.
//
//	peephole      the graph behind each run of the pass
//	>peephole     the lines that it has changed, too
//	>>peephole    the graph before it, too
//
// A name is that of a pass ("dce"), of a step of the engine ("fold"), or of PyTorch's file ("dead_code_elimination").
var logging atomic.Pointer[logger]

type logger struct {
	levels map[string]int

	mu  sync.Mutex
	out io.Writer
}

// runLimits are how often steps may run, by their names: PYTORCH_JIT_OPT_LIMIT, "fold=2:peephole=0".
var runLimits = struct {
	sync.Mutex
	left map[string]int
}{left: parseLimits(os.Getenv("PYTORCH_JIT_OPT_LIMIT"))}

func init() { Set(os.Getenv("PYTORCH_JIT_LOG_LEVEL"), os.Stderr) }

// filesOfPyTorch are the names by which PyTorch's users know passes and steps.
var filesOfPyTorch = map[string]string{
	"inline": "inliner", "constants": "constant_propagation", "constant_propagation_immutable_types": "constant_propagation", "decompose": "decompose_ops",
	"unused": "dead_code_elimination", "sweep": "dead_code_elimination", "dce": "dead_code_elimination",
	"dce_allow_deleting_nodes_with_side_effects": "dead_code_elimination", "equal": "common_subexpression_elimination", "cse": "common_subexpression_elimination",
	"pool": "constant_pooling", "tuples": "lower_tuples", "lower_simple_tuples": "lower_tuples", "lower_all_tuples": "lower_tuples", "unroll": "loop_unrolling",
	"constant_loop_unrolling": "loop_unrolling", "erase": "erase_shape_information",
	"notes": "profiling_record", "specialize": "profiling_graph_executor_impl", "regions": "tensorexpr_fuser", "fuse_tensorexprs": "tensorexpr_fuser",
	"complete_shape_analysis": "shape_analysis", "propagate_shapes_on_graph": "symbolic_shape_analysis", "custom_pattern_based_rewrite_graph": "subgraph_rewrite",
	"refine_integer_values": "integer_value_refinement",
}

// Set has the passes that an option names print to out.
func Set(option string, out io.Writer) {
	levels := map[string]int{}
	for _, name := range strings.Split(option, ":") {
		plain := strings.TrimLeft(name, ">")
		if plain != "" {
			levels[plain] = len(name) - len(plain) + 1
		}
	}
	if len(levels) == 0 {
		logging.Store(nil)
		return
	}
	logging.Store(&logger{levels: levels, out: out})
}

func (l *logger) level(name string) int {
	return max(l.levels[name], l.levels[filesOfPyTorch[name]])
}

// Run runs a pass over a graph, or a step, and prints what that makes of it where that is asked for.
func Run(name string, g *ir.Graph, run func() error) error {
	l := logging.Load()
	if l == nil || l.level(name) == 0 {
		return run()
	}
	before := g.String()
	if err := run(); err != nil {
		return err
	}
	after := g.String()
	l.mu.Lock()
	defer l.mu.Unlock()
	level := l.level(name)
	if level > 2 {
		l.print("DEBUG", name, "Before "+name+":\n"+before)
	}
	if level > 1 {
		for _, line := range changedLines(before, after) {
			l.print("UPDATE", name, line)
		}
	}
	l.print("DUMP", name, "After "+name+":\n"+after)
	return nil
}

// print writes a text with the level and the name before each line.
func (l *logger) print(level, name, text string) {
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(l.out, "[%s %s] %s\n", level, name, line)
	}
}

// changedLines are the lines that went, with "-" before them, and those that came, with "+".
func changedLines(before, after string) (changed []string) {
	count := map[string]int{}
	for _, line := range strings.Split(before, "\n") {
		count[line]++
	}
	var came []string
	for _, line := range strings.Split(after, "\n") {
		if count[line]--; count[line] < 0 {
			came = append(came, "+"+line)
		}
	}
	for _, line := range strings.Split(before, "\n") {
		if count[line] > 0 {
			count[line]--
			changed = append(changed, "-"+line)
		}
	}
	return append(changed, came...)
}

func parseLimits(option string) map[string]int {
	found := map[string]int{}
	for _, item := range strings.Split(option, ":") {
		name, number, ok := strings.Cut(item, "=")
		if n, err := strconv.Atoi(number); ok && err == nil {
			found[name] = n
		}
	}
	return found
}

// Allowed reports whether a step may run, and counts the run.
func Allowed(name string) bool {
	if len(runLimits.left) == 0 {
		return true
	}
	runLimits.Lock()
	defer runLimits.Unlock()
	for _, known := range []string{name, filesOfPyTorch[name]} {
		if left, ok := runLimits.left[known]; ok {
			runLimits.left[known] = left - 1
			return left > 0
		}
	}
	return true
}
