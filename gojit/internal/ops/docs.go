package ops

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed docs.txt
var docTable string

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

// sentences reads docs.txt: what is said of each name, and the names that stand for others.
var sentences = sync.OnceValues(func() (said, same map[string]string) {
	said, same = map[string]string{}, map[string]string{}
	for line := range strings.Lines(docTable) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if name, text, ok := strings.Cut(line, ": "); ok {
			said[name] = text
		} else if name, other, ok := strings.Cut(line, " = "); ok {
			same[name] = other
		}
	}
	return said, same
})

// Sentence says what an operator of aten computes, by its name without the namespace; "" where nothing is said of it.
func Sentence(name string) string {
	said, same := sentences()
	for _, base := range []string{name, strings.TrimSuffix(name, "_"), strings.TrimSuffix(name, "_copy")} {
		text := said[base]
		if other, ok := same[base]; ok {
			text = said[other]
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
