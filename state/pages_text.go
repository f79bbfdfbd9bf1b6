package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// The words by which a row is found stand in two columns, with a blank before and after each: those
// that everybody may read of its key and of its shown texts, and the documents in them, for which
// only users who may see documents search. They are folded: in lower case, without accents and
// separators, numbers without leading zeros. A text between blanks is also one word as a whole, so
// that 01/001004 and 1004 both find 01|001004.
const (
	wordsLong     = 1200 // bytes of all words of a row
	documentsLong = 400
)

// wordsOf returns the two columns of a row; of one that retention has reduced, the words of its key.
func wordsOf(e trade.Entry, l trade.Listing) (words, documents string) {
	var w, d []string
	add := func(masked, text string) {
		for token := range strings.FieldsSeq(masked) {
			w = append(append(w, trade.Joined(token)), trade.Parts(token)...)
		}
		if masked == text {
			return
		}
		whole := true // its parts may have blanks between them
		for _, token := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || unicode.IsSpace(r) }) {
			if trade.MaskDocuments(token) != token {
				whole = false
				d = append(d, trade.Joined(token))
			}
		}
		if whole {
			d = append(d, trade.Joined(strings.Map(digitOnly, text)))
		}
	}
	key := "#" + trade.Folded(e.Key) // no word begins so; where it is not, a search need not look into the keys
	if trade.MaskDocuments(e.Key) == e.Key {
		w = append(w, key)
	} else {
		d = append(d, key)
	}
	add(trade.MaskDocuments(e.Key), e.Key)
	if e.ReducedAt.IsZero() {
		for _, t := range e.Shown.Texts {
			add(trade.MaskColumn(t.Label, t.Text), t.Text)
		}
		for token := range strings.FieldsSeq(trade.MaskDocuments(l.Product + " " + l.Branch)) {
			word := trade.Joined(token)
			if strings.Trim(word, "0123456789") != "" { // who searches 3 does not mean branch 03
				w = append(w, word)
			}
		}
		w = append(w, moreWords(e)...)
	}
	return sqldb.CleanText(wordList(w, wordsLong)), sqldb.CleanText(wordList(d, documentsLong))
}

// The length of a text of the ERP that is taken for a code, and how many digits one without letters has
// at least: who searches 3 wants the contract of that number, not all rows of branch 03.
const (
	codeLeast  = 2
	codeMost   = 12
	codeDigits = 3
)

