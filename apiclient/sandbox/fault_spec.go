package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// action is one word that may begin a fault.
type action struct {
	// set sets the fields of the fault; value is the text after "=".
	set func(f *Disturbance, value string) error
	// value states whether "=" must ("required"), may ("optional") or must not ("") follow.
	value string
	// options are the words that may follow. slow= may always follow, and late= if the fault
	// executes.
	options []string
	// posts: acts on creating POSTs only. writes: acts on creating POSTs, PUTs and DELETEs only.
	posts, writes bool
}

const (
	required = "required"
	optional = "optional"
)

// actions is the vocabulary of the package comment.
var actions = map[string]action{
	"lost-before": {set: does(Lose), options: []string{"reset"}},
	"lost-after": {
		set:     func(f *Disturbance, _ string) error { f.Do, f.Commit = Lose, true; return nil },
		options: []string{"reset"}, writes: true,
	},
	"hang":        {set: does(Hang), options: []string{"commit"}},
	"status":      {set: setStatus, value: required, options: []string{"commit", "empty", "type", "body"}},
	"module":      {set: replies(messages(http.StatusForbidden, keyModule))},
	"throttle":    {set: setRetryAfter(http.StatusTooManyRequests), value: required},
	"unavailable": {set: setRetryAfter(http.StatusServiceUnavailable), value: required, options: []string{"commit"}},
	"refused":     {set: replies(messages(http.StatusBadGateway, keyRefused)), options: []string{"commit"}},
	"malformed":   {set: replies(messages(http.StatusBadRequest, keyMalformed)), writes: true},
	"duplicate":   {set: replies(messages(http.StatusBadRequest, keyDuplicate)), writes: true},
	"html":        {set: replies(loginPage()), options: []string{"commit", "status"}},
	"redirect":    {set: setRedirect, value: optional, options: []string{"commit", "status"}},
	"garbage":     {set: does(Garbage), options: []string{"commit", "reset"}},
	"noid":        {set: commits(jsonText(http.StatusCreated, "{}")), posts: true},
	"cut":         {set: does(Cut), options: []string{"reset"}},
	"garbled":     {set: does(Garble)},
	"again":       {set: does(Again), posts: true},
	"twice":       {set: does(Twice), posts: true},
	"slow":        {set: setSlow, value: required, options: []string{"late"}},
	"late":        {set: setLate, value: required, writes: true},
	// takes the rest of the line; to combine it with options, use status=201,commit,…,body=
	"body": {set: setCreatedBody, value: required, posts: true},
}

var options = map[string]action{
	"commit": {set: func(f *Disturbance, _ string) error { f.Commit = true; return nil }, writes: true},
	"empty":  {set: func(f *Disturbance, _ string) error { f.Body, f.Header = "", nil; return nil }},
	"reset":  {set: func(f *Disturbance, _ string) error { f.Reset = true; return nil }},
	"status": {set: setOtherStatus, value: required},
	"type":   {set: setType, value: required},
	"slow":   {set: setSlow, value: required},
	"late":   {set: setLate, value: required, writes: true},
	"body":   {set: setBody, value: required},
}

