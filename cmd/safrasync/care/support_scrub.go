package care

import (
	"reflect"
	"regexp"
	"sort"
	"strings"

	"github.com/safrasync/safrasync/internal/config"
)

// scrubber removes from a text what may identify a person or a record, and secrets.
type scrubber struct{ secrets []string }

// newScrubber returns a scrubber that knows the secrets of a configuration, whole and in their
// parts.
func newScrubber(conf *config.Config) *scrubber {
	s := &scrubber{}
	collectSecrets(reflect.ValueOf(conf).Elem(), func(secret config.Secret) {
		value := secret.Reveal()
		for _, part := range append(secretPart.Split(value, -1), value) {
			if len(part) >= 5 && !harmlessPart.MatchString(part) {
				s.secrets = append(s.secrets, part)
			}
		}
	})
	sort.Slice(s.secrets, func(i, j int) bool { return len(s.secrets[i]) > len(s.secrets[j]) })
	return s
}

var (
	secretPart   = regexp.MustCompile(`[:/@?&= ;]+`)
	harmlessPart = regexp.MustCompile(
		`^(postgres|postgresql|mysql|sqlite|firebird|oracle|sqlserver|localhost|sslmode|require|disable|verify-full|verify-ca|state|state\.db|erp\.db|safrasync|password|dbname|connect_timeout|[0-9.]+)$`)
)

// collectSecrets passes every secret of a structure to found.
func collectSecrets(v reflect.Value, found func(config.Secret)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			collectSecrets(v.Elem(), found)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			collectSecrets(v.MapIndex(k), found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collectSecrets(v.Index(i), found)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			if secret, ok := v.Field(i).Interface().(config.Secret); ok {
				found(secret)
				continue
			}
			collectSecrets(v.Field(i), found)
		}
	}
}

// patterns are what a bundle must not contain, each with its placeholder.
var patterns = []struct {
	is    *regexp.Regexp
	stand string
}{
	{regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<uuid>"},
	{regexp.MustCompile(`[\w.+-]+@[\w-]+(\.[\w-]+)+`), "<address>"},
	{regexp.MustCompile(`\b\d{3}\.\d{3}\.\d{3}-\d{2}\b`), "<document>"},
	{regexp.MustCompile(`\b[0-9A-Z]{2}\.[0-9A-Z]{3}\.[0-9A-Z]{3}/[0-9A-Z]{4}-\d{2}\b`), "<document>"},
	{regexp.MustCompile(`\b(\d{11}|\d{14})\b`), "<document>"},
	{regexp.MustCompile(`(?i)\b[A-Z]{2}-\d{7}-[0-9A-F.]{32,39}\b`), "<car>"},
	{regexp.MustCompile(`(?i)\b(bearer|basic|token|apikey|api_key|password|senha)[ =]+[^\s"'$]+`), "<credential>"},
	{regexp.MustCompile(`://[^/\s"'@]+@`), "://<credential>@"},
}

// text returns a text without anything that a bundle must not contain.
func (s *scrubber) text(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "<secret>")
	}
	for _, p := range patterns {
		text = p.is.ReplaceAllString(text, p.stand)
	}
	return text
}

var (
	// An SQL literal may be a name, a document or a code; what it is compared with is kept. A comment
	// may say anything: who wrote it, or a password.
	sqlFree = regexp.MustCompile(`'(?:[^']|'')*'|/\*(?s:.*?)(?:\*/|$)|(?:--|#)[^\n]*`)
	// Whatever names a host, a person or a place is not needed to find a fault.
	ownLine = regexp.MustCompile(
		`(?m)^(\s*(?:dsn|base_url|url|host|user|username|from|to|proxy|journal|endpoint|listen|ca_file|issuer|client_id|hosts|behind|server|name|title):).*$`)
	ownConst = regexp.MustCompile(`(?m)^(\s*(?:const|default):).*$`)
	ownBlock = regexp.MustCompile(`(?m)^values:\n(?:[ \t]+.*\n)*`)
)

// config returns the configuration in effect, without hosts, names, literals, comments, constants
// and value maps.
func (s *scrubber) config(config *config.Config) string {
	text := config.Show()
	text = ownLine.ReplaceAllString(text, "$1 <left out>")
	text = ownConst.ReplaceAllString(text, "$1 <left out>")
	text = ownBlock.ReplaceAllString(text, "values: <left out>\n")
	return sqlFree.ReplaceAllStringFunc(text, func(found string) string {
		if found[0] == '\'' {
			return "'…'"
		}
		return "-- <left out>"
	})
}
