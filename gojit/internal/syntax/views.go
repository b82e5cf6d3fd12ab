package syntax

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Expr and Stmt mark what a Tree is expected to be; they are plain Trees.
type (
	Expr = *Tree
	Stmt = *Tree
)

// as checks that a view is put over a tree of its kind; anything else is a mistake of the compiler.
func (t *Tree) as(k Kind) *Tree {
	if t.Kind != k {
		panic(fmt.Sprintf("syntax: view of %s over a tree of kind %s", k, t.Kind))
	}
	return t
}

// option returns the tree in an option node, or nil.
func option(t *Tree) *Tree {
	if len(t.Children) == 0 {
		return nil
	}
	return t.Children[0]
}

func mapTrees[V any](trees []*Tree, view func(*Tree) V) []V {
	views := make([]V, len(trees))
	for i, t := range trees {
		views[i] = view(t)
	}
	return views
}

func treesOf[V interface{ tree() *Tree }](views []V) []*Tree {
	trees := make([]*Tree, len(views))
	for i, v := range views {
		trees[i] = v.tree()
	}
	return trees
}

func (t *Tree) tree() *Tree { return t }

// Ident is a name.
type Ident struct{ *Tree }

// AsIdent views t, which must be an ident.
func AsIdent(t *Tree) Ident { return Ident{t.as(KindIdent)} }

// NewIdent makes a name.
func NewIdent(r source.Range, name string) Ident { return Ident{newLeaf(KindIdent, r, name)} }

// Name returns the name's text.
func (v Ident) Name() string { return v.Text }

// Def is a function definition.
type Def struct{ *Tree }

// AsDef views t, which must be a def.
func AsDef(t *Tree) Def { return Def{t.as(KindDef)} }

// NewDef makes a function definition.
func NewDef(r source.Range, name Ident, decl Decl, body []Stmt) Def {
	return Def{newTree(KindDef, r, name.Tree, decl.Tree, newList(r, body))}
}

func (v Def) Name() Ident  { return Ident{v.Children[0]} }
func (v Def) Decl() Decl   { return Decl{v.Children[1]} }
func (v Def) Body() []Stmt { return v.Children[2].Children }

// WithDecl returns the definition with another declaration.
func (v Def) WithDecl(d Decl) Def {
	return NewDef(v.Range, v.Name(), d, v.Body())
}

// WithName returns the definition under another name.
func (v Def) WithName(name string) Def {
	return NewDef(v.Range, NewIdent(v.Name().Range, name), v.Decl(), v.Body())
}

// Decl is the parameters and the result type of a function.
type Decl struct{ *Tree }

// AsDecl views t, which must be a decl.
func AsDecl(t *Tree) Decl { return Decl{t.as(KindDecl)} }

// NewDecl makes a declaration; result is nil where none is stated.
func NewDecl(r source.Range, params []Param, result Expr) Decl {
	return Decl{newTree(KindDecl, r, newList(r, treesOf(params)), newOption(r, result))}
}

// Params returns the parameters in order.
func (v Decl) Params() []Param {
	return mapTrees(v.Children[0].Children, func(t *Tree) Param { return Param{t} })
}

// Return returns the result type or nil.
func (v Decl) Return() Expr { return option(v.Children[1]) }

// Param is a parameter of a function.
type Param struct{ *Tree }

// AsParam views t, which must be a param.
func AsParam(t *Tree) Param { return Param{t.as(KindParam)} }

// NewParam makes a parameter; typ and def are nil where absent.
func NewParam(r source.Range, name Ident, typ, def Expr, kwargOnly bool) Param {
	flag := newLeaf(KindFalse, r, "")
	if kwargOnly {
		flag.Kind = KindTrue
	}
	return Param{newTree(KindParam, r, name.Tree, newOption(r, typ), newOption(r, def), flag)}
}

func (v Param) Ident() Ident    { return Ident{v.Children[0]} }
func (v Param) Type() Expr      { return option(v.Children[1]) } // nil where not annotated
func (v Param) Default() Expr   { return option(v.Children[2]) } // nil where there is none
func (v Param) KwargOnly() bool { return v.Children[3].Kind == KindTrue }

// WithType returns the parameter with another annotation.
func (v Param) WithType(typ Expr) Param {
	return Param{newTree(KindParam, v.Range, v.Children[0], newOption(v.Range, typ), v.Children[2], v.Children[3])}
}

