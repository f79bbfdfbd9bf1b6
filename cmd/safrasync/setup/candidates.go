package setup

import (
	"cmp"
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
		if len(c.samples) > 0 && c.isMoment() {
			score += leastEvidence
		}
	case trade.Enum, trade.Harvest:
		score += 3 * c.percent(func(text string) bool { return apiValue(rule, text) != "" })
	case trade.UUID:
		score += c.percent(func(text string) bool {
			_, err := trade.ParseID(text)
			return err == nil
		})
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

// apiValue returns the value of the API that a value of the ERP is for certain; "" if there is none.
func apiValue(rule trade.FieldRule, text string) string {
	to, how := proposeHarvest(text)
	if rule.Type == trade.Enum {
		to, how = proposeValue(text, rule.Values)
	}
	if how != sure {
		return ""
	}
	return to
}

func isDocument(text string) bool {
	_, _, err := apiclient.ParseDocument(text)
	return err == nil
}

// percent returns in how many of 100 sample values something is true.
func (c *surveyed) percent(of func(text string) bool) int {
	n := 0
	for _, v := range c.samples {
		if of(v.Trimmed()) {
			n++
		}
	}
	return 100 * n / max(1, len(c.samples))
}

// candidates returns the columns for which something speaks, the likeliest first.
func (p *proposer) candidates(rule trade.FieldRule) []*surveyed {
	var out []*surveyed
	for _, c := range p.survey.columns {
		if !p.taken[c] && c.evidence(rule) >= leastEvidence {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *surveyed) int { return cmp.Compare(b.evidence(rule), a.evidence(rule)) })
	return out
}

// proven returns the one column that is certainly the source of a field: the only one with the
// whole name of the field, or the only one with its values, a name that fits, and no other meaning.
// A unit may also be that of the price, so that its values prove nothing.
func (p *proposer) proven(rule trade.FieldRule) *surveyed {
	named := slices.DeleteFunc(p.candidates(rule), func(c *surveyed) bool {
		return likeness(c.words, fieldNames[rule.Field]) < wholeName || len(c.samples) == 0
	})
	if len(named) > 0 {
		if len(named) > 1 {
			return nil
		}
		return named[0]
	}
	if rule.Type != trade.Enum && rule.Type != trade.Harvest || slices.Contains(rule.Values, "KG") {
		return nil
	}
	only := slices.DeleteFunc(p.candidates(rule), func(c *surveyed) bool {
		return c.percent(func(text string) bool { return apiValue(rule, text) != "" }) < 100
	})
	if len(only) == 1 && only[0].evidence(rule) > 3*100 {
		return only[0]
	}
	return nil
}

// assign assigns to each field the column that is proven to be its source. A column serves one field
// only: if it is proven for two, it is proven for none.
func (p *proposer) assign() map[string]*surveyed {
	out, fields := map[string]*surveyed{}, map[*surveyed]int{}
	for _, rule := range p.rules {
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

// listed returns the three likeliest columns of a field with some of their values, as the end of a
// comment, and their names.
func (p *proposer) listed(rule trade.FieldRule) (text string, names []string) {
	var shown []string
	all := p.candidates(rule)
	for _, c := range all[:min(len(all), shownCandidates)] {
		names = append(names, c.name)
		shown = append(shown, c.name+" ("+strings.Join(c.shown(), ", ")+")")
	}
	if len(shown) == 0 {
		return "", nil
	}
	return p.Text("init.candidates", strings.Join(shown, "; ")), names
}

// shown returns some different values of a column, with documents masked.
func (c *surveyed) shown() []string {
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
		if out = addOnce(out, text); len(out) == shownSamples {
			break
		}
	}
	return out
}
