package setup

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
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
	changedAt string
	cancelled *config.CancelledConfig
	fields    []proposedField
	maps      []proposedMap
	unused    []string // columns of the table that the query does not use
	confirm   []string // lines on what may lose or double rows; a person deletes each
	offered   []string // columns that are named as candidates
}

// proposedField is one line under `fields:`.
type proposedField struct {
	name, yaml, note string
	off              bool // written as a comment, because the field may be missing
}

// proposedMap is one map under `values:`.
type proposedMap struct {
	name  string
	pairs []proposedPair
}

type proposedPair struct{ from, to, note string }

// proposer builds the proposal of one job.
type proposer struct {
	words.Voice
	survey  *survey
	rules   []trade.FieldRule
	refs    []proposedRef
	parents []proposedJob
	taken   map[*surveyed]bool
	job     proposedJob
}

// propose proposes a job for a table or query. refs are the de-para tables that were found, parents
// the jobs proposed so far.
func propose(ctx context.Context, v words.Voice, name string, kind trade.Kind, s *survey, refs []proposedRef,
	parents []proposedJob,
) (proposedJob, error) {
	p := &proposer{
		Voice: v, survey: s, rules: trade.Rules(kind), refs: refs, parents: parents, taken: map[*surveyed]bool{},
		job: proposedJob{name: name, sends: kind},
	}
	if err := p.scope(ctx); err != nil {
		return p.job, err
	}
	if err := p.chooseKey(ctx); err != nil {
		return p.job, err
	}
	found := p.assign()
	for _, rule := range p.rules {
		if err := p.field(ctx, rule, found[rule.Field]); err != nil {
			return p.job, err
		}
	}
	for _, field := range []string{"amount", "delivered_volume", "allocated_volume"} {
		if err := p.ofTheHeader(ctx, field, found[field]); err != nil {
			return p.job, err
		}
	}
	p.writeQuery(found["order_date"], found["delivery_date"])
	for _, c := range p.job.confirm {
		p.job.query = "-- " + config.FillIn + ": " + oneLine(c) + "\n" + p.job.query
	}
	return p.job, nil
}

// scope finds the columns for the time of change, deleted rows, drafts and cancelled rows.
func (p *proposer) scope(ctx context.Context) error {
	s := p.survey
	var conditions []string // set at the end: they must not hide rows from the reads before
	defer func() { s.where = append(s.where, conditions...) }()
	for _, c := range s.columns {
		if likeness(c.words, deletedNames) == 0 {
			continue
		}
		condition, err := p.notDeleted(ctx, c)
		if err != nil {
			return err
		}
		if condition == "" {
			continue
		}
		p.taken[c] = true
		conditions = append(conditions, condition)
		if !isProtheusDeleted(c) {
			p.job.confirm = append(p.job.confirm, p.Text("init.confirm_filter", condition))
		}
	}
	defer func() { // after the status column has its role
		for _, c := range s.columns {
			if !p.taken[c] && likeness(c.words, flagNames) > 0 {
				p.job.confirm = append(p.job.confirm, p.Text("init.confirm_flag", c.name))
			}
		}
	}()
	if c := s.named(changedNames, func(c *surveyed) bool { return c.isMoment() }); c != nil {
		form, _, _ := guessDate(c.samples)
		if form == "" { // other forms of text do not sort by time
			p.taken[c] = true
			p.job.changedAt = c.name
		}
	}
	c := s.named(statusNames, func(c *surveyed) bool { return !p.taken[c] && !c.isMoment() })
	if c == nil {
		return nil
	}
	values, few, err := s.distinct(ctx, c)
	if err != nil || !few {
		return err
	}
	for _, v := range values {
		word := plainWord(v.text)
		switch {
		case strings.Contains(word, "cancel"), strings.Contains(plainWord(c.name), "cancel") &&
			slices.Contains([]string{"s", "y", "1", "true", "t", "sim"}, word):
			if p.job.cancelled == nil {
				p.job.cancelled = &config.CancelledConfig{Column: c.name}
			}
			p.job.cancelled.Values = append(p.job.cancelled.Values, v.text)
		case strings.HasPrefix(word, "rascunho"), strings.HasPrefix(word, "draft"),
			strings.HasPrefix(word, "em digitacao"):
			condition := "(" + c.quoted + " IS NULL OR " + c.quoted + " <> " + sqlText(v.text) + ")"
			conditions = append(conditions, condition)
			p.job.confirm = append(p.job.confirm, p.Text("init.confirm_filter", condition))
		}
	}
	p.taken[c] = p.job.cancelled != nil
	return nil
}

