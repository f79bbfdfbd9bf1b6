package state

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The words by which a row is found stand in two columns, with a blank before and after each: those
// that everybody may read of its key and of its shown texts, and the documents in them, for which
// only users who may see documents search. They are folded: in lower case, without accents and
// separators, numbers without leading zeros. A text between blanks is also one word as a whole, so
// that 01/001004 and 1004 both find 01|001004.
const (
	wordLong      = 40   // characters of one word
	wordsLong     = 1200 // bytes of all words of a row, which an index holds
	documentsLong = 400
)

// wordsOf returns the two columns of a row. more are words that nobody must be kept from.
func wordsOf(key string, shown trade.Shown, more ...string) (words, documents string) {
	var w, d []string
	add := func(masked, text string) {
		for token := range strings.FieldsSeq(masked) {
			w = append(append(w, Joined(token)), Parts(token)...)
		}
		if masked == text {
			return
		}
		whole := true // its parts may have blanks between them
		for _, token := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || unicode.IsSpace(r) }) {
			if trade.MaskDocuments(token) != token {
				whole = false
				d = append(d, Joined(token))
			}
		}
		if whole {
			d = append(d, Joined(strings.Map(digitOnly, text)))
		}
	}
	add(trade.MaskDocuments(key), key)
	for _, t := range shown.Texts {
		add(trade.MaskColumn(t.Label, t.Text), t.Text)
	}
	return wordList(append(w, more...), wordsLong), wordList(d, documentsLong)
}

// The length of a text of the ERP that is taken for a code, and how many digits one without letters has
// at least: who searches 3 wants the contract of that number, not all rows of branch 03.
const (
	codeLeast  = 2
	codeMost   = 12
	codeDigits = 3
)

// moreWords returns by what else a row is found: its quantity, weight and value, and its codes in the
// ERP; of a reduced row nothing.
func moreWords(e trade.Entry, reduced bool) []string {
	if reduced {
		return nil
	}
	figures := []trade.Decimal{e.Quantity.Amount}
	if kg, ok := e.Quantity.Kilograms(); ok {
		figures = append(figures, kg, kg.Tonnes())
	}
	if _, value, ok := e.Value(); ok {
		figures = append(figures, value.Round(2))
	}
	out := trade.Map(figures, figure)
	values := e.NewestValues()
	for _, column := range slices.Sorted(maps.Keys(values)) {
		text := strings.TrimSpace(values[column].Text)
		if kind := values[column].Kind; kind == 'n' || kind == 'f' || slices.Contains(out, "="+text) {
			continue // a quantity or a price is found as such
		}
		if n := len(text); n < codeLeast || n > codeMost || strings.ContainsFunc(text, betweenWords) ||
			trade.MaskColumn(column, text) != text {
			continue
		}
		if word := Joined(text); len(word) >= codeDigits || strings.Trim(word, "0123456789") != "" {
			out = append(out, word)
		}
	}
	return out
}

// figure returns a number as a word, which no text has.
func figure(d trade.Decimal) string {
	text := d.String()
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return "=" + text
}

// wordList returns different words as one text, up to a number of bytes.
func wordList(words []string, most int) string {
	out := " "
	for _, w := range words {
		if w != "" && len(out)+len(w) < most && !strings.Contains(out, " "+w+" ") {
			out += w + " "
		}
	}
	return strings.TrimRight(out, " ") + " "
}

func digitOnly(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}

func betweenWords(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// Parts returns the words of a text, which signs separate, too, each folded.
func Parts(token string) []string {
	parts := strings.FieldsFunc(token, betweenWords)
	for i, part := range parts {
		parts[i] = Joined(part)
	}
	return parts
}

// Joined returns a text as one folded word.
func Joined(text string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		if !betweenWords(r) {
			b.WriteRune(r)
		}
	}
	word := b.String()
	if strings.Trim(word, "0123456789") == "" {
		word = strings.TrimLeft(word, "0")
	}
	if utf8.RuneCountInString(word) > wordLong {
		word = string([]rune(word)[:wordLong])
	}
	return word
}

// kinds are words with which people name what they search for; they do not narrow the search.
var kinds = []string{
	"contrato", "contratos", "contract", "entrega", "entregas", "delivery", "romaneio", "romaneios", "ticket",
	"nota", "nf", "nfe", "invoice", "fixacao", "produtor", "producer", "cpf", "cnpj", "n", "no", "numero", "number",
	"id", "filial", "branch", "rastreabilidade", "traceability", "r", "rs", "brl", "us", "usd", "t", "ton", "toneladas",
	"tonnes", "sc", "sacas", "kg",
}

// documentLeast is how many characters of a document are searched for at least.
const documentLeast = 5

