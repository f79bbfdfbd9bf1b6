package main

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/token"
)

// configDecoder fills a [Config] from the tree of the file and collects every fault on the way, so
// that a person sees all of them at once.
type configDecoder struct {
	source  *configSource
	secrets secretResolver
	index   map[string]configEntry
	given   map[string]bool   // paths of the file whose value could be read
	written map[string]string // values that hold ${…}, as they stand in the file
	meant   map[string]bool   // paths whose misspelling was found: they are not told a second time, as missing
	faults  []ConfigFault
}

// configDecodable is a type with a form of its own.
type configDecodable interface {
	decodeConfig(d *configDecoder, e configEntry)
}

func (d *configDecoder) fault(path, text string) {
	d.faults = append(d.faults, faultAt(d.source, d.index, path, text))
}

func (d *configDecoder) faultAt(path string, pos *token.Position, text string) {
	d.faults = append(d.faults, ConfigFault{
		File: d.source.name, Line: pos.Line, Column: pos.Column, Path: path, Text: text,
		Excerpt: d.source.excerpt(pos.Line, pos.Column),
	})
}

// unknown reports a name that is none of those known here.
func (d *configDecoder) unknown(what, path string, e configEntry, known []string) {
	if meant := closest(e.name, known); meant != "" {
		d.meant[joinPath(path, meant)] = true
	}
	d.faultAt(path, e.keyPos, unknownName(what, e.name, known))
}

// faulty tells whether something is wrong at a path or below it, so that checks that build on it
// are left out.
func (d *configDecoder) faulty(path string) bool {
	return slices.ContainsFunc(d.faults, func(f ConfigFault) bool {
		rest, below := strings.CutPrefix(f.Path, path)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

func (d *configDecoder) err() error {
	if len(d.faults) == 0 {
		return nil
	}
	sortFaults(d.faults)
	return &ConfigError{Faults: d.faults}
}

// structure reads a map whose keys are the yaml tags of a struct.
func (d *configDecoder) structure(e configEntry, target any) {
	if !d.wantMap(e) {
		return
	}
	v := reflect.ValueOf(target).Elem()
	keys, fields := configKeys(v.Type())
	for _, child := range e.keys {
		if field, known := fields[child.name]; known {
			d.value(child, v.Field(field).Addr().Interface())
		} else if e.path == "" && child.name == "tracing" {
			d.faultAt(child.name, child.keyPos,
				"was removed: take it out; metrics.listen serves Prometheus, and `run` and `attempt` in the log lead to a request")
		} else {
			d.unknown("key", e.path, child, keys)
		}
	}
}

// configKeys gives the keys of a struct in its order, and the number of the field that each one
// fills.
func configKeys(t reflect.Type) (keys []string, fields map[string]int) {
	fields = map[string]int{}
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" && key != "-" {
			keys = append(keys, key)
			fields[key] = i
		}
	}
	return keys, fields
}

func (d *configDecoder) wantMap(e configEntry) bool {
	if e.isMap() || e.isNothing() {
		return true
	}
	d.faultAt(e.path, e.pos(), "must be a map of keys and values")
	return false
}

func (d *configDecoder) value(e configEntry, target any) {
	switch t := target.(type) {
	case configDecodable:
		t.decodeConfig(d, e)
	case *string:
		if text, ok := d.word(e); ok {
			*t = text
		}
	case **string:
		if text, ok := d.sourceText(e); ok {
			*t = &text
		}
	case *[]string:
		*t = d.texts(e)
	case *time.Duration:
		if text, ok := d.word(e); ok {
			d.keep(e, t, text, parseConfigDuration)
		}
	case *int:
		*t = int(d.integer(e, math.MaxInt32))
	case **int32:
		n := int32(d.integer(e, math.MaxInt32))
		*t = &n
	case *float64:
		*t = d.number(e)
	case **CancelledConfig:
		*t = &CancelledConfig{}
		d.structure(e, *t)
	case **EmailConfig:
		*t = &EmailConfig{Security: "starttls", Timeout: defaultAlertTimeout}
		d.structure(e, *t)
	case **WebhookConfig:
		*t = &WebhookConfig{Form: "slack", Timeout: defaultAlertTimeout}
		d.structure(e, *t)
	case **OIDCConfig:
		*t = defaultOIDC()
		d.structure(e, *t)
	case *map[string]string:
		decodeNamed(d, e, t)
	case **MostConfig:
		*t = &MostConfig{}
		d.structure(e, *t)
	case *map[string]ReferenceConfig:
		decodeNamed(d, e, t)
	case *map[string]ValueMap:
		decodeNamed(d, e, t)
	case *map[string]messageWords:
		decodeNamed(d, e, t)
	case *map[string]FieldConfig:
		decodeNamed(d, e, t)
	default:
		d.structure(e, target)
	}
}

func (d *configDecoder) keep(e configEntry, target *time.Duration, text string,
	parse func(string) (time.Duration, error),
) {
	parsed, err := parse(text)
	if err != nil {
		d.fault(e.path, err.Error())
		return
	}
	*target, d.given[e.path] = parsed, true
}

// decodeNamed reads a map with free names.
func decodeNamed[T any](d *configDecoder, e configEntry, target *map[string]T) {
	*target = map[string]T{}
	if !d.wantMap(e) {
		return
	}
	for _, child := range e.keys {
		var item T
		d.value(child, &item)
		(*target)[child.name] = item
	}
}

// word reads a text that must say something. Where mayHoldReferences says so it may hold references
// to secrets.
func (d *configDecoder) word(e configEntry) (string, bool) {
	text, ok := scalarText(e.value)
	if n := e.value; ok && !isQuoted(n) && slices.Contains([]string{"null", "Null", "NULL", "~"}, text) {
		ok, text = true, ""
	}
	switch {
	case e.isNothing(), ok && strings.TrimSpace(text) == "":
		d.fault(e.path, "is empty; give it a value or delete the line")
		return "", false
	case !ok:
		d.fault(e.path, "must be one value, not a list or a map")
		return "", false
	case strings.Contains(text, fillIn): // also inside a query
		d.fault(e.path, stillToFillIn)
		return "", false
	case !mayHoldReferences(e.path):
		return text, d.withoutReference(e.path, text)
	}
	resolved, err := d.secrets.resolve(text)
	if err != nil {
		d.fault(e.path, err.Error())
		return "", false
	}
	if strings.Contains(text, "${") {
		d.written[e.path] = text
	}
	return resolved, true
}

// withoutReference refuses a reference where none is resolved: it would be sent as it stands.
func (d *configDecoder) withoutReference(path, text string) bool {
	if strings.Contains(text, "${env:") || strings.Contains(text, "${file:") {
		d.fault(path, "${env:…} and ${file:…} are read under api, erp, state, alerts, webhooks and console.oidc only")
		return false
	}
	return true
}

// sourceText reads a text that is data: NO, 001 and null are what is written.
func (d *configDecoder) sourceText(e configEntry) (string, bool) {
	text, ok := scalarText(e.value)
	switch {
	case e.isNothing():
		d.fault(e.path, `has no value; write "" for an empty text`)
		return "", false
	case !ok:
		d.fault(e.path, "must be one value, not a list or a map")
		return "", false
	case text == fillIn:
		d.fault(e.path, stillToFillIn)
		return "", false
	}
	return text, d.withoutReference(e.path, text)
}

// stillToFillIn is the fault of a place that `init` left to a person.
const stillToFillIn = fillIn + " is still to be filled in; safrasync init could not tell what belongs here"

// texts reads a list of texts that are data.
func (d *configDecoder) texts(e configEntry) []string {
	if !e.isList() || len(e.items) == 0 {
		d.fault(e.path, "must be a list with at least one value, as in [a, b]")
		return nil
	}
	var out []string
	for _, item := range e.items {
		if text, ok := d.sourceText(item); ok {
			out = append(out, text)
		}
	}
	return out
}

var (
	wholeNumber   = regexp.MustCompile(`^(0|[1-9][0-9]{0,9})$`)
	decimalNumber = regexp.MustCompile(`^(0|[1-9][0-9]{0,9})(\.[0-9]{1,6})?$`)
)

// integer reads a whole number of plain digits: 010 is eight for some readers and ten for others,
// so it is refused.
func (d *configDecoder) integer(e configEntry, most int64) int64 {
	text, ok := scalarText(e.value)
	if ok && !isQuoted(e.value) && wholeNumber.MatchString(text) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n <= most {
			d.given[e.path] = true
			return n
		}
	}
	d.fault(e.path, "must be a whole number in plain digits, as in 8")
	return 0
}

