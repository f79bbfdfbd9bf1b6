package setup

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// fieldTokens are abbreviations in names such as DATNEG and VLRUNI, by field. They make a column a
// candidate, and never more.
var fieldTokens = map[string]string{
	"amount": "qtd qte qde qt vol pes kg", "delivered_volume": "qtd qte qt vol pes liq kg",
	"allocated_volume": "qtd qt vol pes rat alo", "producer_id": "prod prd ass coo par for cli ent cpf cgc doc",
	"issuer_id": "usu usr ven com ori emi ope", "user_id": "usu usr res ope", "product": "pro prd mer itm gra cul",
	"delivery_place_id": "loc arm sil uni dep", "haverst": "saf ano", "unit_of_measurement": "uni und um un med",
	"order_type": "tip tp ope neg", "order_date": "dat dta dt emi neg ctr con fec", "wallet_id": "car crt",
	"currency": "moe ind", "price": "vlr val vl prc pre", "initial_delivery_date": "dat dta dt ini ent",
	"end_delivery_date": "dat dta dt fim fin ent", "modality": "mod", "payday": "dat dta dt pag pgt ven vct",
	"payment_type": "for frm pag pgt con", "delivered_volume_unit_of_measure": "uni und um un med",
	"delivery_date": "dat dta dt ent pes rom tic emi", "contract_id": "ctr con", "order_commitment_id": "ctr con",
	"car": "car", "key": "num nro nr fil emp est seq",
	"farm_id": "faz imo prp pro",
}

// The least evidence of a candidate, and the least of a column that has the whole name of a field.
const (
	leastEvidence = 40
	wholeName     = 900
)

// evidence returns how much speaks for a column as the source of a field: its name, the
// abbreviations in it, and its values.
func (c *surveyed) evidence(rule trade.FieldRule) int {
	if !c.suits(rule) {
		return 0
	}
	score := likeness(c.words, fieldNames[rule.Field])
	for token := range strings.FieldsSeq(fieldTokens[rule.Field]) {
		if slices.ContainsFunc(c.words, func(word string) bool { return holdsToken(word, token) }) {
			score += 60
		}
	}
	switch rule.Type {
	case trade.Day:
		if len(c.samples) > 0 {
			score += leastEvidence
		}
	case trade.Enum, trade.Harvest:
		score += 3 * c.percent(func(text string) bool { return resembles(rule, text) })
	case trade.UUID:
		score += c.percent(isID)
		if rule.Platform == "producers" {
			score += 2 * c.percent(isDocument)
		}
	}
	return score
}

// holdsToken reports whether a word is an abbreviation, begins with it, or has it after a shorter
// one, as NEG in DATNEG and DTNEG.
func holdsToken(word, token string) bool {
	for at := range 4 {
		if at != 1 && len(word) >= at && (word[at:] == token || len(token) > 2 && strings.HasPrefix(word[at:], token)) {
			return true
		}
	}
	return false
}

// harvestText matches a harvest as an ERP writes it, such as 2025/2026, 25/26 and 2526.
var harvestText = regexp.MustCompile(`^(\d{4}|\d{2})/?(\d{4}|\d{2})$`)

// resembles reports whether a value of the ERP looks like one of the API for a field: SOJA in SOJA
// EM GRAOS.
func resembles(rule trade.FieldRule, text string) bool {
	if rule.Type == trade.Harvest {
		return harvestText.MatchString(text)
	}
	return text != "" && slices.ContainsFunc(rule.Values, func(api string) bool {
		return strings.HasPrefix(plainWord(text), plainWord(api))
	})
}

func isDocument(text string) bool {
	_, _, err := apiclient.ParseDocument(text)
	return err == nil
}

// candidates returns the columns for which something speaks, the likeliest first.
func (p *proposer) candidates(rule trade.FieldRule) []*surveyed {
	return p.ranked(func(c *surveyed) int { return c.evidence(rule) }, leastEvidence)
}

