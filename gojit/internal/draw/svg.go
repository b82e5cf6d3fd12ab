package draw

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// colors are those of boxes: the area and the line around it.
var colors = map[Kind][2]string{
	Plain: {"#ffffff", "#555555"}, Input: {"#e8f1fb", "#3a6ea5"}, Output: {"#e9f5e9", "#3d8b40"}, Call: {"#fff6e0", "#b7791f"},
	Control: {"#f5f0fa", "#7b52ab"}, Fused: {"#fdecea", "#c0392b"},
}

// SVG returns the picture.
func (d *Drawing) SVG() string {
	d.layOut()
	width, height := number(d.Block.width+2*padding), number(d.Block.height+2*padding)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s" font-family="ui-monospace, Menlo, Consolas, monospace">`+"\n", width, height, width, height)
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	d.Block.drawAreas(&b)
	for _, e := range d.Edges {
		e.draw(&b)
	}
	d.Block.draw(&b)
	b.WriteString("</svg>\n")
	return b.String()
}

// drawAreas draws the areas of boxes that hold others, over which edges go.
func (b *Block) drawAreas(out *strings.Builder) {
	for _, n := range b.Nodes {
		if len(n.Blocks) > 0 {
			n.drawArea(out)
			out.WriteByte('\n')
		}
		for _, inner := range n.Blocks {
			inner.drawAreas(out)
		}
	}
}

// draw draws the boxes that edges go behind, and texts.
func (b *Block) draw(out *strings.Builder) {
	if b.Title != "" {
		label(out, b.left+padding+float64(utf8.RuneCountInString(b.Title))*detailChar/2, b.top+padding+4, b.Title, smallText, colors[b.owner.Kind][0])
	}
	for _, n := range b.Nodes {
		n.draw(out)
	}
}

func (n *Node) draw(out *strings.Builder) {
	out.WriteString("<g>")
	if n.Hint != "" {
		fmt.Fprintf(out, "<title>%s</title>", html.EscapeString(n.Hint))
	}
	if len(n.Blocks) == 0 {
		n.drawArea(out)
	}
	background := colors[n.Kind][0]
	label(out, n.left+n.width/2, n.top+titleHeight-3, n.Title, titleText, background)
	if n.Detail != "" {
		label(out, n.left+n.width/2, n.top+titleHeight+lineHeight-4, n.Detail, detailText, background)
	}
	out.WriteString("</g>\n")
	for _, inner := range n.Blocks {
		inner.draw(out)
	}
}

func (n *Node) drawArea(out *strings.Builder) {
	radius := 3
	if n.Kind == Input || n.Kind == Output {
		radius = 12
	}
	c := colors[n.Kind]
	fmt.Fprintf(out, `<rect x="%s" y="%s" width="%s" height="%s" rx="%d" fill="%s" stroke="%s"/>`, number(n.left), number(n.top), number(n.width), number(n.height), radius, c[0], c[1])
}

// textStyle is how a text looks.
type textStyle struct {
	size, attributes string
	width, height    float64 // of a character
}

var (
	titleText  = textStyle{"12", ` font-weight="bold" fill="#222222"`, titleChar, 12}
	detailText = textStyle{"10", ` fill="#555555"`, detailChar, 10}
	smallText  = textStyle{"10", ` fill="#777777"`, detailChar, 10}
)

// label draws a text around x, above y, over a strip of the background that hides edges behind it.
func label(out *strings.Builder, x, y float64, text string, style textStyle, background string) {
	width := float64(utf8.RuneCountInString(text)) * style.width
	fmt.Fprintf(out, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`, number(x-width/2), number(y-style.height+1), number(width), number(style.height+2), background)
	fmt.Fprintf(out, `<text x="%s" y="%s" font-size="%s" text-anchor="middle"%s>%s</text>`, number(x), number(y), style.size, style.attributes, html.EscapeString(text))
}

// draw draws an edge as curves from bend to bend, and its head.
func (e *Edge) draw(out *strings.Builder) {
	end := e.end()
	points := append(e.bends(), point{end.x, end.y - 5})
	out.WriteString(`<g fill="none" stroke="#888888">`)
	if e.Hint != "" {
		fmt.Fprintf(out, "<title>%s</title>", html.EscapeString(e.Hint))
	}
	fmt.Fprintf(out, `<path d="M%s %s`, number(points[0].x), number(points[0].y))
	for i, p := range points[1:] {
		last := points[i]
		half := (p.y - last.y) / 2
		fmt.Fprintf(out, " C%s %s %s %s %s %s", number(last.x), number(last.y+half), number(p.x), number(p.y-half), number(p.x), number(p.y))
	}
	fmt.Fprintf(out, `"/><path d="M%s %s l-3 -6 l6 0 z" fill="#888888" stroke="none"/></g>`+"\n", number(end.x), number(end.y))
}

// number prints a coordinate with one place behind the point at most.
func number(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