// moreWords returns by what else a row is found: its quantity, weight and value, and its codes in the
// ERP. Nobody must be kept from them.
func moreWords(e trade.Entry) []string {
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
		if n := len(text); n < codeLeast || n > codeMost || strings.ContainsFunc(text, trade.BetweenWords) ||
			trade.MaskColumn(column, text) != text {
			continue
		}
		if word := trade.Joined(text); len(word) >= codeDigits || strings.Trim(word, "0123456789") != "" {
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

// kinds are words with which people name what they search for; they do not narrow the search.
var kinds = []string{
	"contrato", "contratos", "contract", "entrega", "entregas", "delivery", "romaneio", "romaneios", "ticket",
	"nota", "nf", "nfe", "invoice", "fixacao", "produtor", "producer", "cpf", "cnpj", "n", "no", "numero", "number",
	"id", "filial", "branch", "rastreabilidade", "traceability", "r", "rs", "brl", "us", "usd", "t", "ton", "toneladas",
	"tonnes", "sc", "sacas", "kg",
}

// documentLeast is how many characters of a document are searched for at least.
const documentLeast = 5

// ofText adds the condition that a row is found by the text of a query: that with this id on the
// platform, or those that have all its words, or else those with its numbers as quantity or value, or
// those whose id begins so, or those with words that begin so, or else those that have it anywhere in
// their keys.
func (s *Store) ofText(ctx context.Context, c *clause, q trade.RowQuery) error {
	text := q.Text
	said := slices.DeleteFunc(strings.Fields(text), func(token string) bool {
		return slices.Contains(kinds, trade.Joined(strings.Trim(token, "ºª°.:#$")))
	})
	if len(said) > 0 && len(said) < len(strings.Fields(text)) {
		text = strings.Join(said, " ")
	}
	found := func(ids []int64) { c.add(s.db.D.Among("@id"), sqldb.ListOf(s.db.D, ids)) }
	if q.Masked && trade.MaskDocuments(text) != text {
		found([]int64{})
		return nil // nobody may search by a document that is masked for them
	}
	whole := strings.TrimSpace(text)
	id, notID := trade.ParseID(whole)
	if notID == nil {
		whole = id
	}
	ids, err := s.byRemoteID(ctx, `remote_id = ? AND remote_id <> ''`, whole)
	if err != nil {
		return err
	}
	if _, err := trade.ParseID(text); len(ids) > 0 || err == nil {
		found(ids)
		return nil
	}
	tokens := strings.Fields(text)
	says := &clause{entry: true}
	says.add(s.db.D.Within+`(e.key, ?) > 0`, text)
	if q.Masked {
		says.listing = true
		says.add(`l.documents = ' '`)
	}
	if strings.Contains(text, "|") { // only a key has it
		has, err := s.find(ctx, c, q, says)
		if err == nil && !has {
			found([]int64{})
		}
		return err
	}
	// The ways in which a row is found, the best first; but for that of the keys, all in one scan.
	ways := []*clause{s.saying(q, tokens, " "), s.figures(tokens), s.saying(q, tokens, "")}
	rank, args := `CASE`, []any(nil)
	for i, way := range ways {
		if len(way.where) > 0 {
			rank += fmt.Sprintf(` WHEN %s THEN %d`, way.all(), i)
			args = append(args, way.args...)
		}
	}
	if len(args) == 0 {
		rank += ` WHEN false THEN 0`
	}
	var rows []struct {
		ID   int64
		Rank int
	}
	// In whatever way a search looks, it finds only rows that have each word of the text, or its parts,
	// anywhere in their words, or all of its figures.
	figures := ways[1]
	having, has := &clause{listing: true}, s.db.D.Within
	in := has + `(l.words, ?) > 0`
	if !q.Masked {
		in = `(` + in + ` OR l.documents <> ' ' AND ` + has + `(l.documents, ?) > 0)`
	}
	for _, token := range tokens {
		words, one := []string{trade.Joined(token)}, in
		if parts := trade.Parts(token); len(parts) > 1 {
			one += ` OR ` + in + strings.Repeat(` AND `+in, len(parts)-1)
			words = append(words, parts...)
		}
		having.where = append(having.where, `(`+one+`)`)
		for _, word := range words {
			having.args = append(having.args, slices.Repeat([]any{word}, strings.Count(in, "?"))...)
		}
	}
	// of a number in plain digits the figure has them, too
	if len(figures.where) > 0 && strings.ContainsAny(q.Text, ".,") {
		having.where, having.args = []string{`(` + having.all() + ` OR ` + figures.all() + `)`}, append(having.args, figures.args...)
	}
	if err := s.db.All(ctx, readingPage, &rows, having.resolve(`SELECT @id AS id, `+rank+` ELSE 3 END AS rank `+having.tables()+
		`WHERE @job IN (`+sqldb.Placeholders(len(q.Jobs))+`) AND `+having.all()+` LIMIT ?`),
		slices.Concat(args, sqldb.Anys(q.Jobs), having.args, []any{s.db.Tune.Few + 1})...); err != nil {
		return err
	}
	near := map[int][]int64{}
	for _, row := range rows {
		near[row.Rank] = append(near[row.Rank], row.ID)
	}
	ids, err = s.byIDBegin(ctx, text)
	if err != nil {
		return err
	}
	few := len(rows) <= s.db.Tune.Few
	for i, way := range append(ways, says) {
		if i == 2 && len(ids) > 0 { // before what only begins so
			found(ids)
			return nil
		}
		switch {
		case few && i == len(ways):
			way.add(s.db.D.Among("@id"), sqldb.ListOf(s.db.D, sqldb.NotNil(near[i])))
		case few && len(near[i]) > 0:
			found(near[i])
			return nil
		case few:
			continue
		}
		if has, err := s.find(ctx, c, q, way); err != nil || has {
			return err
		}
	}
	found([]int64{})
	return nil
}

// find adds the rows of which something is said to a condition, and reports whether there are any. Few
// are added by their ids, so that they are looked for once.
func (s *Store) find(ctx context.Context, c *clause, q trade.RowQuery, says *clause) (bool, error) {
	if len(says.where) == 0 {
		return false, nil
	}
	var ids []int64
	err := s.db.All(ctx, readingPage, &ids, says.resolve(`SELECT @id `+says.tables()+`WHERE @job IN (`+
		sqldb.Placeholders(len(q.Jobs))+`) AND `+says.all()+` LIMIT ?`),
		slices.Concat(sqldb.Anys(q.Jobs), says.args, []any{s.db.Tune.Few + 1})...)
	switch {
	case len(ids) > s.db.Tune.Few:
		c.entry, c.listing = c.entry || says.entry, c.listing || says.listing
		c.add(says.all(), says.args...)
	case len(ids) > 0:
		c.add(s.db.D.Among("@id"), sqldb.ListOf(s.db.D, ids))
	}
	return len(ids) > 0, err
}

// saying returns the condition that a row has all words of a text. The words of a part with
// separators may also stand alone, each but the last as a whole.
func (s *Store) saying(q trade.RowQuery, tokens []string, end string) *clause {
	c, has := &clause{listing: true}, s.db.D.Within
	for _, token := range tokens {
		word, parts := trade.Joined(token), trade.Parts(token)
		if word == "" {
			continue
		}
		one := has + `(l.words, ?) > 0`
		values := []any{" " + word + end}
		if len(parts) > 1 {
			one += ` OR (` + strings.Repeat(has+`(l.words, ?) > 0 AND `, len(parts)-1) + has + `(l.words, ?) > 0)`
			for _, part := range parts[:len(parts)-1] {
				values = append(values, " "+part+" ")
			}
			values = append(values, " "+parts[len(parts)-1]+end)
		}
		c.add(`(`+one+`)`, values...)
	}
	document := trade.Joined(strings.Join(tokens, ""))
	if !q.Masked && len(document) >= documentLeast && len(c.where) > 0 {
		c.where = []string{`(` + strings.Join(c.where, " AND ") + ` OR ` + has + `(l.documents, ?) > 0)`}
		c.args = append(c.args, " "+document+end)
	}
	return c
}

// figures returns the condition that a row has all numbers of a text, which a person typed as
// 1.753.980,00, 1753980 or 1753980.00, as figures; one without conditions if not all are numbers.
func (s *Store) figures(tokens []string) *clause {
	c := &clause{listing: true}
	for _, token := range tokens {
		d, err := trade.ParseTyped(token)
		if err != nil || strings.Trim(token, "0123456789.,") != "" {
			return &clause{}
		}
		c.add(s.db.D.Within+`(l.words, ?) > 0`, " "+figure(d)+" ")
	}
	return c
}

// idBegin is how many characters of an id people are shown, and search for at least.
const idBegin = 8

// byIDBegin returns the rows whose id on the platform begins with a text.
func (s *Store) byIDBegin(ctx context.Context, text string) ([]int64, error) {
	text = strings.ToLower(text)
	if len(text) < idBegin || strings.Trim(text, "0123456789abcdef-") != "" {
		return nil, nil
	}
	column := `remote_id`
	if s.db.D.Name == sqldb.Postgres {
		column = `remote_id COLLATE "C"`
	}
	return s.byRemoteID(ctx, column+` >= ? AND `+column+` < ?`, text, text+"g")
}

// byRemoteID returns the rows with a record whose id on the platform fulfils a condition, a few of each
// kind.
func (s *Store) byRemoteID(ctx context.Context, condition string, args ...any) ([]int64, error) {
	ids := []int64{}
	for _, sends := range trade.Kinds {
		var some []int64
		if err := s.db.All(ctx, readingPage, &some, `SELECT entry_id FROM sent WHERE kind = ? AND `+condition+` LIMIT ?`,
			slices.Concat([]any{string(sends)}, args, []any{s.db.Tune.Few})...); err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	return ids, nil
}
