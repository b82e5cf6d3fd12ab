package ops

import (
	"bufio"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// docs.txt has sorted names, sentences that end, and no name that stands for one of which nothing is said. tests/test_documentation.py looks for the operators.
func TestSentences(t *testing.T) {
	said, same := sentences()
	form := regexp.MustCompile(`^\w+(: [A-Z0-9a-z-].*[^ ]\.| = \w+)$`)
	var names []string
	for lines := bufio.NewScanner(strings.NewReader(docTable)); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		if !form.MatchString(line) {
			t.Errorf("the line is neither NAME: SENTENCE. nor NAME = NAME: %s", line)
			continue
		}
		name := regexp.MustCompile(`^\w+`).FindString(line)
		names = append(names, name)
	}
	if !slices.IsSorted(names) {
		for i := 1; i < len(names); i++ {
			if names[i] < names[i-1] {
				t.Errorf("%s stands behind %s", names[i], names[i-1])
			}
		}
	}
	if len(names) != len(said)+len(same) {
		t.Errorf("%d lines have %d names", len(names), len(said)+len(same))
	}
	for name, other := range same {
		if said[other] == "" {
			t.Errorf("%s = %s, of which nothing is said", name, other)
		}
	}
}

func TestSentenceOfFormsOfAnOperator(t *testing.T) {
	for name, want := range map[string]string{
		"relu":      "The elements above 0, else 0.",
		"relu_":     "Writes into the tensor itself. The elements above 0, else 0.",
		"arccos":    "The angle between 0 and pi whose cosine each element is; NaN outside of -1 to 1.",
		"t_copy":    "A view of a matrix with its dimensions exchanged; a vector as it is. The result has memory of its own.",
		"no_such_":  "",
		"resize_":   "Changes the shape; elements that are new may be anything.",
		"_softmax_": "",
	} {
		if got := Sentence(name); got != want {
			t.Errorf("%s: found %q, expected %q", name, got, want)
		}
	}
}
