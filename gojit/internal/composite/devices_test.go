package composite

import "testing"

// TestDefinitionsForDevices compiles all that operators are made of on devices.
func TestDefinitionsForDevices(t *testing.T) {
	for name, f := range onDevices() {
		if err := f.EnsureDefined(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
