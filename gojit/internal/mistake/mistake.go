// Package mistake knows the common mistakes of programs by their messages: each kind has a code, a cure that people are told, and a page in docs/errors.md.
// It is a table of texts, mistakes.txt, and knows nothing of where messages are made.
package mistake

import (
	_ "embed"
	"encoding/binary"
	"strings"
	"sync"
)

//go:embed mistakes.txt
var table string

// Kind is a kind of mistake.
type Kind struct {
	Code, Title string
	Cure        string // what to do, in a sentence
	Page        string // more, as Markdown; may be empty

	phrases [][]string // of messages: parts that follow each other
}

// All returns the kinds in the order in which they are tried.
var All = sync.OnceValue(parse)

func parse() (kinds []*Kind) {
	var k *Kind
	page := false
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		key, text, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "TJ") && len(line) > 6 && line[5] == ' ':
			k, page = &Kind{Code: line[:5], Title: line[6:]}, false
			kinds = append(kinds, k)
		case k == nil:
		case line == "":
			if page {
				k.Page += "\n"
			}
			page = true
		case !page && key == "match":
			k.phrases = append(k.phrases, strings.Split(text, "|"))
		case !page && key == "cure":
			k.Cure = text
		default:
			k.Page += line + "\n"
		}
	}
	for _, k := range kinds {
		k.Page = strings.TrimSpace(k.Page)
	}
	return kinds
}

// longest is how much of a message is looked at, from its beginning and from its end: tracebacks lie between.
const longest = 4096

// Of returns the kind of mistake that a message tells of, nil where it is none of them.
func Of(message string) *Kind {
	if len(message) > 2*longest {
		message = message[:longest] + message[len(message)-longest:]
	}
	index, found := indexed(), -1
	for i := 0; i+beginning <= len(message); i++ {
		four := binary.LittleEndian.Uint32([]byte(message[i : i+beginning]))
		if !index.mayHave(four) {
			continue
		}
		for _, p := range index.phrases[four] {
			if (found < 0 || p.kind < found) && strings.HasPrefix(message[i:], p.parts[0]) && follow(message[i:], p.parts) {
				found = p.kind
			}
		}
	}
	if found < 0 {
		return nil
	}
	return All()[found]
}

const (
	beginning = 4    // bytes of a phrase by which it is found
	slots     = 4096 // of the filter before the map
)

// phrase is one of the phrases of a kind, which has a number in All.
type phrase struct {
	kind  int
	parts []string
}

// index has the phrases by how they begin, so that a message is gone through once. The filter has the slots of all beginnings.
type index struct {
	filter  [slots / 64]uint64
	phrases map[uint32][]phrase
}

// slot is the place of a beginning in the filter.
func slot(four uint32) (word, bit uint32) {
	n := four * 2654435761 >> 20
	return n / 64, n % 64
}

func (x *index) mayHave(four uint32) bool {
	word, bit := slot(four)
	return x.filter[word]>>bit&1 != 0
}

var indexed = sync.OnceValue(func() *index {
	x := &index{phrases: map[uint32][]phrase{}}
	for i, k := range All() {
		for _, parts := range k.phrases {
			four := binary.LittleEndian.Uint32([]byte(parts[0]))
			word, bit := slot(four)
			x.filter[word] |= 1 << bit
			x.phrases[four] = append(x.phrases[four], phrase{i, parts})
		}
	}
	return x
})

// follow reports whether parts occur in a text one behind the other.
func follow(text string, parts []string) bool {
	for _, part := range parts {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// Note is what people are told: the code, the cure and the page.
func (k *Kind) Note() string {
	return k.Code + ": " + k.Cure + " (docs/errors.md#" + strings.ToLower(k.Code) + ")"
}
