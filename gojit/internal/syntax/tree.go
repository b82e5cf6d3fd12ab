package syntax

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Tree is a node of the abstract syntax. Leaves carry Text, compound nodes carry Children whose
// number and kinds are those that the table of kinds states for Kind.
type Tree struct {
	Kind     Kind
	Text     string // identifier, number in Python's spelling, string contents, operator of aug_assign
	Range    source.Range
	Children []*Tree
}

// Kind says what a Tree is. Its String is the word that stands first in the printed tree.
type Kind uint8

// The kinds of tree.
const (
	KindInvalid Kind = iota

	KindDef
	KindClassDef
	KindProperty
	KindDecl
	KindParam
	KindAttribute
	KindWithItem
	KindImport

	KindIdent
	KindList
	KindOption

	KindIf
	KindFor
	KindWhile
	KindReturn
	KindRaise
	KindAssert
	KindAssign
	KindAugAssign
	KindExprStmt
	KindWith
	KindGlobal
	KindDelete
	KindPass
	KindBreak
	KindContinue

	KindVar
	KindConst
	KindStringLiteral
	KindTrue
	KindFalse
	KindNone
	KindDots
	KindApply
	KindSelect
	KindSubscript
	KindSliceExpr
	KindListLiteral
	KindTupleLiteral
	KindDictLiteral
	KindListComp
	KindDictComp
	KindStarred
	KindTernaryIf

	KindNot
	KindUnaryMinus
	KindInvert

	KindAdd
	KindSub
	KindMul
	KindDiv
	KindFloorDiv
	KindMod
	KindMatMul
	KindPow
	KindLShift
	KindRShift
	KindBitAnd
	KindBitOr
	KindBitXor
	KindAnd
	KindOr
	KindEq
	KindNe
	KindLt
	KindLe
	KindGt
	KindGe
	KindIs
	KindIsNot
	KindIn

	numKinds
)

// role is what a tree can stand for in its parent.
type role uint8

const (
	roleOther role = iota
	roleExpr
	roleStmt
)

