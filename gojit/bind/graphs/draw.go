package graphs

import (
	"encoding/json"
	"html"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/draw"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
)

// drawFunctions show explanations and programs. Explanations come as JSON, with the times that Python has added.
var drawFunctions = []abi.Function{
	{Schema: "explanation_text(str explanation) -> str", Run: explained((*exec.Explanation).String)},
	{Schema: "explanation_page(str explanation) -> str", Run: explained((*exec.Explanation).HTML)},
	{Schema: "explanation_notebook(str explanation) -> str", Run: explained(func(x *exec.Explanation) string {
		if x.Drawing == "" {
			return preformatted(x.String())
		}
		return drawn(x.Drawing) + details(x.String())
	})},
	{Schema: "export_picture(str program) -> str?", Run: exportPicture},
	{Schema: "export_notebook(str program, str text) -> str", Run: exportNotebook},
	{Schema: "export_dot(str program) -> str", Run: exportDot},
}

// explained is a function of an explanation.
func explained(show func(*exec.Explanation) string) func(c *abi.Call) error {
	return func(c *abi.Call) error {
		var x exec.Explanation
		if err := json.Unmarshal([]byte(c.ArgString(0)), &x); err != nil {
			return abi.ValueErrorf("the explanation cannot be read: %v", err)
		}
		c.String(show(&x))
		return nil
	}
}

func exportPicture(c *abi.Call) error {
	p, err := exportir.Parse([]byte(c.ArgString(0)))
	if err != nil {
		return err
	}
	if picture := pictureOf(p.Draw()); picture != nil {
		c.String(*picture)
	}
	return nil
}

func exportNotebook(c *abi.Call) error {
	p, err := exportir.Parse([]byte(c.ArgString(0)))
	if err != nil {
		return err
	}
	c.String(notebookText(p.Draw(), c.ArgString(1)))
	return nil
}

func exportDot(c *abi.Call) error {
	p, err := exportir.Parse([]byte(c.ArgString(0)))
	if err != nil {
		return err
	}
	c.String(p.Draw().DOT())
	return nil
}

// pictureOf returns a drawing as SVG, nil where it has too many boxes.
func pictureOf(d *draw.Drawing) *string {
	if d.Count() > draw.Most {
		return nil
	}
	picture := d.SVG()
	return &picture
}

// notebookText shows a drawing, and the text where that is asked for; of a drawing with too many boxes the text alone.
func notebookText(d *draw.Drawing, text string) string {
	if d.Count() > draw.Most {
		return preformatted(text)
	}
	return drawn(d.SVG()) + details(text)
}

func drawn(picture string) string { return `<div style="overflow:auto">` + picture + "</div>" }

func details(text string) string {
	return "<details><summary>text</summary>" + preformatted(text) + "</details>"
}

func preformatted(text string) string { return "<pre>" + html.EscapeString(text) + "</pre>" }