// ClassDef is a class.
type ClassDef struct{ *Tree }

// AsClassDef views t, which must be a class.
func AsClassDef(t *Tree) ClassDef { return ClassDef{t.as(KindClassDef)} }

// NewClassDef makes a class; base is nil where there is none.
func NewClassDef(r source.Range, name Ident, base Expr, body []Stmt, properties []Property, assigns []Assign) ClassDef {
	return ClassDef{newTree(KindClassDef, r, name.Tree, newOption(r, base), newList(r, body),
		newList(r, treesOf(properties)), newList(r, treesOf(assigns)))}
}

func (v ClassDef) Name() Ident      { return Ident{v.Children[0]} }
func (v ClassDef) Superclass() Expr { return option(v.Children[1]) } // nil where there is none
func (v ClassDef) Body() []Stmt     { return v.Children[2].Children }

// Properties returns the properties of a class of the Python door.
func (v ClassDef) Properties() []Property {
	return mapTrees(v.Children[3].Children, func(t *Tree) Property { return Property{t} })
}

// Assigns returns the class attributes that the Python door found annotated.
func (v ClassDef) Assigns() []Assign {
	return mapTrees(v.Children[4].Children, func(t *Tree) Assign { return Assign{t} })
}

// Property is a property with its accessors.
type Property struct{ *Tree }

// AsProperty views t, which must be a property.
func AsProperty(t *Tree) Property { return Property{t.as(KindProperty)} }

// NewProperty makes a property; setter is nil for one that can only be read.
func NewProperty(r source.Range, name Ident, getter Def, setter *Def) Property {
	var set *Tree
	if setter != nil {
		set = setter.Tree
	}
	return Property{newTree(KindProperty, r, name.Tree, getter.Tree, newOption(r, set))}
}

func (v Property) Name() Ident { return Ident{v.Children[0]} }
func (v Property) Getter() Def { return Def{v.Children[1]} }

// Setter returns the setter; ok is false where there is none.
func (v Property) Setter() (setter Def, ok bool) {
	t := option(v.Children[2])
	return Def{t}, t != nil
}

// If is an if statement; elif is an If alone in Else.
type If struct{ *Tree }

// AsIf views t, which must be an if.
func AsIf(t *Tree) If { return If{t.as(KindIf)} }

// NewIf makes an if statement.
func NewIf(r source.Range, cond Expr, body, orelse []Stmt) If {
	return If{newTree(KindIf, r, cond, newList(r, body), newList(r, orelse))}
}

func (v If) Cond() Expr   { return v.Children[0] }
func (v If) Body() []Stmt { return v.Children[1].Children }
func (v If) Else() []Stmt { return v.Children[2].Children }

// BodyRange and ElseRange cover the statements of a branch.
func (v If) BodyRange() source.Range { return v.Children[1].Range }
func (v If) ElseRange() source.Range { return v.Children[2].Range }

// For is a for loop.
type For struct{ *Tree }

// AsFor views t, which must be a for.
func AsFor(t *Tree) For { return For{t.as(KindFor)} }

// NewFor makes a for loop.
func NewFor(r source.Range, targets, iters []Expr, body []Stmt) For {
	return For{newTree(KindFor, r, newList(r, targets), newList(r, iters), newList(r, body))}
}

func (v For) Targets() []Expr { return v.Children[0].Children }
func (v For) Iters() []Expr   { return v.Children[1].Children }
func (v For) Body() []Stmt    { return v.Children[2].Children }

// While is a while loop.
type While struct{ *Tree }

// AsWhile views t, which must be a while.
func AsWhile(t *Tree) While { return While{t.as(KindWhile)} }

// NewWhile makes a while loop.
func NewWhile(r source.Range, cond Expr, body []Stmt) While {
	return While{newTree(KindWhile, r, cond, newList(r, body))}
}

func (v While) Cond() Expr   { return v.Children[0] }
func (v While) Body() []Stmt { return v.Children[1].Children }

// Return is a return statement; without a value it returns None.
type Return struct{ *Tree }

// AsReturn views t, which must be a return.
func AsReturn(t *Tree) Return { return Return{t.as(KindReturn)} }

// NewReturn makes a return statement.
func NewReturn(r source.Range, value Expr) Return {
	if value == nil {
		value = newLeaf(KindNone, r, "")
	}
	return Return{newTree(KindReturn, r, value)}
}

