package archive_test

import (
	"archive/zip"
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// rewritten returns an archive with its version and its source text replaced.
func rewritten(t *testing.T, data []byte, version string, text *strings.Replacer) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, f := range in.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		record, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(f.Name, "/version"):
			record = []byte(version)
		case strings.HasSuffix(f.Name, ".py"):
			record = []byte(text.Replace(string(record)))
		}
		w, err := out.CreateHeader(&zip.FileHeader{Name: f.Name})
		if err == nil {
			_, err = w.Write(record)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archiveOf returns the archive of a function, and its version.
func archiveOf(t *testing.T, text string) (data []byte, version string) {
	t.Helper()
	p, err := gojit.Compile("f.py", text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.ModuleOf(p.Function("f"))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = m.SaveBytes(nil); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := z.Open("archive/version")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(r)
	return data, string(b)
}

// What PyTorch 1.13.1 computes for the same archives.
func TestOperatorsMeanWhatTheyMeantInTheirVersion(t *testing.T) {
	data, _ := archiveOf(t, "def f(x, k: int):\n    return torch.div(x, x), torch.div(x, k), torch.full([1], k // 1 + 0 * int(k / 1)), torch.linspace(0, 1, 3), torch.div(x, k, rounding_mode='floor')\n")
	for version, want := range map[string]string{
		"3\n":  "[tensor([1]), tensor([-3]), tensor([2.]), 100, tensor([-4])]",
		"4\n":  "[tensor([1.]), tensor([-3.5000]), tensor([2.]), 100, tensor([-4])]",
		"6\n":  "[tensor([1.]), tensor([-3.5000]), tensor([2]), 100, tensor([-4])]",
		"10\n": "[tensor([1.]), tensor([-3.5000]), tensor([2]), 3, tensor([-4])]",
	} {
		text := strings.NewReplacer()
		if version != "10\n" {
			text = strings.NewReplacer("torch.linspace(0, 1, 3)", "torch.linspace(0, 1)")
		}
		m, err := gojit.LoadBytes(rewritten(t, data, version, text))
		if err != nil {
			t.Fatal(version, err)
		}
		x, _ := tensor.FromSlice([]int64{-7}, 1)
		out, err := m.Call(context.Background(), "forward", x, 2)
		if err != nil {
			t.Fatal(version, err)
		}
		var got []string
		for _, item := range out.Tuple().Items {
			if n := item.Tensor().Numel(); n > 1 {
				got = append(got, value.Repr(value.Int(int64(n)), nil))
			} else {
				got = append(got, item.Tensor().Repr(""))
			}
		}
		if g := "[" + strings.Join(got, ", ") + "]"; g != want {
			t.Errorf("version %s: got %s, want %s", version, g, want)
		}
	}
}

func TestArchivesHaveTheLeastVersion(t *testing.T) {
	for text, want := range map[string]string{
		"x + 1": "3\n", "x / 2": "4\n", "torch.full([1], 2)": "5\n", "torch.gelu(x)": "10\n",
	} {
		if _, got := archiveOf(t, "def f(x):\n    return "+text+"\n"); got != want {
			t.Errorf("%s: version %q, want %q", text, got, want)
		}
	}
}
