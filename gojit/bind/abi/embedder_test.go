package abi

import (
	"reflect"
	"testing"
)

// What the library writes into memory of C has no pointers for Go: storing one has the collector look at what the place held before.
func TestSharedLayoutsHaveNoPointers(t *testing.T) {
	for _, layout := range []any{Word{}, Reply{}, Array{}, Waiting{}} {
		typ := reflect.TypeOf(layout)
		for i := range typ.NumField() {
			field := typ.Field(i)
			elem := field.Type
			for elem.Kind() == reflect.Array {
				elem = elem.Elem()
			}
			switch elem.Kind() {
			case reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Uintptr:
			default:
				t.Errorf("%s.%s is a %s", typ, field.Name, field.Type)
			}
		}
	}
}