// kinds is the one table of what there is: the printed word, the role, whether Text is used, and
// the children in order. A child is named by its role (expr, stmt) or its kind's word; "?" stands
// for an option and "*" for a list of them.
var kinds = [numKinds]struct {
	name     string
	role     role
	hasText  bool
	children string
}{
	KindInvalid: {name: "invalid"},

	KindDef:       {"def", roleStmt, false, "ident decl stmt*"},
	KindClassDef:  {"class", roleStmt, false, "ident expr? stmt* property* assign*"},
	KindProperty:  {"property", roleOther, false, "ident def def?"},
	KindDecl:      {"decl", roleOther, false, "param* expr?"},
	KindParam:     {"param", roleOther, false, "ident expr? expr? bool"},
	KindAttribute: {"attribute", roleOther, false, "ident expr"},
	KindWithItem:  {"withitem", roleOther, false, "expr expr?"},
	KindImport:    {"import", roleStmt, true, ""},

	KindIdent:  {"ident", roleOther, true, ""},
	KindList:   {"list", roleOther, false, ""},
	KindOption: {"option", roleOther, false, ""},

	KindIf:        {"if", roleStmt, false, "expr stmt* stmt*"},
	KindFor:       {"for", roleStmt, false, "expr* expr* stmt*"},
	KindWhile:     {"while", roleStmt, false, "expr stmt*"},
	KindReturn:    {"return", roleStmt, false, "expr"},
	KindRaise:     {"raise", roleStmt, false, "expr"},
	KindAssert:    {"assert", roleStmt, false, "expr expr?"},
	KindAssign:    {"assign", roleStmt, false, "expr* expr? expr?"},
	KindAugAssign: {"aug_assign", roleStmt, true, "expr expr"},
	KindExprStmt:  {"expression statement", roleStmt, false, "expr"},
	KindWith:      {"with", roleStmt, false, "withitem* stmt*"},
	KindGlobal:    {"global", roleStmt, false, "ident*"},
	KindDelete:    {"del", roleStmt, false, "expr*"},
	KindPass:      {"pass", roleStmt, false, ""},
	KindBreak:     {"break", roleStmt, false, ""},
	KindContinue:  {"continue", roleStmt, false, ""},

	KindVar:           {"variable", roleExpr, false, "ident"},
	KindConst:         {"const", roleExpr, true, ""},
	KindStringLiteral: {"string_literal", roleExpr, true, ""},
	KindTrue:          {"True", roleExpr, false, ""},
	KindFalse:         {"False", roleExpr, false, ""},
	KindNone:          {"None", roleExpr, false, ""},
	KindDots:          {"dots", roleExpr, false, ""},
	KindApply:         {"apply", roleExpr, false, "expr expr* attribute*"},
	KindSelect:        {".", roleExpr, false, "expr ident"},
	KindSubscript:     {"subscript", roleExpr, false, "expr expr*"},
	KindSliceExpr:     {"slice expr", roleExpr, false, "expr? expr? expr?"},
	KindListLiteral:   {"list-literal", roleExpr, false, "expr*"},
	KindTupleLiteral:  {"tuple-literal", roleExpr, false, "expr*"},
	KindDictLiteral:   {"dict-literal", roleExpr, false, "expr* expr*"},
	KindListComp:      {"list comprehension", roleExpr, false, "expr expr expr"},
	KindDictComp:      {"dict comprehension", roleExpr, false, "expr expr expr expr"},
	KindStarred:       {"starred", roleExpr, false, "expr"},
	KindTernaryIf:     {"if expr", roleExpr, false, "expr expr expr"},

	KindNot:        {"not", roleExpr, false, "expr"},
	KindUnaryMinus: {"unary minus", roleExpr, false, "expr"},
	KindInvert:     {"~", roleExpr, false, "expr"},

	KindAdd:      {"+", roleExpr, false, "expr expr"},
	KindSub:      {"-", roleExpr, false, "expr expr"},
	KindMul:      {"*", roleExpr, false, "expr expr"},
	KindDiv:      {"/", roleExpr, false, "expr expr"},
	KindFloorDiv: {"//", roleExpr, false, "expr expr"},
	KindMod:      {"%", roleExpr, false, "expr expr"},
	KindMatMul:   {"@", roleExpr, false, "expr expr"},
	KindPow:      {"**", roleExpr, false, "expr expr"},
	KindLShift:   {"<<", roleExpr, false, "expr expr"},
	KindRShift:   {">>", roleExpr, false, "expr expr"},
	KindBitAnd:   {"&", roleExpr, false, "expr expr"},
	KindBitOr:    {"|", roleExpr, false, "expr expr"},
	KindBitXor:   {"^", roleExpr, false, "expr expr"},
	KindAnd:      {"and", roleExpr, false, "expr expr"},
	KindOr:       {"or", roleExpr, false, "expr expr"},
	KindEq:       {"==", roleExpr, false, "expr expr"},
	KindNe:       {"!=", roleExpr, false, "expr expr"},
	KindLt:       {"<", roleExpr, false, "expr expr"},
	KindLe:       {"<=", roleExpr, false, "expr expr"},
	KindGt:       {">", roleExpr, false, "expr expr"},
	KindGe:       {">=", roleExpr, false, "expr expr"},
	KindIs:       {"is", roleExpr, false, "expr expr"},
	KindIsNot:    {"is not", roleExpr, false, "expr expr"},
	KindIn:       {"in", roleExpr, false, "expr expr"},
}

// shapes holds the children of every kind, split into words.
var shapes = func() (s [numKinds][]string) {
	for k := range kinds {
		s[k] = strings.Fields(kinds[k].children)
	}
	return s
}()

// kindOfName finds a kind by its printed word.
var kindOfName = func() map[string]Kind {
	m := make(map[string]Kind, numKinds)
	for k := KindInvalid + 1; k < numKinds; k++ {
		m[kinds[k].name] = k
	}
	return m
}()

// augmentedKinds are the operators that may stand before "=" in an augmented assignment.
var augmentedKinds = map[string]Kind{
	"+": KindAdd, "-": KindSub, "*": KindMul, "/": KindDiv, "%": KindMod, "**": KindPow,
	"<<": KindLShift, ">>": KindRShift, "&": KindBitAnd, "|": KindBitOr, "^": KindBitXor,
}

