package draw

import (
	"fmt"
	"html"
	"strconv"
	"strings"
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
	d.Block.draw(&b)
	for _, e := range d.Edges {
		e.draw(&b)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (b *Block) draw(out *strings.Builder) {
	if b.Title != "" {
		fmt.Fprintf(out, `<text x="%s" y="%s" font-size="10" fill="#777777">%s</text>`+"\n", number(b.left+padding), number(b.top+padding+4), html.EscapeString(b.Title))
	}
	for _, n := range b.Nodes {
		n.draw(out)
	}
}

func (n *Node) draw(out *strings.Builder) {
	c := colors[n.Kind]
	radius := 3
	if n.Kind == Input || n.Kind == Output {
		radius = 12
	}
	out.WriteString("<g>")
	if n.Hint != "" {
		fmt.Fprintf(out, "<title>%s</title>", html.EscapeString(n.Hint))
	}
	fmt.Fprintf(out, `<rect x="%s" y="%s" width="%s" height="%s" rx="%d" fill="%s" stroke="%s"/>`, number(n.left), number(n.top), number(n.width), number(n.height), radius, c[0], c[1])
	middle := number(n.left + n.width/2)
	fmt.Fprintf(out, `<text x="%s" y="%s" font-size="12" font-weight="bold" text-anchor="middle" fill="#222222">%s</text>`, middle, number(n.top+titleHeight-3), html.EscapeString(n.Title))
	if n.Detail != "" {
		fmt.Fprintf(out, `<text x="%s" y="%s" font-size="10" text-anchor="middle" fill="#555555">%s</text>`, middle, number(n.top+titleHeight+lineHeight-4), html.EscapeString(n.Detail))
	}
	out.WriteString("</g>\n")
	for _, inner := range n.Blocks {
		inner.draw(out)
	}
}

// draw draws an edge as curves from bend to bend, and its head.
func (e *Edge) draw(out *strings.Builder) {
	x, y := e.To.left+e.attach*e.To.width, e.To.top
	points := append(e.bends(), point{x, y - 5})
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
	fmt.Fprintf(out, `"/><path d="M%s %s l-3 -6 l6 0 z" fill="#888888" stroke="none"/></g>`+"\n", number(x), number(y))
}

// number prints a coordinate with one place behind the point at most.
func number(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
