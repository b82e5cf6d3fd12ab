package ops

import (
	"regexp"
	"strings"
	"testing"
)

// Sentences end, stand behind the first overload of a name, and no name stands for one of which nothing is said. tests/test_documentation.py looks
// for the operators.
func TestSentences(t *testing.T) {
	form := regexp.MustCompile(`^([A-Z0-9a-z-].*[^ ]\.|= \w+)$`)
	count := 0
	for _, base := range Names() {
		for i, o := range Overloads(base) {
			if o.sentence == "" {
				continue
			}
			count++
			switch other, same := strings.CutPrefix(o.sentence, "= "); {
			case i > 0:
				t.Errorf("%s is not the first overload, and nobody finds what it computes", o.Name)
			case !form.MatchString(o.sentence):
				t.Errorf("%s: neither a sentence nor = NAME: %s", o.Name, o.sentence)
			case same && (ownSentence(other) == "" || strings.HasPrefix(ownSentence(other), "= ")):
				t.Errorf("%s is %s, of which nothing is said", o.Name, other)
			}
		}
	}
	if count < 700 {
		t.Errorf("%d operators say what they compute", count)
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
