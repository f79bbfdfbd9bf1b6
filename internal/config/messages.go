package config

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// messagesFile is the file with the customer's own texts for what goes wrong. The yaml tags are its
// grammar; docs/examples/messages.yaml is an example.
type messagesFile struct {
	Messages map[string]messageWords `yaml:"messages"` // required
}

// messageWords are the texts for one key.
type messageWords struct {
	Who string      `yaml:"who"` // who fixes it; "" = the program's own
	PT  messageText `yaml:"pt-BR"`
	EN  messageText `yaml:"en"`
}

// messageText is the text in one language. An empty part keeps the program's own text.
type messageText struct {
	What  string `yaml:"what"`
	Where string `yaml:"where"`
	Do    string `yaml:"do"`
}

// apiMessageKey matches the platform's message keys.
var apiMessageKey = regexp.MustCompile(`^message(\.[A-Za-z0-9_-]+)+$`)

// checkMessages reads the file that `messages:` names. Its faults carry that file's name and lines.
func (c *Config) checkMessages(d *Decoder) {
	if c.Messages == "" || d.faulty("messages") {
		return
	}
	c.Messages = c.beside(c.Messages)
	catalogue, err := loadMessages(c.Messages)
	var faults *Error
	if errors.As(err, &faults) {
		d.faults = append(d.faults, faults.Faults...)
	}
	c.catalogue = catalogue
}

// loadMessages reads a file of texts as strictly as the configuration. The error is a *[Error].
func loadMessages(path string) (*trade.Catalogue, error) {
	source, err := ReadSource(path)
	if err != nil {
		return nil, err
	}
	source.Masked = source.Lines // texts are not secret
	root, err := source.Parse()
	if err != nil {
		return nil, err
	}
	d := NewDecoder(source)
	var file messagesFile
	d.Structure(d.Walk(root), &file)
	d.Require("", map[string]bool{"messages": len(file.Messages) == 0})
	known := (*trade.Catalogue)(nil).Keys()
	own := map[string]trade.OwnWords{}
	for key, words := range file.Messages {
		path := joinPath("messages", key)
		if why := strangeMessageKey(key, known); why != nil {
			d.Fault(path, "%w", why)
		}
		if words == (messageWords{}) {
			d.Fault(path, "says nothing; give it who, pt-BR or en")
		}
		if words.Who != "" {
			d.OneOf(joinPath(path, "who"), words.Who, fixerNames()...)
		}
		own[key] = trade.OwnWords{
			Fixer: trade.Fixer(words.Who),
			Words: map[trade.Lang]trade.Advice{trade.Portuguese: words.PT.advice(), trade.English: words.EN.advice()},
		}
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	return trade.NewCatalogue(own), nil
}

func (t messageText) advice() trade.Advice {
	return trade.Advice{What: t.What, Where: t.Where, Do: t.Do}
}

func fixerNames() []string {
	var names []string
	for _, f := range trade.Fixers {
		names = append(names, string(f))
	}
	return names
}

// strangeMessageKey returns what is wrong with a key; nil if a text for it could ever be shown.
func strangeMessageKey(key string, known []string) *phrase.Text {
	if strings.Contains(key, "*") || key == "rule" || key == "ref" {
		return phrase.New("must name one key, as in message.wallet.not-found, rule:payday or ref:wallets")
	}
	if slices.Contains(known, key) || apiMessageKey.MatchString(key) {
		return nil
	}
	if field, ok := strings.CutPrefix(key, "rule:"); ok {
		var fields []string
		for _, kind := range trade.Kinds {
			for _, rule := range trade.Rules(kind) {
				fields = append(fields, rule.Field)
			}
		}
		if slices.Contains(fields, field) {
			return nil
		}
		return UnknownName("unknown field %s", field, fields)
	}
	if kind, ok := strings.CutPrefix(key, "ref:"); ok {
		kinds := []string{"producers", "users", "wallets", "delivery_places", "farms"}
		if slices.Contains(kinds, kind) {
			return nil
		}
		return UnknownName("unknown de-para kind %s", kind, kinds)
	}
	return phrase.New("is not a key that is ever shown: a message key of the platform (message.…), rule:FIELD, ref:KIND, stop:CODE, a cause, a state or a flag")
}