// ParseFaults parses several faults, in order of precedence.
func ParseFaults(specs []string) ([]Disturbance, error) {
	out := make([]Disturbance, len(specs))
	for i, spec := range specs {
		var err error
		out[i], err = ParseFault(spec)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ParseFault parses one fault, as described in the package comment:
//
//	[get:|change:|any:] [RESOURCE:] ACTION {,OPTION} [@RANGE] [%PERCENT] [,body=TEXT]
//
// It is strict: unknown words, words that cannot be combined, empty words and blanks are errors,
// which state what is allowed.
func ParseFault(spec string) (Disturbance, error) {
	f := Disturbance{spec: spec}
	if err := f.parse(spec); err != nil {
		return Disturbance{}, phrase.Errorf("fault %q: %w", spec, err)
	}
	return f, nil
}

func (f *Disturbance) parse(spec string) error {
	rest := spec
	if word, behind, ok := strings.Cut(rest, ":"); ok {
		f.Gets, f.Changes, f.Any = word == classGet, word == classChange, word == classAny
		if f.Gets || f.Changes || f.Any {
			rest = behind
		}
	}
	if word, behind, ok := strings.Cut(rest, ":"); ok && slices.Contains(scopeResources, word) {
		f.Resource, rest = word, behind
	}
	words, selectors, body := splitSpec(rest)
	if strings.ContainsAny(strings.Join(words, ",")+selectors, " \t\r\n") {
		return errors.New("blanks are allowed in body= only")
	}
	for text := selectors; text != ""; {
		sign := text[0]
		end := strings.IndexAny(text[1:], "@%") + 1
		if end == 0 {
			end = len(text)
		}
		value := text[1:end]
		text = text[end:]
		var err error
		switch {
		case sign == '@' && f.First == 0:
			err = f.setRange(value)
		case sign == '%' && f.Percent == 0:
			f.Percent, err = strconv.ParseFloat(value, 64)
			if err != nil || !(f.Percent > 0 && f.Percent <= 100) || strings.ContainsAny(value, "xXpPeEnN_+") {
				err = phrase.Errorf("%%%s: want a number above 0 to 100, as in %%10 for one in ten", value)
			}
		default:
			err = phrase.Errorf("%q stands twice", string(sign))
		}
		if err != nil {
			return err
		}
	}
	if body != "" {
		words = append(words, body)
	}
	first, err := f.setWord(words[0], actions, "action")
	if err != nil {
		return err
	}
	seen := map[string]bool{first: true}
	for _, word := range words[1:] {
		name, _, _ := strings.Cut(word, "=")
		if seen[name] {
			return phrase.Errorf("%q stands twice", name)
		}
		seen[name] = true
		allowed := append(slices.Clone(actions[first].options), "slow")
		if f.executes() || slices.Contains(allowed, "commit") {
			allowed = append(allowed, "late")
		}
		if !slices.Contains(allowed, name) {
			slices.Sort(allowed)
			return phrase.Errorf("%q cannot follow %q; allowed are %s", name, first, strings.Join(slices.Compact(allowed), ", "))
		}
		if _, err := f.setWord(word, options, "option"); err != nil {
			return err
		}
	}
	if f.Late > 0 && !f.executes() {
		return errors.New("late= delays an execution; add commit")
	}
	if seen["empty"] && (seen["body"] || seen["type"]) {
		return errors.New("empty does not go with body= or type=")
	}
	if f.Do == Reply && f.Body != "" && (f.Status == http.StatusNoContent || f.Status == http.StatusNotModified) {
		return phrase.Errorf("status %d has no body in HTTP", f.Status)
	}
	return nil
}

// scopeResources are the resources to which a fault can be restricted.
var scopeResources = []string{
	ResourceOrderCommitments, ResourceDeliveries, ResourceTraceability, ResourceCreditScore, ResourceCreditAnalysis,
	ResourceWebhooks,
	ResourceConsent, ResourceProducers, ResourceOwnerDetails,
}

// splitSpec splits off first the body, because its text may contain any character, then the
// selectors.
func splitSpec(spec string) (words []string, selectors, body string) {
	head := spec
	if strings.HasPrefix(spec, "body=") {
		return nil, "", spec
	}
	if i := strings.Index(spec, ",body="); i >= 0 {
		head, body = spec[:i], spec[i+1:]
	}
	if i := strings.IndexAny(head, "@%"); i >= 0 {
		head, selectors = head[:i], head[i:]
	}
	return strings.Split(head, ","), selectors, body
}

// setWord looks a word up and applies it; it returns the word's name.
func (f *Disturbance) setWord(word string, vocabulary map[string]action, what string) (string, error) {
	name, value, given := strings.Cut(word, "=")
	a, ok := vocabulary[name]
	if !ok {
		return "", phrase.Errorf("%q is no %w; known are %s", name, phrase.Fixed(what),
			strings.Join(slices.Sorted(maps.Keys(vocabulary)), ", "))
	}
	switch {
	case a.value == "" && given:
		return "", phrase.Errorf("%q takes no value", name)
	case a.value == required && !given, given && value == "" && name != "body":
		return "", phrase.Errorf("%q needs a value, as in %s", name, examples[name])
	case a.posts && (f.Gets || f.Changes || f.Any):
		return "", phrase.Errorf("%q acts on creating POSTs, so it cannot stand behind get:, change: or any: on this line",
			name)
	case a.writes && (f.Gets || f.Any):
		return "", phrase.Errorf("%q acts on what changes something, so it cannot stand behind get: or any: on this line",
			name)
	}
	if err := a.set(f, value); err != nil {
		return "", phrase.Errorf("%s: %w", name, err)
	}
	return name, nil
}

func (f *Disturbance) setRange(value string) error {
	want := phrase.New("want @N, @N- or @N-M with numbers from 1 (and any option before it, body= behind it)")
	from, to, open := strings.Cut(value, "-")
	first, err := parseNumber(from)
	if err != nil {
		return phrase.Errorf("@%s: %w", value, want)
	}
	f.First, f.Last = first, first
	switch {
	case open && to == "":
		f.Last = 0
	case open:
		last, err := parseNumber(to)
		if err != nil || last < first {
			return phrase.Errorf("@%s: %w", value, want)
		}
		f.Last = last
	}
	return nil
}

func parseNumber(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, errors.New("want a whole number from 1")
	}
	return int(n), nil
}

func does(a Action) func(*Disturbance, string) error {
	return func(f *Disturbance, _ string) error {
		f.Do = a
		return nil
	}
}

func replies(a *answer) func(*Disturbance, string) error {
	return func(f *Disturbance, _ string) error {
		f.Do, f.Status, f.Header, f.Body = Reply, a.status, a.header.Clone(), string(a.body)
		return nil
	}
}

func commits(a *answer) func(*Disturbance, string) error {
	return func(f *Disturbance, value string) error {
		f.Commit = true
		return replies(a)(f, value)
	}
}

func parseStatus(value string) (int, error) {
	n, err := parseNumber(value)
	if err != nil || n < 200 || n > 999 {
		return 0, errors.New("want a status from 200 to 999")
	}
	return n, nil
}

func setStatus(f *Disturbance, value string) error {
	status, err := parseStatus(value)
	if err != nil {
		return err
	}
	return replies(statusBody(status))(f, "")
}

func setOtherStatus(f *Disturbance, value string) (err error) {
	f.Status, err = parseStatus(value)
	return err
}

func setRetryAfter(status int) func(*Disturbance, string) error {
	return func(f *Disturbance, value string) error {
		d, err := parseDelay(value)
		if err != nil || d%time.Second != 0 {
			return errors.New("want whole seconds, as in throttle=2s: the header Retry-After has no fractions")
		}
		a := statusBody(status)
		a.header.Set("Retry-After", strconv.FormatInt(int64(d/time.Second), 10))
		return replies(a)(f, "")
	}
}

func setRedirect(f *Disturbance, value string) error {
	target := "/login"
	if value != "" {
		u, err := url.Parse(value)
		if err != nil || !u.IsAbs() && !strings.HasPrefix(value, "/") {
			return errors.New("want an absolute URL or a path that begins with /")
		}
		target = value
	}
	a := &answer{status: http.StatusTemporaryRedirect, header: http.Header{}}
	a.header.Set("Location", target)
	return replies(a)(f, "")
}

func parseDelay(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return 0, errors.New("want a duration above 0, as in 500ms or 2s")
	}
	return d, nil
}

