package setup

import (
	"cmp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// proposedJob is one job as `init` would write it.
type proposedJob struct {
	name      string
	sends     trade.Kind
	query     string
	queryNote string // what a person must know about the query
	key       []string
	keyNote   string
	changedAt string // the columns that may be named under changed_at
	cancelled string // and under cancelled
	fields    []proposedField
	unused    []string // columns of the table that the query does not use
	confirm   []string // lines on what may lose or double rows; a person deletes each
	offered   []string // columns that are written, or named as candidates
}

// proposedField is one line under `fields:`.
type proposedField struct {
	name, yaml, note string
	off              bool // written as a comment, because the field may be missing
}

// proposer builds the proposal of one job.
type proposer struct {
	words.Voice
	survey *survey
	rules  []trade.FieldRule
	taken  map[*surveyed]bool
	job    proposedJob
}

// propose proposes a job for a table or query. It writes what the catalogue proves, and names the
// likeliest columns for everything else. contractKey is the key of the contracts; nil if it is
// still open.
func propose(v words.Voice, name string, kind trade.Kind, s *survey, contractKey []string) proposedJob {
	p := &proposer{
		Voice: v, survey: s, rules: trade.Rules(kind), taken: map[*surveyed]bool{},
		job: proposedJob{name: name, sends: kind},
	}
	p.chooseKey()
	found := p.assign()
	for _, rule := range p.rules {
		switch c := found[rule.Field]; {
		case rule.Parent != "":
			p.parentField(rule, contractKey)
		case c != nil:
			p.job.fields = append(p.job.fields, proposedField{name: rule.Field, yaml: config.YAMLText(c.name)})
			p.job.offered = append(p.job.offered, c.name)
		default:
			p.openField(rule)
		}
	}
	p.job.changedAt = p.offer(p.likely(changedNames, (*surveyed).isMoment))
	p.job.cancelled = p.offer(p.likely(statusNames, nil))
	p.writeQuery(found["order_date"], found["delivery_date"])
	return p.job
}

// openField proposes a field that a person must fill in.
func (p *proposer) openField(rule trade.FieldRule) {
	f := proposedField{name: rule.Field, yaml: config.FillIn}
	switch {
	case rule.Need == trade.Optional:
		f.yaml, f.note, f.off = "COLUNA", p.Text("init.not_found_optional"), true
	case rule.Type == trade.Enum:
		f.yaml, f.note = "{const: "+config.FillIn+"}", p.Text("init.not_found_const", strings.Join(rule.Values, ", "))
	case rule.Need == trade.Always:
		f.note = p.Text("init.not_found")
	default:
		f.yaml, f.note, f.off = "COLUNA", p.Text("init.not_found_when", words.RequiredWhen(rule)), true
	}
	if rule.Type == trade.UUID {
		f.note += p.Text("init.not_found_id", rule.Platform)
	}
	f.note += p.offer(p.candidates(rule))
	p.job.fields = append(p.job.fields, f)
}

// parentField proposes the field that takes the id of a contract which another job has sent.
func (p *proposer) parentField(rule trade.FieldRule, contractKey []string) {
	f := proposedField{
		name: rule.Field, yaml: "{column: " + config.FillIn + ", sent_by: contracts}", note: p.Text("init.no_parent"),
	}
	if contractKey != nil {
		f.note = p.Text("init.parent_open", strings.Join(contractKey, ", "))
	}
	f.note += p.offer(p.candidates(rule))
	p.job.fields = append(p.job.fields, f)
}

// chooseKey takes a unique index: one of a branch, a number or an item that people know, or else
// the primary key.
func (p *proposer) chooseKey() {
	var unique [][]string
	if r := p.survey.relation; r != nil {
		for _, key := range append([][]string{r.Primary}, r.Unique...) {
			key = withoutBookkeeping(key)
			if len(key) > 0 {
				unique = append(unique, key)
			}
		}
	}
	candidates := p.offer(p.candidates(trade.FieldRule{Field: "key", Type: trade.Enum}))
	if len(unique) == 0 {
		p.job.key, p.job.keyNote = []string{config.FillIn}, p.Text("init.key_none")+candidates
		return
	}
	slices.SortStableFunc(unique, func(a, b []string) int { return cmp.Compare(p.known(b), p.known(a)) })
	p.job.key, p.job.keyNote = unique[0], p.Text("init.key_unique")
	if p.known(unique[0]) == 0 {
		p.job.keyNote += candidates
	}
	p.job.offered = append(p.job.offered, p.job.key...)
}

// known returns how many columns of a key people know.
func (p *proposer) known(key []string) int {
	n := 0
	for _, c := range p.survey.columns {
		if slices.Contains(key, c.name) && likeness(c.words, keyNames) > 0 {
			n++
		}
	}
	return n
}

// withoutBookkeeping removes from a unique index the columns that Protheus adds so that deleted
// rows may keep their number. With the filter on deleted rows, the rest is unique. A key of nothing
// but a record number does not identify a row permanently.
func withoutBookkeeping(key []string) []string {
	return slices.DeleteFunc(slices.Clone(key), func(column string) bool {
		return slices.Contains([]string{"r_e_c_d_e_l_", "d_e_l_e_t_", "r_e_c_n_o_"}, strings.ToLower(column))
	})
}

// isProtheusDeleted reports whether a column is the deletion flag of Protheus, which its own
// programs fill in for every row.
func isProtheusDeleted(c *surveyed) bool {
	return strings.HasPrefix(strings.Join(c.words, "_"), "d_e_l_e_t")
}

// writeQuery builds the query: the columns that are used or offered, the filter of Protheus, and a
// line for each thing that a person must decide about its scope. dates are the columns that are
// certain to have the day of a row.
func (p *proposer) writeQuery(dates ...*surveyed) {
	s := p.survey
	p.confirmCutOver(dates)
	condition := ""
	for _, c := range s.columns {
		switch {
		case isProtheusDeleted(c) && s.relation != nil:
			condition = "\nWHERE " + c.quoted + " = ' '"
		case likeness(c.words, flagNames) > 0:
			p.job.confirm = append(p.job.confirm, p.Text("init.confirm_flag", c.withSamples()))
		}
	}
	p.job.query, p.job.queryNote = s.body, p.Text("init.query_own")
	if s.relation != nil {
		var names []string
		for _, c := range s.columns {
			if slices.Contains(p.job.offered, c.name) {
				names = append(names, c.name)
			} else {
				p.job.unused = append(p.job.unused, c.name)
			}
		}
		if len(names) == 0 {
			names = []string{s.columns[0].name}
		}
		p.job.queryNote = p.Text("init.query_own_table")
		p.job.query = "SELECT " + wrapList(s.list(names)) + "\nFROM " + relationName(s.driver, *s.relation) + condition
	}
	for _, c := range p.job.confirm {
		p.job.query = "-- " + config.FillIn + ": " + oneLine(c) + "\n" + p.job.query
	}
}

// confirmCutOver lets a person add the first day to a query, because without one all of history
// would be sent.
func (p *proposer) confirmCutOver(dates []*surveyed) {
	dates = slices.DeleteFunc(dates, func(c *surveyed) bool { return c == nil })
	for _, rule := range p.rules {
		if len(dates) == 0 && (rule.Field == "order_date" || rule.Field == "delivery_date") {
			dates = p.candidates(rule)
		}
	}
	p.job.confirm = append(p.job.confirm, p.Text("init.confirm_cut_over")+p.offer(dates))
}

// wrapList breaks a long list of columns into lines.
func wrapList(list string) string {
	const width = 110
	var out []string
	line := ""
	for item := range strings.SplitSeq(list, ", ") {
		if line != "" && len(line)+len(item) > width {
			out, line = append(out, line), ""
		}
		if line != "" {
			line += ", "
		}
		line += item
	}
	return strings.Join(append(out, line), ",\n       ")
}