func (d *configDecoder) number(e configEntry) float64 {
	text, ok := scalarText(e.value)
	if ok && !isQuoted(e.value) && decimalNumber.MatchString(text) {
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			d.given[e.path] = true
			return n
		}
	}
	d.fault(e.path, "must be a number in plain digits, as in 20 or 0.5")
	return 0
}

var (
	durationForm = regexp.MustCompile(`^(?:([0-9]{1,5})d)?((?:[0-9]{1,9}(?:\.[0-9]{1,9})?(?:h|m|s|ms))*)$`)
	longestTime  = 3650 * 24 * time.Hour
)

// parseConfigDuration reads Go's durations and days: 90s, 2h, 1d, 1d12h.
func parseConfigDuration(text string) (time.Duration, error) {
	m := durationForm.FindStringSubmatch(text)
	if m == nil || text == "" {
		return 0, fmt.Errorf("must be a time with its unit, as in 90s, 15m, 2h or 1d")
	}
	var total time.Duration
	if m[1] != "" {
		days, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, fmt.Errorf("must be a time with its unit, as in 90s, 15m, 2h or 1d")
		}
		total = time.Duration(days) * 24 * time.Hour
	}
	if m[2] != "" {
		rest, err := time.ParseDuration(m[2])
		if err != nil || rest > longestTime {
			return 0, fmt.Errorf("is longer than 3650 days")
		}
		total += rest
	}
	if total > longestTime {
		return 0, fmt.Errorf("is longer than 3650 days")
	}
	return total, nil
}

func mayHoldReferences(path string) bool {
	section, _, _ := strings.Cut(path, ".")
	return section == "api" || section == "erp" || section == "state" || section == "alerts" || section == "webhooks" ||
		strings.HasPrefix(path, "console.oidc.")
}

// fillIn stands in a proposed configuration where only a person can know. Loading refuses it.
const fillIn = "PREENCHER"
