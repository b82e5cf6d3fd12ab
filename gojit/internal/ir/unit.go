package ir

import (
	"strconv"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/types"
)

// Unit is a program: functions and classes by qualified name. It is data; what runs them is kept
// elsewhere.
type Unit struct {
	mu        sync.RWMutex
	functions map[string]*Function
	order     []*Function
	named     map[string]types.Type // classes, interfaces, enums and named tuples
	released  map[string]bool       // names of named that the next type may have
	mangled   int                   // names given by Mangle so far
}

// NewUnit returns an empty program.
func NewUnit() *Unit {
	return &Unit{functions: map[string]*Function{}, named: map[string]types.Type{}, released: map[string]bool{}}
}

// AddFunction adds a function, or replaces the one of its name.
func (u *Unit) AddFunction(f *Function) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.functions[f.Name] == nil {
		u.order = append(u.order, f)
	}
	u.functions[f.Name] = f
}

// Function returns the named function, or nil.
func (u *Unit) Function(name string) *Function {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.functions[name]
}

// Functions returns the functions in the order in which they were added.
func (u *Unit) Functions() []*Function {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return append([]*Function(nil), u.order...)
}

// AddType adds a named type.
func (u *Unit) AddType(name string, t types.Type) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.named[name] = t
	delete(u.released, name)
	if class, ok := t.(*types.Class); ok {
		class.Unit = u
	}
}

// Type returns the named type, or nil.
func (u *Unit) Type(name string) types.Type {
	u.mu.RLock()
	defer u.mu.RUnlock()
	return u.named[name]
}

// ReleaseTypeNames has the next types be given names that types have now. These stay, each until there is another of its name.
func (u *Unit) ReleaseTypeNames() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for name := range u.named {
		u.released[name] = true
	}
}

// FreeTypeName returns the name, or where a type has it one like it that nothing in the program has.
func (u *Unit) FreeTypeName(name string) string {
	u.mu.RLock()
	taken := u.named[name] != nil && !u.released[name]
	u.mu.RUnlock()
	if taken {
		return u.Mangle(name)
	}
	return name
}

// Mangle returns a name like name that nothing in the program has: the part before the last gets
// "___torch_mangle_N" behind it.
func (u *Unit) Mangle(name string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var atoms []string
	for _, atom := range strings.Split(name, ".") {
		if !strings.HasPrefix(atom, "___torch_mangle_") {
			atoms = append(atoms, atom)
		}
	}
	for {
		last := len(atoms) - 1
		mangled := strings.Join(atoms[:last], ".") + ".___torch_mangle_" + strconv.Itoa(u.mangled) + "." + atoms[last]
		u.mangled++
		if u.named[mangled] == nil && u.functions[mangled] == nil {
			return mangled
		}
	}
}
