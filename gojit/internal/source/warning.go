package source

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

var (
	warner     atomic.Pointer[func(message string, at Range) error]
	warned     sync.Map // messages of WarnOnce
	warnAlways atomic.Bool
)

func init() {
	OnWarn(func(message string, at Range) error {
		place := ""
		if file, line, _, ok := at.FileLineCol(); ok {
			place = fmt.Sprintf("%s:%d: ", file, line)
		}
		_, err := fmt.Fprintf(os.Stderr, "%sUserWarning: %s\n", place, message)
		return err
	})
}

// OnWarn sets what receives the warnings of operators and programs, and the place in the program, which may not be known. An
// error that it returns is the operator's. The default writes them to standard error.
func OnWarn(receive func(message string, at Range) error) { warner.Store(&receive) }

// Warn warns of something at a place of a program.
func Warn(message string, at Range) error { return (*warner.Load())(message, at) }

// WarnOnce warns where no place is known, of each thing once in a process.
func WarnOnce(message string) error { return WarnOnceOf(message, message) }

// WarnOnceOf is WarnOnce of a topic, about which several things can be said: the first of them is.
func WarnOnceOf(topic, message string) error {
	if !warnAlways.Load() {
		if _, before := warned.LoadOrStore(topic, true); before {
			return nil
		}
	}
	return Warn(message, Range{})
}

// SetWarnAlways makes WarnOnce warn each time.
func SetWarnAlways(always bool) { warnAlways.Store(always) }
