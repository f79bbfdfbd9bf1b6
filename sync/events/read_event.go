// Ids, times and statuses in the body of an event, whose structure is not documented.

package events

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The structure of events is not documented (chapter 6). So only what any structure may contain is
// read: ids, a time, a status. None of it is trusted: it only shows where to look.

// eventIDsMost is the largest number of ids that are read from one event.
const eventIDsMost = 200

var uuidInText = regexp.MustCompile(
	`(?i)(?:^|[^0-9a-z-])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:$|[^0-9a-z-])`)

// idsIn returns the UUIDs in a body, in lower case, without duplicates, in their order. The body
// may be anything.
func idsIn(body []byte) []string {
	var out []string
	seen := map[string]bool{}
	add := func(text []byte) {
		for len(text) > 0 && len(out) < eventIDsMost {
			at := uuidInText.FindSubmatchIndex(text)
			if at == nil {
				return
			}
			id := strings.ToLower(string(text[at[2]:at[3]]))
			if !seen[id] && strings.Trim(id, "0-") != "" {
				seen[id] = true
				out = append(out, id)
			}
			text = text[at[3]:] // the character after an id may be the one before the next id
		}
	}
	add(body)
	if bytes.Contains(body, []byte(`\u`)) { // an id may be written with escapes
		eachText(body, func(_ string, value string) { add([]byte(value)) })
	}
	return out
}

// eachText calls fn for every string and number of a JSON document, with the name of its field, as
// far as the document can be parsed.
func eachText(body []byte, fn func(name, value string)) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	type level struct {
		object bool
		name   string // of the value that comes next
		named  bool
	}
	var open []level
	for {
		token, err := dec.Token()
		if err != nil {
			return
		}
		if d, ok := token.(json.Delim); ok {
			if d == '{' || d == '[' {
				name := ""
				if n := len(open); n > 0 {
					name = open[n-1].name
					open[n-1].named = false
				}
				open = append(open, level{object: d == '{', name: name})
				continue
			}
			open = open[:len(open)-1]
			continue
		}
		name := ""
		if n := len(open); n > 0 {
			top := &open[n-1]
			if text, isText := token.(string); top.object && !top.named && isText {
				top.name, top.named = text, true
				continue
			}
			name, top.named = top.name, false
		}
		switch v := token.(type) {
		case string:
			fn(name, v)
		case json.Number:
			fn(name, v.String())
		}
	}
}

// plainName returns a field name without case and separators: createdAt, created_at and CREATED-AT
// are equal.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == '_' || r == '-' || r == ' ' || r == '.':
			return -1
		}
		return r
	}, name)
}

// typedNames are possible names of a field with the creation time of a record.
var typedNames = []string{
	"createdat", "createdate", "createddate", "creationdate", "createdon", "creationtime",
	"created", "datecreated", "insertedat", "creationtimestamp",
}

// between is the earliest and the latest time at which something may have happened; zero if
// unknown.
type between struct{ From, to time.Time }

// typedAt returns when a record was created, if a document contains that: the earliest and the
// latest time that it may mean.
func typedAt(doc []byte, zone *time.Location) (out between) {
	eachText(doc, func(name, value string) {
		if !slices.Contains(typedNames, plainName(name)) {
			return
		}
		got, ok := readTime(value, zone)
		switch {
		case !ok:
		case out.From.IsZero():
			out = got
		default: // several, for records within the record: it may be any of them
			if got.From.Before(out.From) {
				out.From = got.From
			}
			if got.to.After(out.to) {
				out.to = got.to
			}
		}
	})
	return out
}

// readTime parses a time in the forms that servers use. Without a zone it may be in UTC or in the
// cooperative's zone; a date may be any moment of the day.
func readTime(text string, zone *time.Location) (between, bool) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700",
		"2006-01-02 15:04:05.999999999Z07:00",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return between{t.UTC(), t.UTC()}, true
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02"} {
		utc, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		local, err := time.ParseInLocation(layout, text, zone)
		if err != nil {
			continue
		}
		out := between{utc, local.UTC()}
		if out.to.Before(out.From) {
			out.From, out.to = out.to, out.From
		}
		if layout == "2006-01-02" {
			out.to = out.to.Add(24 * time.Hour)
		}
		return out, true
	}
	if n := json.Number(text); len(text) == 10 || len(text) == 13 { // since 1970, in seconds or milliseconds
		if v, err := n.Int64(); err == nil && v > 0 {
			if len(text) == 10 {
				v *= 1000
			}
			t := time.UnixMilli(v).UTC()
			return between{t, t}, true
		}
	}
	return between{}, false
}

// wordNames are possible names of a field with a status, the most specific first.
var wordNames = []string{
	"newstatus", "currentstatus", "esgstatus", "statusesg", "workflowstatus", "statusworkflow",
	"status", "newstate", "state", "situation", "situacao",
}

// codeForm is the form of a status: a code, not a sentence with personal data. Its length is
// checked separately: as a part of the expression it would take a megabyte.
var codeForm = regexp.MustCompile(`^[\pL][\pL\pN _/-]*$`)

const codeMost = 40 // characters

func isCode(text string) bool {
	return utf8.RuneCountInString(text) <= codeMost && codeForm.MatchString(text)
}

// wordIn returns the status in an event; "" if there is none with the form of a code.
func wordIn(body []byte) string {
	best, at := "", len(wordNames)
	eachText(body, func(name, value string) {
		if i := slices.Index(wordNames, plainName(name)); i >= 0 && i < at && isCode(value) {
			best, at = value, i
		}
	})
	return best
}
