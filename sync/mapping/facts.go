// What people narrow lists by, and the columns that tell it.

package mapping

import (
	"slices"
	"strings"
	"unicode"

	"github.com/safrasync/safrasync/trade"
)

// factColumns are the columns of a query that tell the facts of a row; "" = none does.
type factColumns struct{ product, producer, branch ShowSpec }

// Words of labels and names of columns, from which people know what stands there.
var (
	productWords  = []string{"produto", "product", "cultura", "grao", "grão"}
	producerWords = []string{"produtor", "producer", "cooperado", "associado", "fornecedor", "emissor"}
	branchWords   = []string{"filial", "branch", "estab", "estabelecimento"}
)

// factColumns finds the columns: what is shown has priority over what is mapped, and the key.
func (j *Job) factColumns() factColumns {
	mapped := func(fields ...string) (out []ShowSpec) {
		for _, name := range fields {
			f, ok := j.Spec.Fields[name]
			if !ok || f.Lookup != "" { // of a document there is only a hash
				continue
			}
			columns := slices.Clone(f.Columns)
			for _, parent := range f.SentBy {
				columns = append(columns, parent.Columns...)
			}
			for _, column := range columns {
				if _, constant := ConstOf(column); !constant {
					out = append(out, ShowSpec{Label: column, Column: column})
				}
			}
		}
		return out
	}
	var every []ShowSpec
	for _, rule := range trade.Rules(j.Spec.Sends) {
		every = append(every, mapped(rule.Field)...)
	}
	var key []ShowSpec
	for _, column := range j.Spec.Key {
		key = append(key, ShowSpec{Label: column, Column: column})
	}
	find := func(words []string, more ...ShowSpec) ShowSpec {
		for _, s := range slices.Concat(j.Spec.Show, more) {
			if hasWord(s.Label, words) || hasWord(s.Column, words) {
				return s
			}
		}
		return ShowSpec{}
	}
	out := factColumns{
		producer: find(producerWords), branch: find(branchWords, slices.Concat(key, every)...),
	}
	if own := mapped("producer_id"); out.producer.Column == "" && len(own) > 0 {
		out.producer = own[0]
	}
	if _, told := j.Spec.Fields["product"]; !told {
		out.product = find(productWords, slices.Concat(key, every)...)
	}
	return out
}

// hasWord reports whether one of the words of a name is among these.
func hasWord(name string, words []string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(Fold(name), func(r rune) bool { return !unicode.IsLetter(r) }),
		func(word string) bool { return slices.Contains(words, word) })
}

// AddFacts sets what the row tells that the mapping does not, documents masked.
func (r *Row) AddFacts(facts *trade.Facts) {
	columns := r.job.facts
	text := func(s ShowSpec) string {
		v, ok := r.row.Get(s.Column)
		if s.Column == "" || !ok || v.Err != "" {
			return ""
		}
		return trade.MaskColumn(s.Label, trade.MaskColumn(s.Column, trade.CutText(PlainText(v))))
	}
	facts.Producer, facts.Branch = text(columns.producer), text(columns.branch)
	if columns.product.Column != "" {
		facts.Product = text(columns.product)
	}
	facts.Contract = append(r.job.Mapping.ParentKeys(nil, r.row.Get), trade.ParentKey{})[0] // the first, or none
}