// String returns the word that a tree of this kind prints first.
func (k Kind) String() string {
	if k >= numKinds {
		return "invalid"
	}
	return kinds[k].name
}

// IsExpr reports whether trees of this kind are expressions.
func (k Kind) IsExpr() bool { return k < numKinds && kinds[k].role == roleExpr }

// IsStmt reports whether trees of this kind are statements.
func (k Kind) IsStmt() bool { return k < numKinds && kinds[k].role == roleStmt }

// newTree makes a compound node whose range covers r and all of its children.
func newTree(k Kind, r source.Range, children ...*Tree) *Tree {
	for _, c := range children {
		if !isGroup(c) || len(c.Children) > 0 {
			r = r.Extend(c.Range)
		}
	}
	t := treeWith(children)
	t.Kind, t.Range = k, r
	return t
}

// treeWith returns a tree with a copy of a list of children, in one piece of memory where they are few.
func treeWith(children []*Tree) *Tree {
	switch len(children) {
	case 0:
		return &Tree{}
	case 1:
		t := &struct {
			Tree
			room [1]*Tree
		}{}
		t.Children = t.room[:copy(t.room[:], children)]
		return &t.Tree
	case 2:
		t := &struct {
			Tree
			room [2]*Tree
		}{}
		t.Children = t.room[:copy(t.room[:], children)]
		return &t.Tree
	case 3:
		t := &struct {
			Tree
			room [3]*Tree
		}{}
		t.Children = t.room[:copy(t.room[:], children)]
		return &t.Tree
	}
	return &Tree{Children: append([]*Tree(nil), children...)}
}

// newLeaf makes a node that has text and no children.
func newLeaf(k Kind, r source.Range, text string) *Tree {
	return &Tree{Kind: k, Range: r, Text: text}
}

// newList groups trees; its range covers them, or is the empty range at the start of r.
func newList(r source.Range, items []*Tree) *Tree {
	t := &Tree{Kind: KindList, Range: r, Children: items}
	t.setGroupRange()
	return t
}

// newOption wraps a tree that may be nil.
func newOption(r source.Range, t *Tree) *Tree {
	o := &Tree{}
	if t != nil {
		o = treeWith([]*Tree{t})
	}
	o.Kind, o.Range = KindOption, r
	o.setGroupRange()
	return o
}

func isGroup(t *Tree) bool { return t.Kind == KindList || t.Kind == KindOption }

// setGroupRange gives a list or option the range of its items.
func (t *Tree) setGroupRange() {
	if len(t.Children) == 0 {
		t.Range.End = t.Range.Start
		return
	}
	t.Range = t.Children[0].Range
	for _, c := range t.Children[1:] {
		t.Range = t.Range.Extend(c.Range)
	}
}

// checkShape reports what is wrong with the children of t by the table of kinds, or "". It does
// not look below the children.
func checkShape(t *Tree) string {
	if t.Kind == KindList || t.Kind == KindOption {
		return ""
	}
	shape := shapes[t.Kind]
	if len(shape) != len(t.Children) {
		return "wrong number of children"
	}
	for i, want := range shape {
		if !fits(want, t.Children[i]) {
			return "child is not " + want
		}
	}
	if t.Kind == KindAugAssign {
		if _, ok := augmentedKinds[t.Text]; !ok {
			return "unknown operator " + t.Text
		}
	}
	return ""
}

func fits(want string, t *Tree) bool {
	if item, ok := strings.CutSuffix(want, "*"); ok {
		return t.Kind == KindList && allFit(item, t.Children)
	}
	if item, ok := strings.CutSuffix(want, "?"); ok {
		return t.Kind == KindOption && len(t.Children) <= 1 && allFit(item, t.Children)
	}
	switch want {
	case "expr":
		return t.Kind.IsExpr()
	case "stmt":
		return t.Kind.IsStmt()
	case "bool":
		return t.Kind == KindTrue || t.Kind == KindFalse
	}
	return kinds[t.Kind].name == want
}

func allFit(want string, trees []*Tree) bool {
	for _, t := range trees {
		if !fits(want, t) {
			return false
		}
	}
	return true
}
