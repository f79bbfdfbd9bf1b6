package config

import (
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/sync/clock"
	"github.com/safrasync/safrasync/trade"
)

// SpansConfig is a list of spans of hours of the week; in the file one text, or a list.
type SpansConfig []string

// MostConfig is the most that one run of a job may send without a person's release. A value that is
// not given is not limited.
type MostConfig struct {
	Rows   int         `yaml:"rows"`
	Volume string      `yaml:"volume"` // amount and unit: 12000 TON
	Value  WorthConfig `yaml:"value"`  // amount times price, by currency
}

// WorthConfig holds sums of money by currency, as decimal text.
type WorthConfig map[string]string

// Decode reads one span or a list of them.
func (s *SpansConfig) Decode(d *Decoder, e Entry) {
	if e.IsList() {
		*s = d.texts(e)
	} else if text, ok := d.word(e); ok {
		*s = SpansConfig{text}
	}
}

// Decode reads a map from currencies to sums.
func (w *WorthConfig) Decode(d *Decoder, e Entry) {
	if !e.IsMap() || len(e.Keys) == 0 {
		d.Fault(e.Path, "must be a map from currencies to sums, as in {BRL: 5000000}")
		return
	}
	*w = WorthConfig{}
	for _, child := range e.Keys {
		if text, ok := d.word(child); ok {
			(*w)[child.Name] = text
		}
	}
}

// checkLimits checks the hours of a job, and what one run of it may send.
func (c *Config) checkLimits(d *Decoder, job JobConfig, path string) {
	if _, err := clock.ParseHours(job.Hours); err != nil && !d.faulty(path+".hours") {
		d.Fault(path+".hours", "%w", err)
	}
	between(d, path+".canary", job.Canary, 0, 1000)
	if job.Most == nil || d.faulty(path+".most") {
		return
	}
	at := path + ".most"
	if job.Most.Rows == 0 && job.Most.Volume == "" && len(job.Most.Value) == 0 {
		d.Fault(at, "limits nothing; give it rows, a volume or a value, or delete it")
	}
	between(d, at+".rows", job.Most.Rows, 0, 10_000_000)
	if _, err := weightOf(job.Most.Volume); err != nil {
		d.Fault(at+".volume", "%w", err)
	}
	if len(job.Most.Value) > 0 && trade.Kind(job.Sends) != trade.OrderCommitments && job.Sends != "" {
		d.Fault(at+".value", "only order_commitments have a price; limit the volume")
	}
	for _, currency := range SortedKeys(job.Most.Value) {
		if _, err := worthOf(currency, job.Most.Value[currency]); err != nil {
			d.Fault(at+".value."+currency, "%w", err)
		}
	}
}

// weightOf parses a text such as "12000 TON" and returns kilograms; zero for an empty text.
func weightOf(text string) (trade.Decimal, error) {
	if text == "" {
		return trade.Decimal{}, nil
	}
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	amount, err := trade.ParseDecimal(number)
	kg, known := trade.Quantity{Amount: amount, Unit: trade.Unit(strings.ToUpper(strings.TrimSpace(unit)))}.Kilograms()
	if err != nil || !known || kg.Sign() <= 0 {
		return kg,
			phrase.Errorf(
				"%q is no volume: write an amount above zero and its unit, as in 12000 TON, 200000 SC or 500000 KG",
				text)
	}
	return kg, nil
}

func worthOf(currency, text string) (trade.Decimal, error) {
	var known []string
	for _, rule := range trade.Rules(trade.OrderCommitments) {
		if rule.Field == "currency" {
			known = rule.Values
		}
	}
	if !slices.Contains(known, currency) {
		return trade.Decimal{}, UnknownName("unknown currency %s", currency, known)
	}
	sum, err := trade.ParseDecimal(text)
	if err != nil || sum.Sign() <= 0 {
		return sum, phrase.Errorf("must be a sum above zero in plain digits, as in 5000000 or 750000.50")
	}
	return sum, nil
}

// freight returns what one run may send, in the engine's form; nil without a limit. The values have
// been checked before.
func (m *MostConfig) freight() *trade.Freight {
	if m == nil {
		return nil
	}
	f := &trade.Freight{Load: trade.Load{Rows: m.Rows}}
	f.Kilograms, _ = weightOf(m.Volume)
	for currency, text := range m.Value {
		if f.Value == nil {
			f.Value = map[string]trade.Decimal{}
		}
		f.Value[currency], _ = worthOf(currency, text)
	}
	return f
}
