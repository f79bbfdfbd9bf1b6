package english

import (
	"html"
	"regexp"
	"strings"
)

// words are English and no Portuguese words, and no names that a configuration, a command or the
// API has. Whole sentences have at least one of them.
var words = func() map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(`
		the of is was are were be been being not and or from has have had which must cannot could should
		does did this that these those its their they there by to an on at than then but only
		already yet while until since before after because whose each every both such once
		nothing everything more most many much very here into between
		through against about with without missing failed gone known unknown given wrong found
		people answers says say wants wrote written sent same
		you your what when where how would will shall may`) {
		out[word] = true
	}
	return out
}()

var (
	// quoted is what is told as others wrote it: commands and keys, values of the ERP, words of the
	// platform, of a database or of the operating system.
	quoted  = regexp.MustCompile("`[^`]*`" + `|“[^”]*”|"[^"]*"|«[^»]*»|'[^']*'`)
	command = regexp.MustCompile(`safrasync(?: +(?:-[a-z-]+(?: +/\S+)?|[a-z][a-z-]*))+`)
	word    = regexp.MustCompile(`^[A-Z]?[a-z]+$`)
	counted = regexp.MustCompile(`\b[0-9]+ (?:rows?|records?|keys?)\b`)
	// what package fmt writes where a phrase and its arguments do not fit
	unformatted = regexp.MustCompile(`%!\S+`)
	// of a configuration, and the name of a table that was copied
	label = regexp.MustCompile(`^[a-z_]+(:$| +[0-9]+ linhas?, iguais)`)

	unread = regexp.MustCompile(`(?s)<(script|style|pre|code|kbd|template|bdi|textarea)\b.*?</(script|style|pre|code|kbd|template|bdi|textarea)>|<!--.*?-->`)
	shown  = regexp.MustCompile(` (?:title|alt|placeholder|aria-label)="([^"]*)"`)
	tag    = regexp.MustCompile(`<[^>]*>`)
)

// Lines returns the lines of a text that have English words, each with those words before it. What
// is quoted, commands, identifiers and JSON are not looked at.
func Lines(text string) (out []string) {
	if strings.Contains(strings.ToLower(text), "<!doctype html>") {
		return Page(text)
	}
	return lines(text)
}

func lines(text string) (out []string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.ContainsAny(line[:1], "{[") || label.MatchString(line) {
			continue
		}
		found := append(counted.FindAllString(line, -1), unformatted.FindAllString(line, -1)...)
		for token := range strings.FieldsSeq(command.ReplaceAllString(quoted.ReplaceAllString(line, " … "), " … ")) {
			token = strings.Trim(token, ".,;:!?()[]…")
			if word.MatchString(token) && words[strings.ToLower(token)] {
				found = append(found, token)
			}
		}
		if found != nil {
			out = append(out, strings.Join(found, " ")+" | "+line)
		}
	}
	return out
}

// Page does the same with what a page in Portuguese shows; it looks at no page in another language.
func Page(page string) []string {
	if !strings.Contains(page, `lang="pt-BR"`) {
		return nil
	}
	page = unread.ReplaceAllString(page, " … ")
	var text strings.Builder
	for _, m := range shown.FindAllStringSubmatch(page, -1) {
		text.WriteString(m[1] + "\n")
	}
	text.WriteString(tag.ReplaceAllString(page, "\n"))
	return lines(html.UnescapeString(text.String()))
}