func (v Return) Expr() Expr { return v.Children[0] }

// Raise is a raise statement.
type Raise struct{ *Tree }

// AsRaise views t, which must be a raise.
func AsRaise(t *Tree) Raise { return Raise{t.as(KindRaise)} }

// NewRaise makes a raise statement.
func NewRaise(r source.Range, value Expr) Raise { return Raise{newTree(KindRaise, r, value)} }

func (v Raise) Expr() Expr { return v.Children[0] }

// Assert is an assert statement.
type Assert struct{ *Tree }

// AsAssert views t, which must be an assert.
func AsAssert(t *Tree) Assert { return Assert{t.as(KindAssert)} }

// NewAssert makes an assert statement; message is nil where absent.
func NewAssert(r source.Range, test, message Expr) Assert {
	return Assert{newTree(KindAssert, r, test, newOption(r, message))}
}

func (v Assert) Test() Expr    { return v.Children[0] }
func (v Assert) Message() Expr { return option(v.Children[1]) } // nil where absent

// Assign is an assignment. a = b = c has two left sides; a declaration has no right side.
type Assign struct{ *Tree }

// AsAssign views t, which must be an assign.
func AsAssign(t *Tree) Assign { return Assign{t.as(KindAssign)} }

// NewAssign makes an assignment; rhs and typ are nil where absent.
func NewAssign(r source.Range, lhs []Expr, rhs, typ Expr) Assign {
	return Assign{newTree(KindAssign, r, newList(r, lhs), newOption(r, rhs), newOption(r, typ))}
}

func (v Assign) LHSList() []Expr { return v.Children[0].Children }
func (v Assign) RHS() Expr       { return option(v.Children[1]) } // nil in a declaration
func (v Assign) Type() Expr      { return option(v.Children[2]) } // nil where not annotated

// LHS returns the first left side.
func (v Assign) LHS() Expr { return v.Children[0].Children[0] }

// AugAssign is an augmented assignment such as a += b.
type AugAssign struct{ *Tree }

// AsAugAssign views t, which must be an aug_assign.
func AsAugAssign(t *Tree) AugAssign { return AugAssign{t.as(KindAugAssign)} }

// NewAugAssign makes an augmented assignment; op is the operator without "=", such as "+".
func NewAugAssign(r source.Range, lhs Expr, op string, rhs Expr) AugAssign {
	t := newTree(KindAugAssign, r, lhs, rhs)
	t.Text = op
	return AugAssign{t}
}

func (v AugAssign) LHS() Expr { return v.Children[0] }
func (v AugAssign) RHS() Expr { return v.Children[1] }

// Op returns the kind of the binary operator.
func (v AugAssign) Op() Kind { return augmentedKinds[v.Text] }

// ExprStmt is an expression used as a statement.
type ExprStmt struct{ *Tree }

// AsExprStmt views t, which must be an expression statement.
func AsExprStmt(t *Tree) ExprStmt { return ExprStmt{t.as(KindExprStmt)} }

// NewExprStmt makes a statement of an expression.
func NewExprStmt(e Expr) ExprStmt { return ExprStmt{newTree(KindExprStmt, e.Range, e)} }

func (v ExprStmt) Expr() Expr { return v.Children[0] }

// With is a with statement.
type With struct{ *Tree }

// AsWith views t, which must be a with.
func AsWith(t *Tree) With { return With{t.as(KindWith)} }

// NewWith makes a with statement.
func NewWith(r source.Range, items []WithItem, body []Stmt) With {
	return With{newTree(KindWith, r, newList(r, treesOf(items)), newList(r, body))}
}

// Items returns the context managers in order.
func (v With) Items() []WithItem {
	return mapTrees(v.Children[0].Children, func(t *Tree) WithItem { return WithItem{t} })
}

func (v With) Body() []Stmt { return v.Children[1].Children }

// WithItem is one context manager of a with statement.
type WithItem struct{ *Tree }

// AsWithItem views t, which must be a withitem.
func AsWithItem(t *Tree) WithItem { return WithItem{t.as(KindWithItem)} }

// NewWithItem makes a context manager; name is nil without "as".
func NewWithItem(r source.Range, target, name Expr) WithItem {
	return WithItem{newTree(KindWithItem, r, target, newOption(r, name))}
}

func (v WithItem) Target() Expr { return v.Children[0] }
func (v WithItem) Var() Expr    { return option(v.Children[1]) } // nil without "as"

