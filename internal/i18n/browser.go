package i18n

import (
	"regexp"
	"strings"
)

// aside matches a command in parentheses in a sentence.
var aside = regexp.MustCompile(" *\\(`[^`]*`\\)")

// command matches a command that a sentence tells people to type.
var command = regexp.MustCompile("`safrasync ([a-z]+)[^`]*`|\\bsafrasync (release)\\b")

// decided matches what lists rows that people decide one by one.
var decided = regexp.MustCompile(` --state (in_doubt|held)\b`)

// buttons are the names of the console's buttons or pages that do the same as a command. All other
// commands are for IT, on the server.
var buttons = map[string]Key{
	"retry": "act.retry", "adopt": "act.adopt", "resend": "act.resend", "dismiss": "act.dismiss",
	"reopen": "act.reopen", "acknowledge": "act.acknowledge",
	"sync": "jobact.run", "resume": "jobact.resume", "release": "jobact.see", "refs": "nav.references",
	"rows": "nav.rows", "status": "nav.rows", "why": "nav.rows",
}

// InBrowser replaces the commands that a sentence tells people to type by the names of the console's
// pages and buttons, for people who have no command line.
func InBrowser(lang Lang, text string) string {
	text = command.ReplaceAllStringFunc(aside.ReplaceAllString(text, ""), func(found string) string {
		parts := command.FindStringSubmatch(found)
		if key, ok := buttons[parts[1]+parts[2]]; ok && !strings.Contains(found, "--record-only") { // for IT only
			switch {
			case key == "act.retry" && strings.Contains(found, "--checked"): // of what is held
				key = "act.two"
			case key == "nav.rows" && decided.MatchString(found):
				key = "nav.doubts"
			}
			named := "“" + Console.Text(lang, key) + "”"
			if key == "jobact.see" { // whoever reads it may not be the one who may
				named += Console.Text(lang, "jobact.release.who")
			}
			return named
		}
		return found
	})
	return strings.ReplaceAll(text, "`", "")
}

// PageName returns the name of a page of the console, by its path.
func PageName(lang Lang, path string) string { return Console.Text(lang, "nav."+path[1:]) }
