package export

import (
	"strconv"
	"strings"
)

// namer gives nodes names that Python programs can have for variables, each once: add, add_1, sum_1.
type namer struct {
	used  map[string]bool
	count map[string]int
}

func newNamer() *namer { return &namer{used: map[string]bool{}, count: map[string]int{}} }

// name returns base, or base with a number behind it where that is taken or means something in Python.
func (n *namer) name(base string) string {
	base = identifier(base)
	candidate := base
	if illegal[candidate] {
		candidate = base + "_1"
	}
	if stem, number, ok := numbered(candidate); ok {
		base = stem
		if n.used[candidate] {
			n.count[base] = max(n.count[base], number)
		}
	}
	for n.used[candidate] || illegal[candidate] {
		n.count[base]++
		candidate = base + "_" + strconv.Itoa(n.count[base])
	}
	n.used[candidate] = true
	return candidate
}

// input returns the name of an input: words of Python alone are changed, names of its functions are not.
func (n *namer) input(base string) string {
	if id := identifier(base); builtins[id] && !n.used[id] {
		n.used[id] = true
		return id
	}
	return n.name(base)
}

// numbered splits a name that ends in a number.
func numbered(name string) (stem string, number int, ok bool) {
	i := strings.LastIndexByte(name, '_')
	if i <= 0 {
		return "", 0, false
	}
	number, err := strconv.Atoi(name[i+1:])
	return name[:i], number, err == nil && number >= 0
}

// identifier makes a name of a text.
func identifier(text string) string {
	var b strings.Builder
	for i, c := range text {
		switch {
		case c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			b.WriteRune(c)
		case '0' <= c && c <= '9':
			if i == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(c)
		default:
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "_"
	}
	return b.String()
}

// illegal are words of Python, and names that its functions and constants have.
var illegal = func() map[string]bool {
	found := wordSet(keywords)
	for w := range builtins {
		found[w] = true
	}
	return found
}()

func wordSet(words string) map[string]bool {
	found := map[string]bool{}
	for _, w := range strings.Fields(words) {
		found[w] = true
	}
	return found
}

const keywords = `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
lambda nonlocal not or pass raise return try while with yield
inf nan NoneType torch device fx_pytree pytree`

// builtins are the functions of Python.
var builtins = wordSet(`abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright credits delattr dict dir
divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int isinstance issubclass
iter len license list locals map max memoryview min next object oct open ord pow print property quit range repr reversed round set setattr
slice sorted staticmethod str sum super tuple type vars zip Ellipsis NotImplemented`)
