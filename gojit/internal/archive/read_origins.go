package archive

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/archive/pickle"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// readOrigins reads a record of origins. What is malformed is left out: it tells only of places.
func readOrigins(a *Archive, record string) []source.Origin {
	data, err := a.Read(record)
	if err != nil {
		return nil
	}
	tree, err := pickle.Decode(data)
	if err != nil {
		return nil
	}
	r := &originsReader{texts: map[any]*source.Text{}}
	entries := items(tree)
	if len(entries) == 3 && entries[0] == code.OriginsFormat {
		for _, s := range items(entries[1]) {
			text, _ := s.(string)
			r.strings = append(r.strings, text)
		}
		entries = items(entries[2])
	}
	var origins []source.Origin
	for _, entry := range entries {
		fields := items(entry)
		if len(fields) < 2 {
			continue
		}
		offset, ok := fields[0].(int64)
		if !ok || offset < 0 || len(origins) > 0 && int(offset) < origins[len(origins)-1].Offset {
			continue
		}
		origins = append(origins, source.Origin{Offset: int(offset), Range: r.place(items(fields[1]))})
	}
	return origins
}

// items returns the items of a tuple or a list, also of one that a call builds.
func items(x any) []any {
	switch x := x.(type) {
	case *pickle.Tuple:
		return x.Items
	case *pickle.List:
		return x.Items
	case *pickle.Call:
		if args := items(x.Args); len(args) == 1 {
			return items(args[0])
		}
	}
	return nil
}

type originsReader struct {
	strings []string
	texts   map[any]*source.Text // by the pickle's data
	size    int                  // of the texts
}

func (r *originsReader) string(x any) (string, bool) {
	switch x := x.(type) {
	case string:
		return x, true
	case int64:
		if x >= 0 && x < int64(len(r.strings)) {
			return r.strings[x], true
		}
	}
	return "", false
}

// place reads ((text, file, first line), start, end); the range is empty where that is malformed.
func (r *originsReader) place(fields []any) source.Range {
	if len(fields) < 3 {
		return source.Range{Text: source.Nowhere}
	}
	start, okStart := fields[1].(int64)
	end, okEnd := fields[2].(int64)
	t := r.text(fields[0])
	if t == nil || !okStart || !okEnd || start < 0 || end < start || end > int64(len(t.Body)) {
		return source.Range{Text: source.Nowhere}
	}
	return source.Range{Text: t, Start: int(start), End: int(end)}
}

// text returns the text that (lines, file, first line) stands for, nil where that is malformed.
func (r *originsReader) text(x any) *source.Text {
	fields := items(x)
	if len(fields) != 3 {
		return nil
	}
	if t, ok := r.texts[x]; ok {
		return t
	}
	r.texts[x] = nil
	var body strings.Builder
	if whole, ok := fields[0].(string); ok {
		body.WriteString(whole)
	}
	for _, line := range items(fields[0]) {
		s, ok := r.string(line)
		if !ok || r.size+body.Len()+len(s) > maxDeflatedRecord {
			return nil
		}
		body.WriteString(s)
	}
	r.size += body.Len()
	file, _ := r.string(fields[1])
	first, ok := fields[2].(int64)
	if ok && body.Len() > 0 {
		r.texts[x] = source.NewText(file, body.String(), int(first))
	}
	return r.texts[x]
}
