package source

// thrown carries an error that is no *Error through a panic.
type thrown struct{ error }

// Raise leaves the functions up to the next Catch with an error that has no place.
func Raise(class Class, format string, args ...any) {
	panic(Errorf(class, Range{}, format, args...))
}

// Check raises a RuntimeError unless ok.
func Check(ok bool, format string, args ...any) {
	if !ok {
		Raise(RuntimeError, format, args...)
	}
}

// Throw leaves the functions up to the next Catch with err, where that is one.
func Throw(err error) {
	switch e := err.(type) {
	case nil:
	case *Error:
		panic(e)
	default:
		panic(thrown{err})
	}
}

// Must returns v, or throws err.
func Must[T any](v T, err error) T {
	Throw(err)
	return v
}

// Thrown returns the error of a recovered panic by Raise or Throw, nil for another panic.
func Thrown(recovered any) error {
	switch r := recovered.(type) {
	case *Error:
		return r
	case thrown:
		return r.error
	}
	return nil
}

// Catch is deferred, and sets *err to what was raised or thrown. Other panics go on. Recursive code
// uses the two inside a package; its exported functions return errors.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	case thrown:
		*err = r.error
	default:
		panic(r)
	}
}
