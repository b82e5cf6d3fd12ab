package types

import (
	"fmt"
	"sync"
)

// Attribute is a named slot of a class.
type Attribute struct {
	Name        string
	Type        Type
	IsParameter bool
	IsBuffer    bool
}

// Constant is a named constant of a class. Value is a runtime value, which this package does not
// look into.
type Constant struct {
	Name  string
	Value any
}

// Method is what a class knows of one of its methods.
type Method interface {
	// QualifiedName is the name of the class, a dot and the name of the method.
	QualifiedName() string
}

// Property is a named pair of methods. Setter is nil where there is none.
type Property struct {
	Name           string
	Getter, Setter Method
}

// Class is the type of instances of a script class or of a module.
type Class struct {
	Name       string // qualified: "__torch__.pkg.C"
	IsModule   bool
	Attributes []Attribute
	Constants  []Constant
	Properties []Property
	// Unit is the program that the class belongs to; this package does not look into it.
	Unit any
	// Host is what the embedding language knows of a class of modules; this package does not look
	// into it.
	Host any
	// Unsupported are the attributes of the class itself, which instances do not have.
	Unsupported []string
	// Uncompiled are the methods of a script class that are to be compiled before it is used.
	Uncompiled []Method
	// Hooks and PreHooks name the forward hooks of a module in the order in which they run.
	Hooks, PreHooks []Method
	methods         map[string]Method
	methodOrder     []string
	staticMethods   map[string]Method
	staticOrder     []string
}

// NewClass returns a class without attributes or methods.
func NewClass(name string, isModule bool) *Class {
	return &Class{Name: name, IsModule: isModule, methods: map[string]Method{}, staticMethods: map[string]Method{}}
}

// NativePrefix begins the names of classes that are not written in the language, such as
// "__torch__.torch.classes.quantized.LinearPackedParamsBase". All programs share them.
const NativePrefix = "__torch__.torch.classes."

var nativeClasses sync.Map // *Class by name

// NativeClass returns the class of a name with NativePrefix.
func NativeClass(name string) *Class {
	c, _ := nativeClasses.LoadOrStore(name, NewClass(name, false))
	return c.(*Class)
}

// Kind implements Type.
func (*Class) Kind() Kind { return KindClass }

// String implements Type.
func (c *Class) String() string { return c.Name }

// Annotation implements Type.
func (c *Class) Annotation(rename Renamer) string { return nameOf(c, c.Name, rename) }

// Repr is the form of a type in messages: a class says which program it is of, and a tensor whether
// its type was inferred.
func Repr(t Type) string {
	switch t := t.(type) {
	case *TensorInfo:
		if t.Inferred {
			return "Tensor (inferred)"
		}
	case *Enum:
		return t.String()
	case *Class:
		if t.Unit == nil {
			return fmt.Sprintf("%s (of Python compilation unit at: %p)", t.Name, t)
		}
		return fmt.Sprintf("%s (of Python compilation unit at: %p)", t.Name, t.Unit)
	}
	return t.Annotation(nil)
}

// AddAttribute adds a slot and returns its index.
func (c *Class) AddAttribute(a Attribute) int {
	c.Attributes = append(c.Attributes, a)
	return len(c.Attributes) - 1
}

// AttributeIndex returns the slot of the named attribute, or -1.
func (c *Class) AttributeIndex(name string) int {
	for i := range c.Attributes {
		if c.Attributes[i].Name == name {
			return i
		}
	}
	return -1
}

// AttributeType returns the type of the named attribute, or nil.
func (c *Class) AttributeType(name string) Type {
	if i := c.AttributeIndex(name); i >= 0 {
		return c.Attributes[i].Type
	}
	return nil
}

// FindConstant returns the named constant, or nil.
func (c *Class) FindConstant(name string) *Constant {
	for i := range c.Constants {
		if c.Constants[i].Name == name {
			return &c.Constants[i]
		}
	}
	return nil
}

// FindProperty returns the named property, or nil.
func (c *Class) FindProperty(name string) *Property {
	for i := range c.Properties {
		if c.Properties[i].Name == name {
			return &c.Properties[i]
		}
	}
	return nil
}

// AddMethod adds a method, or replaces the one of that name.
func (c *Class) AddMethod(name string, m Method) {
	if _, ok := c.methods[name]; !ok {
		c.methodOrder = append(c.methodOrder, name)
	}
	c.methods[name] = m
}

// FindMethod returns the named method, or nil.
func (c *Class) FindMethod(name string) Method { return c.methods[name] }

// MethodNames returns the names of the methods in the order in which they were added.
func (c *Class) MethodNames() []string { return c.methodOrder }

// RemoveMethod takes the named method out of the class.
func (c *Class) RemoveMethod(name string) {
	if _, ok := c.methods[name]; !ok {
		return
	}
	delete(c.methods, name)
	i := indexOf(c.methodOrder, name)
	c.methodOrder = append(c.methodOrder[:i:i], c.methodOrder[i+1:]...)
}

// AddStaticMethod adds a static method.
func (c *Class) AddStaticMethod(name string, m Method) {
	if _, ok := c.staticMethods[name]; !ok {
		c.staticOrder = append(c.staticOrder, name)
	}
	c.staticMethods[name] = m
}

// FindStaticMethod returns the named static method, or nil.
func (c *Class) FindStaticMethod(name string) Method { return c.staticMethods[name] }

// StaticMethodNames returns the names of the static methods in the order in which they were added.
func (c *Class) StaticMethodNames() []string { return c.staticOrder }

// InterfaceMethod is a method that an interface asks for. Schema is a function schema, which this
// package does not look into.
type InterfaceMethod struct {
	Name   string
	Schema any
}

// Interface is the type of objects that have certain methods.
type Interface struct {
	Name     string
	IsModule bool
	Methods  []InterfaceMethod
	// Satisfies reports whether an object of class c has the methods, and why it has not. It is
	// set by whoever made the interface, because schemas are beyond this package.
	Satisfies func(c *Class) (bool, string)
}

// Kind implements Type.
func (*Interface) Kind() Kind { return KindInterface }

// String implements Type.
func (i *Interface) String() string { return "InterfaceType<" + shortName(i.Name) + ">" }

// Annotation implements Type.
func (i *Interface) Annotation(rename Renamer) string { return nameOf(i, i.Name, rename) }

// FindMethod returns the named method, or nil.
func (i *Interface) FindMethod(name string) *InterfaceMethod {
	for k := range i.Methods {
		if i.Methods[k].Name == name {
			return &i.Methods[k]
		}
	}
	return nil
}

// EnumMember is a member of an enum. Value is a runtime value, which this package does not look
// into.
type EnumMember struct {
	Name  string
	Value any
}

// Enum is the type of members of an enumeration.
type Enum struct {
	Name    string
	Value   Type // of the members' values
	Members []EnumMember
}

// Kind implements Type.
func (*Enum) Kind() Kind { return KindEnum }

// String implements Type.
func (e *Enum) String() string { return "Enum<" + e.Name + ">" }

// Annotation implements Type.
func (e *Enum) Annotation(rename Renamer) string { return nameOf(e, e.Name, rename) }

// MemberIndex returns the position of the named member, or -1.
func (e *Enum) MemberIndex(name string) int {
	for i := range e.Members {
		if e.Members[i].Name == name {
			return i
		}
	}
	return -1
}

func shortName(qualified string) string {
	for i := len(qualified) - 1; i >= 0; i-- {
		if qualified[i] == '.' {
			return qualified[i+1:]
		}
	}
	return qualified
}