// Delete is a del statement.
type Delete struct{ *Tree }

// AsDelete views t, which must be a del.
func AsDelete(t *Tree) Delete { return Delete{t.as(KindDelete)} }

// NewDelete makes a del statement.
func NewDelete(r source.Range, targets []Expr) Delete {
	return Delete{newTree(KindDelete, r, newList(r, targets))}
}

func (v Delete) Targets() []Expr { return v.Children[0].Children }

// NewSimple makes a tree without children: pass, break, continue, True, False, None or dots.
func NewSimple(k Kind, r source.Range) *Tree { return newLeaf(k, r, "") }

// Var is a use of a name.
type Var struct{ *Tree }

// AsVar views t, which must be a variable.
func AsVar(t *Tree) Var { return Var{t.as(KindVar)} }

// NewVar makes a use of a name.
func NewVar(name Ident) Var { return Var{newTree(KindVar, name.Range, name.Tree)} }

// newVar is NewVar of NewIdent, in one piece of memory.
func newVar(r source.Range, name string) Var {
	both := &struct {
		variable, ident Tree
		room            [1]*Tree
	}{
		variable: Tree{Kind: KindVar, Range: r},
		ident:    Tree{Kind: KindIdent, Range: r, Text: name},
	}
	both.room[0] = &both.ident
	both.variable.Children = both.room[:]
	return Var{&both.variable}
}

func (v Var) Name() Ident { return Ident{v.Children[0]} }

// Const is a number.
type Const struct{ *Tree }

// AsConst views t, which must be a const.
func AsConst(t *Tree) Const { return Const{t.as(KindConst)} }

// NewConst makes a number from Python's spelling of it, such as 3, 0.5 or 2j.
func NewConst(r source.Range, text string) Const { return Const{newLeaf(KindConst, r, text)} }

// IsComplex reports whether the number is imaginary.
func (v Const) IsComplex() bool { return strings.HasSuffix(v.Text, "j") }

// IsInt reports whether the number is an integer.
func (v Const) IsInt() bool {
	return !v.IsComplex() && !strings.ContainsAny(v.Text, ".eEn")
}

// IsFloat reports whether the number is a floating-point one.
func (v Const) IsFloat() bool { return !v.IsComplex() && !v.IsInt() }

// Int returns the value of an integer; it fails where the value does not fit 64 bits.
func (v Const) Int() (int64, error) {
	if n, err := strconv.ParseInt(v.Text, 10, 64); err == nil {
		return n, nil
	}
	n, ok := new(big.Int).SetString(v.Text, 10)
	if !ok {
		return 0, source.Errorf(source.RuntimeError, v.Range, "invalid integer '%s'", v.Text)
	}
	if !n.IsInt64() {
		return 0, source.Errorf(source.RuntimeError, v.Range,
			"Integral constant out of range (must fit in a signed 64 bit integer)")
	}
	return n.Int64(), nil
}

// Float returns the value of a floating-point number.
func (v Const) Float() (float64, error) {
	f, err := strconv.ParseFloat(v.Text, 64)
	if err != nil && !isRangeError(err) {
		return 0, source.Errorf(source.RuntimeError, v.Range, "invalid number '%s'", v.Text)
	}
	return f, nil
}

// Complex returns the value of an imaginary number.
func (v Const) Complex() (complex128, error) {
	f, err := strconv.ParseFloat(strings.TrimSuffix(v.Text, "j"), 64)
	if err != nil && !isRangeError(err) {
		return 0, source.Errorf(source.RuntimeError, v.Range, "invalid number '%s'", v.Text)
	}
	return complex(0, f), nil
}

