package source_test

import (
	"io"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

func TestCatch(t *testing.T) {
	caught := func(f func()) (err error) {
		defer source.Catch(&err)
		f()
		return nil
	}
	if err := caught(func() {}); err != nil {
		t.Errorf("nothing thrown, caught %v", err)
	}
	err := caught(func() { source.Raise(source.IndexError, "no element %d", 3) })
	if source.ClassOf(err) != source.IndexError || err.Error() != "no element 3" {
		t.Errorf("raised an IndexError, caught %#v", err)
	}
	if err := caught(func() { source.Must(0, io.EOF) }); err != io.EOF {
		t.Errorf("threw io.EOF, caught %v", err)
	}
	if v := source.Must(7, nil); v != 7 {
		t.Errorf("Must(7, nil) = %d", v)
	}
	defer func() {
		if r := recover(); r != "a mistake" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = caught(func() { panic("a mistake") })
	t.Error("another panic was caught")
}
