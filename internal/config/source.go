package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"

	"github.com/safrasync/safrasync/internal/phrase"
)

// maxConfigBytes limits the file: a value map of 20,000 entries fits, a YAML bomb does not.
const maxConfigBytes = 1 << 20

// Source is the text of the file, and the same text with secrets masked.
type Source struct {
	Name   string   // as the user gave it
	Text   string   // with \n as line end, without a byte order mark
	Lines  []string // lines of Text
	Masked []string // the same lines, with secrets masked
}

// ReadSource reads a file of at most 1 MiB of UTF-8 without control characters.
func ReadSource(path string) (*Source, error) {
	s := &Source{Name: path}
	var raw []byte
	f, err := os.Open(path)
	if err == nil {
		raw, err = io.ReadAll(io.LimitReader(f, maxConfigBytes+1))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return nil, &Error{
			Faults: []Fault{{File: path, Text: phrase.New("cannot be read: %w", PlainReason(err))}},
			Cause:  err,
		}
	}
	if len(raw) > maxConfigBytes {
		return nil,
			s.Refuse(0, 0, "is larger than 1 MiB; keep large de-para tables in the ledger (safrasync refs import)")
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	s.Text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(raw))
	s.Lines = strings.Split(s.Text, "\n")
	s.Masked = maskLines(s.Lines)
	for i, line := range s.Lines {
		if column, why := strangeRune(line); column > 0 {
			return nil, s.Refuse(i+1, column, "%w", why)
		}
	}
	return s, nil
}

// strangeRune finds a byte that is not UTF-8 or a control character. Column 0 means that there is
// none.
func strangeRune(line string) (column int, why *phrase.Text) {
	for i, r := range line {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(line[i:], "\uFFFD"):
			return utf8.RuneCountInString(line[:i]) + 1, phrase.New("is not UTF-8 from here on; save the file as UTF-8")
		case r != '\t' && unicode.IsControl(r), r == '\uFEFF', r == '\u2028', r == '\u2029':
			return utf8.RuneCountInString(line[:i]) + 1,
				phrase.New("has the invisible character %U here; delete it", r)
		}
	}
	return 0, nil
}

// Refuse returns one fault of the file as an *[Error].
func (s *Source) Refuse(line, column int, format string, args ...any) *Error {
	return &Error{Faults: []Fault{{
		File: s.Name, Line: line, Column: column, Text: phrase.New(format, args...),
		Excerpt: s.excerpt(line, column),
	}}}
}

// inText converts a line and column of a text value to the place in the file. It handles block
// texts (|) and texts on one line; otherwise it returns 0.
func (s *Source) inText(value ast.Node, line, column int) (inFile, atColumn int) {
	text, ok := ScalarText(value)
	lines := strings.Split(text, "\n")
	if !ok || line < 1 || line > len(lines) {
		return 0, 0
	}
	inFile = value.GetToken().Position.Line + line - 1
	if block, is := value.(*ast.LiteralNode); is {
		inFile = block.Start.Position.Line + line
	}
	if inFile > len(s.Lines) {
		return 0, 0
	}
	before, _, found := strings.Cut(s.Lines[inFile-1], lines[line-1])
	if !found || lines[line-1] == "" {
		return 0, 0
	}
	return inFile, utf8.RuneCountInString(before) + column
}

// excerptWidth limits a line of an excerpt, in characters.
const excerptWidth = 120

// excerpt returns a line and the one before it, with a caret under the column. Values that may be
// secret are masked.
func (s *Source) excerpt(line, column int) string {
	if line < 1 || line > len(s.Masked) {
		return ""
	}
	start := max(0, column-excerptWidth*3/4) // first character of the window that shows the column
	var b strings.Builder
	if line > 1 && strings.TrimSpace(s.Masked[line-2]) != "" {
		fmt.Fprintf(&b, "  %4d | %s\n", line-1, excerptWindow(s.Masked[line-2], start))
	}
	fmt.Fprintf(&b, "> %4d | %s\n", line, excerptWindow(s.Masked[line-1], start))
	fmt.Fprintf(&b, "         %s^", strings.Repeat(" ", max(0, column-1-start)))
	return b.String()
}

// excerptWindow returns a part of a line in which every character is one column wide.
func excerptWindow(line string, start int) string {
	runes := []rune(line)
	runes = runes[min(start, len(runes)):]
	runes = runes[:min(excerptWidth, len(runes))]
	for i, r := range runes {
		if r == '\t' {
			runes[i] = ' '
		} else if !unicode.IsPrint(r) {
			runes[i] = utf8.RuneError
		}
	}
	return strings.TrimRight(string(runes), " ")
}

// SecretMask replaces a secret.
const SecretMask = "[secret]"

var (
	keyLine       = regexp.MustCompile(`^(\s*)(["']?)([A-Za-z0-9_-]+)(["']?\s*:)(\s*)(.*)$`)
	onlyReference = regexp.MustCompile(`^["']?\$\{(env|file):[^${}]*\}["']?$`)
	unfilled      = regexp.MustCompile(`^["']?` + FillIn + `["']?(\s+#.*)?$`)
	plainAddress  = regexp.MustCompile(`^["']?https?://[A-Za-z0-9.:/_-]*["']?$`)
	secretWords   = regexp.MustCompile(
		`(?i)(api_?-?key|dsn|pass|pwd|senha|segredo|secret|token|authorization|://[^/\s]*@)`)
)

// shownValues are the keys under api, erp and state whose values are never secret.
var shownValues = []string{
	"timeout", "max_in_flight", "rate_limit", "doubt", "quarantine", "stop_after_unknown",
	"ca_file", "driver", "charset", "time_zone", "statement_timeout",
}

// openSections contain no secrets: their lines are shown, except those that mention one.
var openSections = []string{
	"references", "values", "with", "checks", "approve", "log", "language", "report", "jobs",
}

// maskLines masks secrets. It works on lines, not on YAML, because the file may not be valid YAML.
// In doubt it masks: outside the sections without secrets it shows only the values of keys that are
// known to be harmless.
func maskLines(lines []string) []string {
	out := make([]string, len(lines))
	section := ""
	for i, line := range lines {
		m := keyLine.FindStringSubmatch(line)
		if m != nil && m[1] == "" {
			section = m[3]
		}
		open := slices.Contains(openSections, section)
		trimmed := strings.TrimLeft(line, " \t")
		indent := line[:len(line)-len(trimmed)]
		switch {
		case trimmed == "" || (open && !secretWords.MatchString(line)):
			out[i] = line
		case m == nil:
			out[i] = indent + SecretMask
		case m[6] == "" || onlyReference.MatchString(m[6]):
			out[i] = line
		case m[3] == "base_url" && plainAddress.MatchString(m[6]):
			out[i] = line
		case unfilled.MatchString(m[6]), slices.Contains(shownValues, m[3]) && !secretWords.MatchString(m[6]):
			value, _, comment := strings.Cut(m[6], " #") // a comment may be an old key
			if comment {
				value += " # …"
			}
			out[i] = m[1] + m[2] + m[3] + m[4] + m[5] + value
		default:
			out[i] = m[1] + m[2] + m[3] + m[4] + m[5] + SecretMask
		}
	}
	return out
}