func setSlow(f *Disturbance, value string) (err error) {
	f.Slow, err = parseDelay(value)
	return err
}

func setLate(f *Disturbance, value string) (err error) {
	f.Late, err = parseDelay(value)
	return err
}

func setType(f *Disturbance, value string) error {
	if f.Header == nil {
		f.Header = http.Header{}
	}
	f.Header.Set("Content-Type", value)
	return nil
}

func setBody(f *Disturbance, value string) error {
	f.Body = value
	if f.Header.Get("Content-Type") != "" {
		return nil
	}
	return setType(f, contentTypeOf(value))
}

func setCreatedBody(f *Disturbance, value string) error {
	return commits(newAnswer(http.StatusCreated, contentTypeOf(value), value))(f, "")
}

func contentTypeOf(body string) string {
	if json.Valid(bytes.TrimSpace([]byte(body))) {
		return "application/json"
	}
	return "text/plain; charset=utf-8"
}

// examples holds an example for each word that needs a value, for error texts.
var examples = map[string]string{
	"status": "status=503", "throttle": "throttle=2s", "unavailable": "unavailable=2s",
	"redirect": "redirect=http://127.0.0.1:9999/",
	"slow":     "slow=500ms", "late": "late=500ms", "body": `body={"id":5}`, "type": "type=text/html",
}