// interpret determines which rows a text finds: the one with this id on the platform, or those that
// have all its words, or else those with its numbers as quantity or value, or those whose id begins so,
// or those with words that begin so, or else those that have it anywhere in their keys.
func (p *paging) interpret() error {
	text := p.q.Text
	said := slices.DeleteFunc(strings.Fields(text), func(token string) bool {
		return slices.Contains(kinds, Joined(strings.Trim(token, "ºª°.:#$")))
	})
	if len(said) > 0 && len(said) < len(strings.Fields(text)) {
		text = strings.Join(said, " ")
	}
	p.found = []int64{}
	if p.q.Masked && trade.MaskDocuments(text) != text {
		return nil // nobody may search by a document that is masked for them
	}
	whole := strings.TrimSpace(text)
	if id, err := trade.ParseID(whole); err == nil {
		whole = id
	}
	ids, err := p.byRemoteID(`remote_id = ? AND remote_id <> ''`, whole)
	if err != nil || len(ids) > 0 {
		p.found = ids
		return err
	}
	if _, err := trade.ParseID(text); err == nil {
		return nil
	}
	if tokens := strings.Fields(text); !strings.Contains(text, "|") { // only a key has it
		for _, says := range []*branch{p.saying(tokens, " "), p.figures(tokens), nil, p.saying(tokens, "")} {
			if says == nil {
				p.found, err = p.byIDBegin(text)
				if err != nil || len(p.found) > 0 {
					return err
				}
				continue
			}
			p.says = says
			if len(says.where) == 0 {
				continue
			}
			if err := p.find(); err != nil || p.found == nil || len(p.found) > 0 {
				return err
			}
		}
	}
	p.says = &branch{}
	p.says.add(p.s.db.D.Within+`(e.key, ?) > 0`, text)
	if p.q.Masked {
		p.says.add(`e.documents = ' '`)
	}
	return p.find()
}

// saying returns the condition that a row has all words of a text. The words of a part with
// separators may also stand alone, each but the last as a whole.
func (p *paging) saying(tokens []string, end string) *branch {
	b, has := &branch{}, p.s.db.D.Within
	for _, token := range tokens {
		word, parts := Joined(token), Parts(token)
		if word == "" {
			continue
		}
		one := has + `(e.words, ?) > 0`
		values := []any{" " + word + end}
		if len(parts) > 1 {
			one += ` OR (` + strings.Repeat(has+`(e.words, ?) > 0 AND `, len(parts)-1) + has + `(e.words, ?) > 0)`
			for _, part := range parts[:len(parts)-1] {
				values = append(values, " "+part+" ")
			}
			values = append(values, " "+parts[len(parts)-1]+end)
		}
		b.add(`(`+one+`)`, values...)
	}
	document := Joined(strings.Join(tokens, ""))
	if !p.q.Masked && len(document) >= documentLeast && len(b.where) > 0 {
		b.where = []string{`(` + strings.Join(b.where, " AND ") + ` OR ` + has + `(e.documents, ?) > 0)`}
		b.args = append(b.args, " "+document+end)
	}
	return b
}

// figures returns the condition that a row has all numbers of a text, which a person typed as
// 1.753.980,00, 1753980 or 1753980.00, as figures; one without conditions if not all are numbers.
func (p *paging) figures(tokens []string) *branch {
	b := &branch{}
	for _, token := range tokens {
		d, err := trade.ParseTyped(token)
		if err != nil || strings.Trim(token, "0123456789.,") != "" {
			return &branch{}
		}
		b.add(p.s.db.D.Within+`(e.words, ?) > 0`, " "+figure(d)+" ")
	}
	return b
}

// idBegin is how many characters of an id people are shown, and search for at least.
const idBegin = 8

// byIDBegin returns the rows whose id on the platform begins with a text.
func (p *paging) byIDBegin(text string) ([]int64, error) {
	text = strings.ToLower(text)
	if len(text) < idBegin || strings.Trim(text, "0123456789abcdef-") != "" {
		return []int64{}, nil
	}
	column := `remote_id`
	if p.s.db.D.Name == sqldb.Postgres {
		column = `remote_id COLLATE "C"`
	}
	return p.byRemoteID(column+` >= ? AND `+column+` < ?`, text, text+"g")
}

// findRows needs no columns but those of the index entry_words.
const findRows = `SELECT e.id FROM entry e WHERE e.job = ? AND `

// find sets the rows that the text finds; nil if they are many.
func (p *paging) find() error {
	p.found = []int64{}
	for _, job := range p.q.Jobs {
		var ids []int64
		query := findRows + strings.Join(p.says.where, " AND ") + ` LIMIT ?`
		args := slices.Concat([]any{job}, p.says.args, []any{p.s.db.Tune.Few + 1 - len(p.found)})
		if err := p.all(&ids, query, args...); err != nil {
			return err
		}
		p.found = append(p.found, ids...)
		if len(p.found) > p.s.db.Tune.Few {
			p.found = nil
			return nil
		}
	}
	return nil
}

// byRemoteID returns the rows with a record whose id on the platform fulfils a condition, a few of each
// kind.
func (p *paging) byRemoteID(condition string, args ...any) ([]int64, error) {
	ids := []int64{}
	for _, sends := range trade.Kinds {
		var some []int64
		if err := p.all(&some, `SELECT entry_id FROM sent WHERE kind = ? AND `+condition+` LIMIT ?`,
			slices.Concat([]any{string(sends)}, args, []any{p.s.db.Tune.Few})...); err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	return ids, nil
}
