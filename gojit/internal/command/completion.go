package command

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// withCompletion has shells complete what a verb takes besides files: methods of the model that is named, passes, operators.
func withCompletion(verb *cobra.Command) *cobra.Command {
	complete := func(flag string, f cobra.CompletionFunc) {
		if verb.Flags().Lookup(flag) == nil {
			return
		}
		if err := verb.RegisterFlagCompletionFunc(flag, f); err != nil {
			panic(err) // the flag has completions already
		}
	}
	complete("method", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		return methodsOf(args), cobra.ShellCompDirectiveNoFileComp
	})
	complete("passes", func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return withBeginning(begun[:strings.LastIndex(begun, ",")+1], strings.Fields(passNames())), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
	takes := verb.Use
	switch {
	case strings.HasSuffix(takes, " [METHOD]"):
		verb.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch len(args) {
			case 0:
				return nil, cobra.ShellCompDirectiveDefault
			case 1:
				return methodsOf(args), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	case verb.Name() == "operators":
		verb.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			gojit.LinkOperators()
			var names []string
			for _, name := range ops.Names() {
				names = append(names, strings.TrimPrefix(name, "aten::"))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		}
	case !strings.Contains(takes, " "):
		verb.ValidArgsFunction = cobra.NoFileCompletions
	}
	return verb
}

func withBeginning(begun string, names []string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = begun + name
	}
	return all
}

// methodsOf returns the methods of the model that the first argument names, or the functions of a file of Python; none where it cannot be read.
func methodsOf(args []string) []string {
	if len(args) == 0 {
		return nil
	}
	path := args[0]
	if _, after, ok := strings.Cut(path, "="); ok {
		path = after // serve's NAME=MODEL
	}
	if !strings.HasSuffix(path, ".py") {
		model, err := gojit.Open(path, gojit.LoadOptions{RefuseCode: true})
		if err != nil {
			return nil
		}
		return model.Methods()
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	p, err := gojit.CompileFile(path, string(text))
	if err != nil {
		return nil
	}
	var names []string
	for _, f := range p.Functions() {
		names = append(names, f.ShortName())
	}
	return names
}
