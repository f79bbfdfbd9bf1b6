package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// Show returns the configuration in effect, including defaults, as a file that Load accepts.
// Secrets appear as their references, never as values.
func (c *Config) Show() string {
	w := &configWriter{written: c.written}
	w.structure(reflect.ValueOf(c).Elem(), "", "")
	return w.b.String()
}

// configWriter writes YAML in its plainest form: it quotes every text that could be taken for
// something else.
type configWriter struct {
	b       strings.Builder
	written map[string]string
}

func (w *configWriter) structure(v reflect.Value, path, indent string) {
	keys, fields := configKeys(v.Type())
	for _, key := range keys {
		if field := v.Field(fields[key]); !isAbsent(field) {
			w.value(key, field, joinPath(path, key), indent)
		}
	}
}

// isAbsent reports whether a setting is optional and missing. A zero number is a setting.
func isAbsent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Map, reflect.Slice:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil()
	case reflect.Struct:
		return v.IsZero()
	}
	return false
}

func (w *configWriter) value(key string, v reflect.Value, path, indent string) {
	head := indent + YAMLText(key) + ":"
	line := func(text string) { w.b.WriteString(head + " " + text + "\n") }
	if written, ok := w.written[path]; ok {
		line(YAMLText(written))
		return
	}
	switch t := v.Interface().(type) {
	case Secret:
		line(YAMLText(t.shown()))
	case string:
		w.text(head, t, indent)
	case *string:
		line(YAMLText(*t))
	case *int32:
		line(fmt.Sprint(*t))
	case int:
		line(fmt.Sprint(t))
	case float64:
		line(strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.6f", t), "0"), "."))
	case time.Duration:
		line(shortDuration(t))
	case ExactNumber:
		line(t.Decimal.String())
	case []string:
		line(YAMLList(t))
	case SpansConfig:
		line(YAMLList(t))
	case Columns:
		if len(t) == 1 {
			line(YAMLText(t[0]))
			return
		}
		line(YAMLList(t))
	case Parts:
		if len(t) == 1 {
			line(YAMLText(t[0]))
			return
		}
		line(t.list())
	case ShowsConfig:
		items := trade.Map(t, func(s mapping.ShowSpec) string {
			return YAMLText(s.Label) + ": " + YAMLText(s.Column)
		})
		line("{" + strings.Join(items, ", ") + "}")
	case Parents:
		if len(t) == 1 && len(t[0].Column) == 0 {
			line(YAMLText(t[0].Job))
			return
		}
		line(yamlList(t, func(p ParentConfig) string {
			if len(p.Column) == 0 {
				return YAMLText(p.Job)
			}
			return fmt.Sprintf("{job: %s, column: %s}", YAMLText(p.Job), p.Column.list())
		}))
	case TokensConfig:
		line(yamlList(t, func(token TokenConfig) string {
			return fmt.Sprintf("{name: %s, token: %s, scopes: [%s]}", YAMLText(token.Name),
				YAMLText(token.Token.shown()), strings.Join(token.Scopes, ", "))
		}))
	case FieldValues:
		if t.Name != "" {
			line(YAMLText(t.Name))
			return
		}
		w.value(key, reflect.ValueOf(t.Inline), path, indent)
	case SnippetsConfig:
		w.b.WriteString(head + "\n")
		for _, s := range t {
			w.text("  "+YAMLText(s.Name)+":", s.SQL, "  ")
		}
	case JobsConfig:
		w.b.WriteString(head + "\n")
		for _, job := range t {
			w.value(job.Name, reflect.ValueOf(job), joinPath(path, job.Name), indent+"  ")
		}
	default:
		w.b.WriteString(head + "\n")
		w.nested(v, path, indent+"  ")
	}
}

func (w *configWriter) nested(v reflect.Value, path, indent string) {
	switch v.Kind() {
	case reflect.Pointer:
		w.nested(v.Elem(), path, indent)
	case reflect.Map:
		var order []string
		if _, isFields := v.Interface().(map[string]FieldConfig); isFields {
			for _, kind := range trade.Kinds {
				for _, rule := range trade.Rules(kind) {
					order = append(order, rule.Field)
				}
			}
		}
		keys := trade.Map(v.MapKeys(), reflect.Value.String)
		slices.SortFunc(keys, func(a, b string) int {
			if ia, ib := slices.Index(order, a), slices.Index(order, b); ia != ib {
				return ia - ib
			}
			return strings.Compare(a, b)
		})
		for _, key := range keys {
			w.value(key, v.MapIndex(reflect.ValueOf(key)), joinPath(path, key), indent)
		}
	default:
		w.structure(v, path, indent)
	}
}

// text writes a query of several lines as a block, which stays readable, and everything else on one
// line.
func (w *configWriter) text(head, text, indent string) {
	if !blockText.MatchString(text) {
		w.b.WriteString(head + " " + YAMLText(text) + "\n")
		return
	}
	w.b.WriteString(head + " |\n")
	for line := range strings.Lines(text) {
		w.b.WriteString(indent + "  " + line)
	}
}

// list returns the columns and constant parts as a list.
func (p Parts) list() string {
	return yamlList(p, func(part string) string {
		if text, constant := mapping.ConstOf(part); constant {
			return "{const: " + YAMLText(text) + "}"
		}
		return YAMLText(part)
	})
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/.-]*$`)
	yamlWords = regexp.MustCompile(`(?i)^(null|true|false|yes|no|on|off|y|n)$`)
	// lines of plain characters, without blanks at the end
	blockText = regexp.MustCompile(`^([!-~\p{L}]([ -~\p{L}]*[!-~\p{L}])?\n)([ -~\p{L}]*[!-~\p{L}]\n)+$`)
)

// YAMLText formats a text so that no YAML reader takes it for a number, a bool or null.
func YAMLText(text string) string {
	if plainText.MatchString(text) && !yamlWords.MatchString(text) {
		return text
	}
	return JSONText(text) // a JSON string is a YAML string
}

// YAMLList formats texts as a list on one line.
func YAMLList(items []string) string { return yamlList(items, YAMLText) }

func yamlList[T any](items []T, of func(T) string) string {
	return "[" + strings.Join(trade.Map(items, of), ", ") + "]"
}

// shortDuration formats 15m and 2h, where Go has 15m0s and 2h0m0s.
func shortDuration(t time.Duration) string {
	if t >= 30*day && t%day == 0 {
		return fmt.Sprint(int(t/day), "d")
	}
	text := t.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// SortedKeys returns the keys of a map, sorted.
func SortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// YAMLQuoted formats a text in quotes. Characters that ReadSource refuses are escaped.
func YAMLQuoted(text string) string {
	var b strings.Builder
	for _, r := range JSONText(text) {
		if unicode.IsControl(r) || r == '\uFEFF' || r == '\u2028' || r == '\u2029' {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// JSONText formats a text as JSON, without the escapes that only HTML needs.
func JSONText(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// ShowsConfig lists the columns that people see before the key of a row, in file order.
type ShowsConfig []mapping.ShowSpec

// Decode reads a map from labels to columns, in its order.
func (s *ShowsConfig) Decode(d *Decoder, e Entry) {
	if !e.IsMap() || len(e.Keys) == 0 {
		d.Fault(e.Path, "must be a map from labels to columns of the query, as in {contrato: num, produtor: nome}")
		return
	}
	for _, child := range e.Keys {
		if strings.ContainsFunc(child.Name, trade.Unseen) || strings.TrimSpace(child.Name) == "" {
			d.faultAt(e.Path, child.keyPos, "a label has only characters that people see")
		}
		if column, ok := d.word(child); ok {
			*s = append(*s, mapping.ShowSpec{Label: child.Name, Column: column})
		}
	}
}

// maxTitle is the longest title of a job, in characters.
const maxTitle = 60

// Titles returns the titles that people see instead of the names of jobs.
func (c *Config) Titles(lang trade.Lang) trade.Titles {
	return trade.TitlesOf(trade.Map(c.Jobs, func(j JobConfig) trade.TitledJob {
		return trade.TitledJob{Job: j.Name, Sends: trade.Kind(j.Sends), Title: j.Title}
	}), lang)
}

// Shows reports whether people see columns of the rows of a job; "" means of any job.
func (c *Config) Shows(job string) bool {
	return slices.ContainsFunc(c.Jobs, func(j JobConfig) bool {
		return (job == "" || j.Name == job) && len(j.Show) > 0
	})
}
