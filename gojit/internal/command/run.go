package command

import (
	"context"

	"github.com/spf13/cobra"
)

func runVerb(s *Session) *cobra.Command {
	c, output := &call{}, ""
	verb := &cobra.Command{
		Use: "run MODEL [INPUT...]", Short: "Call a method and print or write what it gives", GroupID: groupRun, Args: cobra.MinimumNArgs(1),
		Long: "Calls a method of a model and prints the result as Python does, or writes it to a file: the parts of a result have the names that `gojit info` lists.",
		Example: `  gojit run model.pt 1x3x224x224
  gojit run model.pt --input x.npy -o y.npz
  gojit run model.pt --method encode tokens=tokens.npy 'scale=0.5' --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd.Context(), c, args, output) },
	}
	c.flags(verb)
	verb.Flags().StringVarP(&output, "output", "o", "", "write the result to this .npy, .npz or .json instead of printing it")
	return verb
}

func (s *Session) run(ctx context.Context, c *call, args []string, output string) error {
	model, inputs, err := c.open(s, args)
	if err != nil {
		return err
	}
	out, err := model.Call(ctx, c.method, inputs...)
	if err != nil {
		return err
	}
	r := &result{value: out}
	if output != "" {
		return s.write(r, output)
	}
	return s.print(r)
}
