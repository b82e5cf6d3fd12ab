package ops

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed examples.txt
var exampleTable string

// examples reads examples.txt, which pybind/examples.py makes: names, and behind each what is shown of it, indented by four spaces.
var examples = sync.OnceValue(func() map[string]string {
	found, name := map[string]string{}, ""
	for line := range strings.Lines(exampleTable) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.TrimSpace(line) == "" || line[0] == ' ':
			found[name] += strings.TrimPrefix(line, "    ")
		default:
			name = strings.TrimSpace(line)
		}
	}
	return found
})

// Example says which types an operator of aten takes, and which errors calls have that do not fit, and shows a call with its result; "" where there is
// none.
func Example(name string) string { return strings.TrimSpace(examples()[name]) }

// Sentence says what an operator of aten computes, by its name without the namespace; "" where nothing is said of it. What writes in place
// (NAME_) and what copies what a view shows (NAME_copy) has the sentence of NAME.
func Sentence(name string) string {
	for _, base := range []string{name, strings.TrimSuffix(name, "_"), strings.TrimSuffix(name, "_copy")} {
		text := ownSentence(base)
		if other, ok := strings.CutPrefix(text, "= "); ok {
			text = ownSentence(other)
		}
		switch {
		case text == "":
		case base == name:
			return text
		case strings.HasSuffix(name, "_"):
			return "Writes into the tensor itself. " + text
		default:
			return text + " The result has memory of its own."
		}
	}
	return ""
}

// ownSentence returns what stands behind the schema of a name, or in its record.
func ownSentence(name string) string {
	overloads := Overloads("aten::" + name)
	if len(overloads) == 0 {
		return ""
	}
	if text := overloads[0].sentence; text != "" {
		return text
	}
	return overloads[0].Def().Doc
}
