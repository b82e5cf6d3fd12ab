package syntax

import "strings"

// hints say what to write in place of syntax that programs do not have, by the beginning of the message. The
// Python door has the same.
var hints = []struct{ message, hint string }{
	{"try blocks", "a program cannot catch exceptions; a Python function that is marked @torch.jit.ignore can"},
	{"import statements", "import outside of the function: what is imported there is known here"},
	{"global variables", "pass the value in and return the new one"},
	{"nonlocal variables", "pass the value in and return the new one"},
	{"class definitions", "define the class outside of the function"},
	{"function definitions", "define the function outside of this one"},
	{"Lambda", "define a function outside of this one and call it"},
	{"Set ", "the keys of a dictionary are a set"},
	{"else branches of", "set a variable where the loop is left, and look at it behind the loop"},
	{"Comprehension ifs", "append to a list in a loop"},
	{"unsupported kind of augumented assignment", "write x = x // y, or with @"},
	{"keyword-arg expansion", "name the arguments one by one"},
	{"Dict expansion", "copy the dictionary and call update"},
	{"annotated assignments without", "give the variable a value"},
	{"raise without", "name the exception"},
	{"Compiled functions can't take variable", "take a list or a tuple"},
	{"Don't support formatting", "use %: '%.2f' % x"},
}

// hintFor returns the hint for a message, "" where there is none.
func hintFor(message string) string {
	for _, h := range hints {
		if strings.HasPrefix(message, h.message) {
			return h.hint
		}
	}
	return ""
}
