package tensor

import "sync/atomic"

// gradDisabled is whether operations are not recorded for differentiation.
var gradDisabled atomic.Bool

// GradEnabled reports whether operations are recorded for differentiation.
func GradEnabled() bool { return !gradDisabled.Load() }

// SetGradEnabled switches the recording of operations on or off.
func SetGradEnabled(on bool) { gradDisabled.Store(!on) }