func isRangeError(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

// StringLiteral is a string; adjacent literals are one.
type StringLiteral struct{ *Tree }

// AsStringLiteral views t, which must be a string_literal.
func AsStringLiteral(t *Tree) StringLiteral { return StringLiteral{t.as(KindStringLiteral)} }

// NewStringLiteral makes a string from its contents.
func NewStringLiteral(r source.Range, text string) StringLiteral {
	return StringLiteral{newLeaf(KindStringLiteral, r, text)}
}

// Value returns the contents.
func (v StringLiteral) Value() string { return v.Text }

// Apply is a call.
type Apply struct{ *Tree }

// AsApply views t, which must be an apply.
func AsApply(t *Tree) Apply { return Apply{t.as(KindApply)} }

// NewApply makes a call.
func NewApply(r source.Range, callee Expr, inputs []Expr, attributes []Attribute) Apply {
	return Apply{newTree(KindApply, r, callee, newList(r, inputs), newList(r, treesOf(attributes)))}
}

func (v Apply) Callee() Expr   { return v.Children[0] }
func (v Apply) Inputs() []Expr { return v.Children[1].Children }

// Attributes returns the keyword arguments in order.
func (v Apply) Attributes() []Attribute {
	return mapTrees(v.Children[2].Children, func(t *Tree) Attribute { return Attribute{t} })
}

// Attribute is a keyword argument of a call.
type Attribute struct{ *Tree }

// AsAttribute views t, which must be an attribute.
func AsAttribute(t *Tree) Attribute { return Attribute{t.as(KindAttribute)} }

// NewAttribute makes a keyword argument.
func NewAttribute(r source.Range, name Ident, value Expr) Attribute {
	return Attribute{newTree(KindAttribute, r, name.Tree, value)}
}

func (v Attribute) Name() Ident { return Ident{v.Children[0]} }
func (v Attribute) Value() Expr { return v.Children[1] }

// Select is value.selector.
type Select struct{ *Tree }

// AsSelect views t, which must be a select.
func AsSelect(t *Tree) Select { return Select{t.as(KindSelect)} }

// NewSelect makes value.selector.
func NewSelect(value Expr, selector Ident) Select {
	return Select{newTree(KindSelect, value.Range, value, selector.Tree)}
}

func (v Select) Value() Expr     { return v.Children[0] }
func (v Select) Selector() Ident { return Ident{v.Children[1]} }

// Subscript is value[subscripts].
type Subscript struct{ *Tree }

// AsSubscript views t, which must be a subscript.
func AsSubscript(t *Tree) Subscript { return Subscript{t.as(KindSubscript)} }

// NewSubscript makes value[subscripts]; r ends after the last subscript.
func NewSubscript(r source.Range, value Expr, subscripts []Expr) Subscript {
	return Subscript{newTree(KindSubscript, r, value, newList(r, subscripts))}
}

func (v Subscript) Value() Expr        { return v.Children[0] }
func (v Subscript) Subscripts() []Expr { return v.Children[1].Children }

// SliceExpr is start:end:step in a subscript.
type SliceExpr struct{ *Tree }

// AsSliceExpr views t, which must be a slice.
func AsSliceExpr(t *Tree) SliceExpr { return SliceExpr{t.as(KindSliceExpr)} }

// NewSliceExpr makes start:end:step, any of which may be nil.
func NewSliceExpr(r source.Range, start, end, step Expr) SliceExpr {
	return SliceExpr{newTree(KindSliceExpr, r, newOption(r, start), newOption(r, end), newOption(r, step))}
}

func (v SliceExpr) Start() Expr { return option(v.Children[0]) }
func (v SliceExpr) End() Expr   { return option(v.Children[1]) }
func (v SliceExpr) Step() Expr  { return option(v.Children[2]) }

// ListLiteral is [a, b].
type ListLiteral struct{ *Tree }

// AsListLiteral views t, which must be a list-literal.
func AsListLiteral(t *Tree) ListLiteral { return ListLiteral{t.as(KindListLiteral)} }

// NewListLiteral makes [a, b].
func NewListLiteral(r source.Range, inputs []Expr) ListLiteral {
	return ListLiteral{newTree(KindListLiteral, r, newList(r, inputs))}
}

func (v ListLiteral) Inputs() []Expr { return v.Children[0].Children }

// TupleLiteral is (a, b).
type TupleLiteral struct{ *Tree }

// AsTupleLiteral views t, which must be a tuple-literal.
func AsTupleLiteral(t *Tree) TupleLiteral { return TupleLiteral{t.as(KindTupleLiteral)} }

// NewTupleLiteral makes (a, b).
func NewTupleLiteral(r source.Range, inputs []Expr) TupleLiteral {
	return TupleLiteral{newTree(KindTupleLiteral, r, newList(r, inputs))}
}

func (v TupleLiteral) Inputs() []Expr { return v.Children[0].Children }

// DictLiteral is {k: v}.
type DictLiteral struct{ *Tree }

// AsDictLiteral views t, which must be a dict-literal.
func AsDictLiteral(t *Tree) DictLiteral { return DictLiteral{t.as(KindDictLiteral)} }

// NewDictLiteral makes {k: v}; there are as many keys as values.
func NewDictLiteral(r source.Range, keys, values []Expr) DictLiteral {
	return DictLiteral{newTree(KindDictLiteral, r, newList(r, keys), newList(r, values))}
}

func (v DictLiteral) Keys() []Expr   { return v.Children[0].Children }
func (v DictLiteral) Values() []Expr { return v.Children[1].Children }

// ListComp is [elt for target in iter].
type ListComp struct{ *Tree }

// AsListComp views t, which must be a list comprehension.
func AsListComp(t *Tree) ListComp { return ListComp{t.as(KindListComp)} }

// NewListComp makes [elt for target in iter].
func NewListComp(r source.Range, elt, target, iter Expr) ListComp {
	return ListComp{newTree(KindListComp, r, elt, target, iter)}
}

func (v ListComp) Elt() Expr    { return v.Children[0] }
func (v ListComp) Target() Expr { return v.Children[1] }
func (v ListComp) Iter() Expr   { return v.Children[2] }

// DictComp is {key: value for target in iter}.
type DictComp struct{ *Tree }

// AsDictComp views t, which must be a dict comprehension.
func AsDictComp(t *Tree) DictComp { return DictComp{t.as(KindDictComp)} }

// NewDictComp makes {key: value for target in iter}.
func NewDictComp(r source.Range, key, value, target, iter Expr) DictComp {
	return DictComp{newTree(KindDictComp, r, key, value, target, iter)}
}

func (v DictComp) Key() Expr    { return v.Children[0] }
func (v DictComp) Value() Expr  { return v.Children[1] }
func (v DictComp) Target() Expr { return v.Children[2] }
func (v DictComp) Iter() Expr   { return v.Children[3] }

// Starred is *value.
type Starred struct{ *Tree }

// AsStarred views t, which must be starred.
func AsStarred(t *Tree) Starred { return Starred{t.as(KindStarred)} }

// NewStarred makes *value.
func NewStarred(r source.Range, value Expr) Starred {
	return Starred{newTree(KindStarred, r, value)}
}

func (v Starred) Expr() Expr { return v.Children[0] }

// TernaryIf is a if cond else b.
type TernaryIf struct{ *Tree }

// AsTernaryIf views t, which must be a conditional expression.
func AsTernaryIf(t *Tree) TernaryIf { return TernaryIf{t.as(KindTernaryIf)} }

// NewTernaryIf makes yes if cond else no.
func NewTernaryIf(cond, yes, no Expr) TernaryIf {
	return TernaryIf{newTree(KindTernaryIf, cond.Range, cond, yes, no)}
}

func (v TernaryIf) Cond() Expr  { return v.Children[0] }
func (v TernaryIf) True() Expr  { return v.Children[1] }
func (v TernaryIf) False() Expr { return v.Children[2] }

// BinOp is a binary operation, a comparison, and, or; Kind is the operator.
type BinOp struct{ *Tree }

// AsBinOp views t, which must be a binary operation.
func AsBinOp(t *Tree) BinOp {
	if t.Kind < KindAdd {
		panic(fmt.Sprintf("syntax: view of a binary operation over a tree of kind %s", t.Kind))
	}
	return BinOp{t}
}

// NewBinOp makes lhs op rhs.
func NewBinOp(op Kind, lhs, rhs Expr) BinOp { return BinOp{newTree(op, lhs.Range, lhs, rhs)} }

func (v BinOp) LHS() Expr { return v.Children[0] }
func (v BinOp) RHS() Expr { return v.Children[1] }

// UnaryOp is not, unary minus or ~; Kind is the operator.
type UnaryOp struct{ *Tree }

// AsUnaryOp views t, which must be a unary operation.
func AsUnaryOp(t *Tree) UnaryOp {
	if t.Kind != KindNot && t.Kind != KindUnaryMinus && t.Kind != KindInvert {
		panic(fmt.Sprintf("syntax: view of a unary operation over a tree of kind %s", t.Kind))
	}
	return UnaryOp{t}
}

// NewUnaryOp makes op value; r is the operator's range.
func NewUnaryOp(op Kind, r source.Range, value Expr) UnaryOp {
	return UnaryOp{newTree(op, r, value)}
}

func (v UnaryOp) Operand() Expr { return v.Children[0] }