// likely returns the columns with one of these names that pass, the likeliest first.
func (p *proposer) likely(names []string, passes func(*surveyed) bool) []*surveyed {
	return p.ranked(func(c *surveyed) int {
		if passes != nil && !passes(c) {
			return 0
		}
		return likeness(c.words, names)
	}, 1)
}

// ranked returns the columns that no field has and whose score is at least least, the highest first.
func (p *proposer) ranked(score func(*surveyed) int, least int) []*surveyed {
	var out []*surveyed
	for _, c := range p.survey.columns {
		if !p.taken[c] && score(c) >= least {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *surveyed) int { return cmp.Compare(score(b), score(a)) })
	return out
}

// proven returns the one column that is certainly the source of a field, as it is: the only one
// with the whole name of the field, and of its type or with its values. nil means that there is
// none. A volume of a line is never proven: it may be the total of its document.
func (p *proposer) proven(rule trade.FieldRule) *surveyed {
	named := slices.DeleteFunc(p.candidates(rule), func(c *surveyed) bool {
		return likeness(c.words, fieldNames[rule.Field]) < wholeName
	})
	if len(named) != 1 || len(named[0].samples) == 0 || strings.HasSuffix(rule.Field, "_volume") {
		return nil
	}
	c := named[0]
	certain := false
	switch rule.Type {
	case trade.Number:
		certain = exactNumber.MatchString(c.kind)
	case trade.Day:
		certain = strings.HasPrefix(c.kind, "date") || strings.HasPrefix(c.kind, "timestamp")
	case trade.UUID:
		certain = c.isUUID()
	case trade.Enum:
		certain = c.percent(func(text string) bool { return slices.Contains(rule.Values, text) }) == 100
	case trade.Harvest:
		certain = c.percent(func(text string) bool { return len(text) == 9 && harvestText.MatchString(text) }) == 100
	case trade.CAR, trade.Text:
		certain = true
	}
	if !certain {
		return nil
	}
	return c
}

// exactNumber matches the types of exact numbers.
var exactNumber = regexp.MustCompile(`^(numeric|decimal|number|integer|bigint|smallint|int)`)

// assign assigns to each field the column that is proven to be its source. A column serves one field
// only: if it is proven for two, it is proven for none.
func (p *proposer) assign() map[string]*surveyed {
	out, fields := map[string]*surveyed{}, map[*surveyed]int{}
	for _, rule := range p.rules {
		if rule.Parent != "" {
			continue // a person names the columns with the key of the contract
		}
		if c := p.proven(rule); c != nil {
			out[rule.Field] = c
			fields[c]++
		}
	}
	for field, c := range out {
		if fields[c] > 1 {
			delete(out, field)
			continue
		}
		p.taken[c] = true
	}
	return out
}

// The columns and values that are shown of candidates.
const (
	shownCandidates = 3
	shownSamples    = 3
	shownLetters    = 20
)

// offer returns the three likeliest of the columns with some of their values, as the end of a
// comment. The query reads them.
func (p *proposer) offer(columns []*surveyed) string {
	var shown []string
	for _, c := range columns[:min(len(columns), shownCandidates)] {
		p.job.offered = append(p.job.offered, c.name)
		shown = append(shown, c.withSamples())
	}
	if len(shown) == 0 {
		return ""
	}
	return p.Text("init.candidates", strings.Join(shown, "; "))
}

// withSamples returns the name of a column and some different values of it, with documents masked.
func (c *surveyed) withSamples() string {
	var out []string
	people := c.percent(isDocument) > 0
	for _, v := range c.samples {
		text := words.Printable(trade.MaskColumn(c.name, v.Trimmed()))
		if people {
			text = strings.Map(func(r rune) rune {
				if unicode.IsDigit(r) || unicode.IsLetter(r) {
					return '*'
				}
				return r
			}, text)
		}
		if r := []rune(text); len(r) > shownLetters {
			text = string(r[:shownLetters]) + "…"
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
		if len(out) == shownSamples {
			break
		}
	}
	return c.name + " (" + strings.Join(out, ", ") + ")"
}
