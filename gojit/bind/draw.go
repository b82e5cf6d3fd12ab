package bind

import (
	"encoding/json"
	"html"

	"github.com/torchjit/torchjit/gojit/internal/draw"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
)

// drawFunctions show explanations and programs. Explanations come as JSON, with the times that Python has added.
var drawFunctions = []function{
	{schema: "explanation_text(str explanation) -> str", run: explained((*exec.Explanation).String)},
	{schema: "explanation_page(str explanation) -> str", run: explained((*exec.Explanation).HTML)},
	{schema: "explanation_notebook(str explanation) -> str", run: explained(func(x *exec.Explanation) string {
		if x.Drawing == "" {
			return preformatted(x.String())
		}
		return drawn(x.Drawing) + details(x.String())
	})},
	{schema: "export_picture(str program) -> str?", run: exportPicture},
	{schema: "export_notebook(str program, str text) -> str", run: exportNotebook},
	{schema: "export_dot(str program) -> str", run: exportDot},
}

// explained is a function of an explanation.
func explained(show func(*exec.Explanation) string) func(c *call) error {
	return func(c *call) error {
		var x exec.Explanation
		if err := json.Unmarshal([]byte(c.argString(0)), &x); err != nil {
			return valueErrorf("the explanation cannot be read: %v", err)
		}
		c.string(show(&x))
		return nil
	}
}

func exportPicture(c *call) error {
	p, err := exportir.Parse([]byte(c.argString(0)))
	if err != nil {
		return err
	}
	if picture := pictureOf(p.Draw()); picture != nil {
		c.string(*picture)
	}
	return nil
}

func exportNotebook(c *call) error {
	p, err := exportir.Parse([]byte(c.argString(0)))
	if err != nil {
		return err
	}
	c.string(notebookText(p.Draw(), c.argString(1)))
	return nil
}

func exportDot(c *call) error {
	p, err := exportir.Parse([]byte(c.argString(0)))
	if err != nil {
		return err
	}
	c.string(p.Draw().DOT())
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
