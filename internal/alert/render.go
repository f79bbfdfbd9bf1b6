package alert

import (
	"html"
	"strings"
)

// text returns a message as plain text.
func (m Message) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Heading != "" {
			b.WriteString(p.Heading + "\n")
		}
		if text := p.plain("  ", unescaped, Link.text); text != "" {
			b.WriteString(text + "\n")
		}
		b.WriteString("\n")
	}
	if m.Link.URL != "" {
		b.WriteString(m.Link.text() + "\n\n")
	}
	return b.String() + m.Foot + "\n"
}

func unescaped(text string) string { return text }

func (l Link) text() string { return l.Text + ": " + l.URL }

// markColours are the colours of the strip at the top.
var markColours = map[Tone]string{Alarm: "#b42318", Good: "#1b7f3b", Plain: "#1f5f99"}

// html returns a message as a page that any mail program can show, without scripts, images or
// external resources.
func (m Message) html() string {
	var b strings.Builder
	b.WriteString(
		`<!DOCTYPE html><html><head><meta charset="utf-8"></head><body style="margin:0;font-family:Arial,Helvetica,sans-serif;font-size:15px;color:#1d2330;background:#ffffff">` +
			`<div style="max-width:680px;margin:0 auto;padding:16px;border-top:6px solid ` +
			markColours[m.Tone] + `">` +
			`<h1 style="font-size:19px;margin:8px 0 16px">` + html.EscapeString(m.Subject) + "</h1>\n")
	for _, p := range m.Parts {
		if p.Heading != "" {
			b.WriteString(`<h2 style="font-size:15px;margin:18px 0 4px">` + html.EscapeString(p.Heading) + "</h2>\n")
		}
		if p.Text != "" {
			b.WriteString(`<p style="margin:0 0 8px">` + lines(p.Text) + "</p>\n")
		}
		if len(p.Items) == 0 {
			continue
		}
		b.WriteString(`<ul style="margin:4px 0 8px;padding-left:22px">` + "\n")
		for _, item := range p.Items {
			b.WriteString(`<li style="margin:0 0 6px">` + lines(item.Text))
			for _, more := range item.More {
				b.WriteString(`<br><span style="color:#4a5568">` + lines(more) + "</span>")
			}
			if item.Link.URL != "" {
				b.WriteString("<br>" + item.Link.html())
			}
			b.WriteString("</li>\n")
		}
		b.WriteString("</ul>\n")
	}
	if m.Link.URL != "" {
		b.WriteString(`<p style="margin:16px 0 0">` + m.Link.html() + "</p>\n")
	}
	b.WriteString(`<p style="margin:20px 0 0;color:#6b7280;font-size:12px">` + lines(m.Foot) +
		"</p></div></body></html>\n")
	return b.String()
}

func (l Link) html() string {
	return `<a href="` + html.EscapeString(l.URL) + `" style="color:#1f5f99">` + html.EscapeString(l.Text) + "</a>"
}

func lines(text string) string { return strings.ReplaceAll(html.EscapeString(text), "\n", "<br>") }
