package command

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
)

func exportVerb(s *Session) *cobra.Command {
	c, output, forPyTorch := &call{}, "", false
	verb := &cobra.Command{
		Use: "export MODEL [INPUT...] -o FILE", Short: "Write a model in another form: .pt2, .ptl, .pt, .onnx", GroupID: groupRun, Args: cobra.MinimumNArgs(1),
		Long: "Writes a TorchScript module in the form that the name of the file says: .pt2 an exported program (torch.export), made of forward for inputs of these sizes; " +
			".ptl for the lite interpreter, with bytecode; .pt an archive as torch.jit.save writes it; .onnx ONNX, where torchjit's Python package brings the command.",
		Example: "  gojit export model.pt randn:1x3x32x32 -o model.pt2",
		RunE:    func(_ *cobra.Command, args []string) error { return s.export(c, args, output, forPyTorch) },
	}
	c.flags(verb)
	verb.Flags().StringVarP(&output, "output", "o", "", "the file to write")
	verb.Flags().BoolVar(&forPyTorch, "for-pytorch", false, "write a .pt2 that torch.export.load of PyTorch 2.15 reads")
	return verb
}

func (s *Session) export(c *call, args []string, output string, forPyTorch bool) error {
	form := filepath.Ext(output)
	if forPyTorch && form != ".pt2" {
		return usagef("--for-pytorch: expected -o FILE, a name that ends in .pt2")
	}
	switch form {
	case "":
		return usagef("export: expected -o FILE, a name that ends in .pt2, .ptl, .pt or .onnx")
	case ".pt2", ".ptl", ".pt":
	case ".onnx":
		if s.host.WriteONNX == nil {
			return usagef("-o %s: this program has no Python, which writes ONNX: expected .pt2, .ptl or .pt, or the command that `pip install torchjit` brings (python -m torchjit export)", output)
		}
	default:
		return usagef("-o %s: the end of the name says the form: expected .pt2, .ptl, .pt or .onnx", output)
	}
	model, inputs, err := c.open(s, args)
	if err != nil {
		return err
	}
	m, ok := model.(*gojit.Module)
	if !ok {
		return usagef("%s is an exported program already", args[0])
	}
	switch form {
	case ".onnx":
		return s.exportONNX(m, args[0], inputs, output)
	case ".ptl":
		err = m.SaveLite(output, nil, gojit.LiteOptions{})
	case ".pt":
		err = m.Save(output, nil)
	default:
		var e *gojit.Exported
		if e, err = m.Export(inputs...); err != nil {
			return err
		}
		save := e.Save
		if forPyTorch {
			save = e.SaveForPyTorch
		}
		err = save(output)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", output, err)
	}
	return nil
}

func (s *Session) exportONNX(m *gojit.Module, file string, inputs []any, output string) error {
	arguments, err := m.Arguments("forward", inputs...)
	if err != nil {
		return err
	}
	signature, err := m.Signature("forward")
	if err != nil {
		return err
	}
	var names, outputs []string
	for i, v := range arguments {
		if v.IsTensor() {
			names = append(names, signature.Parameters[i].Name)
		}
	}
	if signature.Result == "Tensor" {
		outputs = signature.Outputs
	}
	if err := s.host.WriteONNX(file, arguments, names, outputs, output); err != nil {
		return fmt.Errorf("%s cannot be written: %w", output, err)
	}
	return nil
}
