package archive_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

const fuzzedText = `class M(Module):
  __parameters__ = ["w", ]
  __buffers__ = []
  w : Tensor
  training : bool
  def forward(self: __torch__.M,
    x: Tensor,
    n: int=2) -> Tuple[Tensor, List[int]]:
    w = self.w
    y = x
    for i in range(n):
      if torch.gt(i, 1):
        y0 = torch.add(torch.mul(y, w), CONSTANTS.c0)
      else:
        y0 = y
      y = y0
    return (y, [n, 1])
  def __setstate__(self: __torch__.M,
    state: Tuple[Tensor, bool]) -> NoneType:
    self.w = (state)[0]
    self.training = (state)[1]
    return None
`

// fuzzedState is an object of M with a tensor of two numbers.
var fuzzedState = []byte("\x80\x02c__torch__\nM\nq\x00)\x81(ctorch._utils\n_rebuild_tensor_v2\nq\x01((X\x07\x00\x00\x00storageq\x02ctorch\nFloatStorage\nq\x03" +
	"X\x01\x00\x00\x000q\x04X\x03\x00\x00\x00cpuq\x05K\x02tq\x06QK\x00K\x02\x85q\x07K\x01\x85q\x08\x88ccollections\nOrderedDict\nq\x09)Rq\x0atq\x0bRq\x0c\x88tb.")

// archiveWith returns an archive of parts whose checksums are right.
func archiveWith(t testing.TB, text string, state []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, record := range []struct {
		name string
		data []byte
	}{
		{"m/version", []byte("3\n")}, {"m/data.pkl", state}, {"m/data/0", make([]byte, 8)},
		{"m/code/__torch__.py", []byte(text)}, {"m/constants.pkl", []byte("\x80\x02(K\x01t.")},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: record.name})
		if err == nil {
			_, err = w.Write(record.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkLoad loads and inspects an archive: what is wrong with it is an error with a text.
func checkLoad(t *testing.T, data []byte) {
	m, err := gojit.LoadBytes(data)
	var placed *source.Error
	if err != nil && (!errors.As(err, &placed) || placed.Error() == "") {
		t.Errorf("an error without a text: %v", err)
	}
	if err == nil {
		for _, name := range m.Methods() {
			_, _ = m.Method(name)
		}
		_, _ = m.SaveBytes(nil)
	}
	if r, err := gojit.InspectBytes(data); err == nil && r == nil {
		t.Error("no report and no error")
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(archiveWith(f, fuzzedText, fuzzedState))
	f.Fuzz(func(t *testing.T, data []byte) { checkLoad(t, data) })
}

func FuzzState(f *testing.F) {
	f.Add(fuzzedState)
	f.Fuzz(func(t *testing.T, state []byte) { checkLoad(t, archiveWith(t, fuzzedText, state)) })
}

func FuzzImport(f *testing.F) {
	f.Add(fuzzedText)
	f.Fuzz(func(t *testing.T, text string) { checkLoad(t, archiveWith(t, text, fuzzedState)) })
}

// The seeds are an archive that loads, so that what is made of them goes deep.
func TestTheSeedLoads(t *testing.T) {
	m, err := gojit.LoadBytes(archiveWith(t, fuzzedText, fuzzedState))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Object.Slots[0].Tensor().Numel(); got != 2 {
		t.Errorf("w has %d elements", got)
	}
}