// isProtheusDeleted reports whether a column is the deletion flag of Protheus, which its own
// programs fill in for every row.
func isProtheusDeleted(c *surveyed) bool {
	return strings.HasPrefix(strings.Join(c.words, "_"), "d_e_l_e_t")
}

// notDeleted returns the condition that excludes exactly the rows whose flag means deleted; "" if
// that is unclear.
func (p *proposer) notDeleted(ctx context.Context, c *surveyed) (string, error) {
	if isProtheusDeleted(c) {
		return c.quoted + " = ' '", nil
	}
	if c.isMoment() || len(c.samples) == 0 && likeness(c.words, deletedTimes) > 0 {
		return c.quoted + " IS NULL", nil
	}
	values, few, err := p.survey.distinct(ctx, c)
	if err != nil || !few {
		return "", err
	}
	var gone []string
	for _, v := range values {
		switch word := plainWord(v.text); {
		case slices.Contains([]string{"s", "1", "t", "true", "sim", "y", "yes"}, word):
			text := v.text
			if c.samples[0].Kind == erp.Text {
				text = sqlText(v.text)
			}
			gone = append(gone, text)
		case !slices.Contains([]string{"n", "0", "f", "false", "nao", "no"}, word):
			return "", nil // another code: a person must decide what it means
		}
	}
	if len(gone) == 0 {
		return "", nil
	}
	return "(" + c.quoted + " IS NULL OR " + c.quoted + " NOT IN (" + strings.Join(gone, ", ") + "))", nil
}

// chooseKey prefers the branch and number that people know, if they identify every row; otherwise
// it takes the primary key.
func (p *proposer) chooseKey(ctx context.Context) error {
	s := p.survey
	var known []string
	for _, names := range [][]string{branchNames, numberNames, itemNames} {
		if c := s.named(names, func(c *surveyed) bool {
			return p.mayIdentify(c) && !slices.Contains(known, c.name)
		}); c != nil {
			known = append(known, c.name)
		} else if len(known) > 0 && &names[0] == &numberNames[0] {
			known = nil // a branch alone identifies nothing
		}
	}
	var unique [][]string
	if s.relation != nil {
		for _, key := range append([][]string{s.relation.Primary}, s.relation.Unique...) {
			if key = withoutBookkeeping(key); len(key) > 0 {
				unique = append(unique, key)
			}
		}
	}
	slices.SortStableFunc(unique, func(a, b []string) int { return cmp.Compare(shared(b, known), shared(a, known)) })
	if len(unique) > 0 && shared(unique[0], known) > 0 {
		p.job.key, p.job.keyNote = unique[0], p.Text("init.key_unique")
		return nil
	}
	if len(known) > 0 {
		is, err := s.isKey(ctx, known)
		if err != nil {
			return err
		}
		if is {
			p.job.key, p.job.keyNote = []string{config.FillIn}, p.Text("init.key_today", strings.Join(known, ", "))
			if len(unique) > 0 {
				p.job.key = unique[0]
			}
			p.job.offered = append(p.job.offered, known...)
			return nil
		}
	}
	switch {
	case len(unique) > 0:
		p.job.key, p.job.keyNote = unique[0], p.Text("init.key_primary")
		if len(known) > 0 {
			p.job.keyNote = p.Text("init.key_not_unique", strings.Join(known, ", "))
		}
	default:
		candidates, names := p.listed(trade.FieldRule{Field: "key", Type: trade.Enum})
		p.job.key, p.job.keyNote = []string{config.FillIn}, p.Text("init.key_none")+candidates
		p.job.offered = append(p.job.offered, names...)
	}
	return nil
}

// ofTheHeader leaves a volume for a person to fill in if it is the same in all rows of each number.
// It is then the header's volume, and each row would send all of it.
func (p *proposer) ofTheHeader(ctx context.Context, field string, c *surveyed) error {
	var header []string
	for _, names := range [][]string{branchNames, numberNames} {
		if h := p.survey.named(names, func(h *surveyed) bool {
			return h != c && p.mayIdentify(h) && !slices.Contains(header, h.quoted)
		}); h != nil {
			header = append(header, h.quoted)
		}
	}
	if c == nil || len(header) == 0 {
		return nil
	}
	same, differ := false, false
	sql := "SELECT MIN(" + c.quoted + ") AS a, MAX(" + c.quoted + ") AS b" + p.survey.from() + " GROUP BY " +
		strings.Join(header, ", ") + " HAVING COUNT(*) > 1"
	err := p.survey.source.Table(ctx, sql, []string{"a", "b"}, func(v []erp.Value) error {
		same, differ = same || v[0].Trimmed() == v[1].Trimmed(), differ || v[0].Trimmed() != v[1].Trimmed()
		return nil
	})
	if err != nil || !same || differ {
		return err
	}
	for i := range p.job.fields {
		if f := &p.job.fields[i]; f.name == field {
			f.yaml = strings.Replace(f.yaml, config.YAMLText(c.name), config.FillIn, 1)
			f.note = p.Text("init.of_the_header", c.name)
		}
	}
	return nil
}

