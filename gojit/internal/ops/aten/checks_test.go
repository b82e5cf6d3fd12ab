package aten

import "testing"

func TestChecksAreOfOperators(t *testing.T) {
	for name := range checks {
		if !defines(name) {
			t.Errorf("there is no operator %s", name)
		}
	}
}

func defines(name string) bool {
	for _, family := range Families() {
		for i := range family.definitions {
			if family.definitions[i].name == name {
				return true
			}
		}
	}
	return false
}