// withoutBookkeeping removes from a unique index the columns that Protheus adds so that deleted
// rows may keep their number. With the filter on deleted rows, the rest is unique. A key of nothing
// but a record number does not identify a row permanently.
func withoutBookkeeping(key []string) []string {
	return slices.DeleteFunc(slices.Clone(key), func(column string) bool {
		return slices.Contains([]string{"r_e_c_d_e_l_", "d_e_l_e_t_", "r_e_c_n_o_"}, strings.ToLower(column))
	})
}

// mayIdentify excludes what is not a number that people know. For deliveries it also excludes the
// contract's number, because a delivery may be transferred to another contract.
func (p *proposer) mayIdentify(c *surveyed) bool {
	return !c.isUUID() && !c.isMoment() && (p.job.sends != trade.Deliveries || likeness(c.words, contractNames) == 0)
}

// shared returns how many columns of a key people know.
func shared(key, known []string) int {
	n := 0
	for _, c := range key {
		if slices.Contains(known, c) {
			n++
		}
	}
	return n
}

// writeQuery builds the query: the columns that are used, the conditions of the scope, and the
// first day.
func (p *proposer) writeQuery(dates ...*surveyed) {
	s := p.survey
	if s.relation == nil {
		p.askCutOver(dates...)
		p.job.query, p.job.queryNote = s.body, p.Text("init.query_own")
		if len(s.where) > 0 {
			p.job.queryNote = p.Text("init.query_conditions", strings.Join(s.where, " AND "))
		}
		return
	}
	var names []string
	for _, c := range s.columns {
		if p.uses(c.name) {
			names = append(names, c.name)
		} else {
			p.job.unused = append(p.job.unused, c.name)
		}
	}
	if len(names) == 0 {
		names = []string{s.columns[0].name}
	}
	conditions := slices.Clone(s.where)
	for _, c := range dates {
		if c == nil {
			continue
		}
		form, _, _ := guessDate(c.samples)
		if form == "" || strings.HasPrefix(form, "YYYY") { // other forms do not sort by day
			form = cmp.Or(form, "YYYY-MM-DD")
			early := strings.NewReplacer("YYYY", "2000", "MM", "01", "DD", "01").Replace(form)
			// Missing and absurd dates stay in scope; otherwise the row would go unnoticed.
			conditions = append(conditions, "("+c.quoted+" IS NULL OR "+c.quoted+" < '"+early+"' OR "+c.quoted+" >= '"+
				config.FillIn+"')")
			p.job.queryNote = p.Text("init.query_cut_over", form)
		}
		break
	}
	if p.job.queryNote == "" {
		p.job.queryNote = p.Text("init.query_own_table")
		p.askCutOver(dates...)
	}
	p.job.query = "SELECT " + wrapList(s.list(names)) + "\nFROM " + relationName(s.driver, *s.relation)
	if len(conditions) > 0 {
		p.job.query += "\nWHERE " + strings.Join(conditions, "\n  AND ")
	}
}

// askCutOver lets a person add the first day to a query, because without one all of history would be
// sent.
func (p *proposer) askCutOver(dates ...*surveyed) {
	var names []string
	for _, c := range dates {
		if c != nil {
			names = append(names, c.name)
		}
	}
	for _, rule := range p.rules {
		if len(names) == 0 && (rule.Field == "order_date" || rule.Field == "delivery_date") {
			_, names = p.listed(rule)
		}
	}
	text := p.Text("init.confirm_cut_over")
	if len(names) > 0 {
		text += p.Text("init.candidates", strings.Join(names, ", "))
	}
	p.job.confirm = append(p.job.confirm, text)
	p.job.offered = append(p.job.offered, names...)
}

// uses reports whether the job uses a column, or names it as a candidate.
func (p *proposer) uses(name string) bool {
	if slices.Contains(slices.Concat(p.job.offered, p.job.key), name) || p.job.changedAt == name ||
		p.job.cancelled != nil && p.job.cancelled.Column == name {
		return true
	}
	return slices.ContainsFunc(p.job.fields, func(f proposedField) bool { return !f.off && namesColumn(f.yaml, name) })
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
