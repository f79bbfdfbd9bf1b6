package setup

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/trade"
)

// parentFields are the fields that take the id of a record which another job has sent.
var parentFields = []string{"contract_id", "order_commitment_id"}

// field proposes one field from the column that was found for it; c is nil if none was.
func (p *proposer) field(ctx context.Context, rule trade.FieldRule, c *surveyed) error {
	if slices.Contains(parentFields, rule.Field) {
		p.parentField(rule)
		return nil
	}
	if c == nil {
		p.missing(rule)
		return nil
	}
	parts := []string{"column: " + config.YAMLText(c.name)}
	note := ""
	switch rule.Type {
	case trade.UUID:
		if parts, note = p.reference(rule, c); note == "" && len(parts) == 1 {
			break
		}
	case trade.Enum, trade.Harvest:
		values, mapNote, err := p.values(ctx, rule, c)
		if err != nil {
			return err
		}
		if values != "" {
			parts = append(parts, "values: "+values)
		}
		note = mapNote
	case trade.Number:
		form, zeros, _ := guessNumber(c.samples)
		if form != "" {
			parts = append(parts, "number: "+config.YAMLText(form))
		}
		if isFloat(c) {
			parts = append(parts, "scale: 4")
			note = p.Text("init.float")
		}
		if zeros && rule.Need != trade.Always {
			parts = append(parts, `empty: ["0"]`)
		}
	case trade.Day:
		form, empty, _ := guessDate(c.samples)
		if form != "" {
			parts = append(parts, "date: "+form)
		}
		if len(empty) > 0 {
			quoted := make([]string, len(empty))
			for i, e := range empty {
				quoted[i] = config.YAMLQuoted(e)
			}
			parts = append(parts, "empty: ["+strings.Join(quoted, ", ")+"]")
		}
	}
	if len(c.samples) == 0 {
		note = strings.TrimSpace(p.Text("init.column_empty") + " " + note)
	}
	yaml := "{" + strings.Join(parts, ", ") + "}"
	if len(parts) == 1 && parts[0] == "column: "+config.YAMLText(c.name) {
		yaml = config.YAMLText(c.name)
	}
	p.job.fields = append(p.job.fields, proposedField{name: rule.Field, yaml: yaml, note: note})
	return nil
}

// isFloat reports whether a column holds floats, whose last digits are not exact.
func isFloat(c *surveyed) bool {
	return slices.ContainsFunc(c.samples, func(v erp.Value) bool { return v.Kind == erp.Float })
}

// missing proposes a field for which no column was found.
func (p *proposer) missing(rule trade.FieldRule) {
	f := proposedField{name: rule.Field}
	candidates, names := p.listed(rule)
	switch {
	case rule.Need == trade.Optional:
		f.yaml, f.note, f.off = "COLUNA", p.Text("init.not_found_optional"), true
	case rule.Type == trade.Enum:
		f.yaml, f.note = "{const: "+config.FillIn+"}", p.Text("init.not_found_const", strings.Join(rule.Values, ", "))
	case rule.Need == trade.Always:
		f.yaml, f.note = config.FillIn, p.Text("init.not_found")
	default:
		f.yaml, f.note, f.off = "COLUNA", p.Text("init.not_found_when", words.RequiredWhen(rule)), true
	}
	f.note += candidates
	if rule.Need != trade.Optional {
		p.job.offered = append(p.job.offered, names...)
	}
	p.job.fields = append(p.job.fields, f)
}

// genericCode are names of code columns that do not show whose code it is.
var genericCode = []string{"cod", "codigo", "code", "id", "registro_id", "registro", "chave", "erp_id", "cod_erp"}

// reference proposes the source of a platform id: the column itself, or a de-para table.
func (p *proposer) reference(rule trade.FieldRule, c *surveyed) (parts []string, note string) {
	if c.isUUID() {
		return []string{"column: " + config.YAMLText(c.name)}, ""
	}
	i := slices.IndexFunc(p.refs, func(r proposedRef) bool { return r.kind == rule.Platform })
	if i < 0 {
		return []string{"column: " + config.YAMLText(c.name), "ref: " + rule.Platform},
			p.Text("init.no_reference", rule.Platform)
	}
	columns := []string{c.name}
	if code := p.refs[i].code; len(code) > 1 {
		columns = nil
		main := false
		for _, name := range code {
			own := p.survey.alike(name)
			switch {
			case own != nil && !slices.Contains(genericCode, strings.Join(own.words, "_")):
				columns = append(columns, own.name)
				main = main || own == c
			case !main:
				columns, main = append(columns, c.name), true
			default:
				columns, note = append(columns, config.FillIn), p.Text("init.code_part", name)
			}
		}
	}
	if len(columns) == 1 {
		return []string{"column: " + config.YAMLText(columns[0]), "ref: " + rule.Platform}, note
	}
	return []string{"column: " + yamlList(columns), "ref: " + rule.Platform}, note
}

// values proposes a value map. It returns "" if the column already has the API's values.
func (p *proposer) values(ctx context.Context, rule trade.FieldRule, c *surveyed) (name, note string, err error) {
	values, few, err := p.survey.distinct(ctx, c)
	if err != nil {
		return "", "", err
	}
	if !few {
		return "", p.Text("init.many_values", surveyValues), nil
	}
	m := proposedMap{name: p.job.name + "_" + rule.Field}
	open, same, known := 0, true, false
	for _, v := range values {
		to, how := proposeHarvest(v.text)
		if rule.Type == trade.Enum {
			to, how = proposeValue(v.text, rule.Values)
		}
		same, known = same && (to == v.text || how == unknown), known || how != unknown
		pair := proposedPair{v.text, to, p.Text("init.value_rows", v.rows)}
		switch how {
		case likely:
			open++
			pair.to, pair.note = config.FillIn, pair.note+p.Text("init.value_likely", to)
		case unknown:
			open++
			pair.note += p.Text("init.value_unknown")
			if rule.Type == trade.Enum {
				pair.note += ": " + strings.Join(rule.Values, ", ")
			}
		}
		m.pairs = append(m.pairs, pair)
	}
	if same && known { // any other value is an error of its row, with or without a map
		return "", "", nil
	}
	p.job.maps = append(p.job.maps, m)
	if open > 0 {
		note = p.Text("init.map_open", open)
	}
	return m.name, note, nil
}

// parentField proposes the columns that hold the key of the parent's row, in the order of its key:
// columns of the same name, or else a column named after the contract.
func (p *proposer) parentField(rule trade.FieldRule) {
	parent := proposedJob{name: "contracts", key: []string{config.FillIn}}
	for _, j := range p.parents {
		if j.sends == trade.OrderCommitments {
			parent = j
		}
	}
	columns := parentColumns(p.survey, parent.key)
	f := proposedField{name: rule.Field, yaml: "{column: " + yamlList(columns) + ", sent_by: " + parent.name + "}"}
	if slices.Contains(columns, config.FillIn) {
		f.note = p.Text("init.no_parent")
		if !slices.Contains(parent.key, config.FillIn) {
			f.note = p.Text("init.parent_open", strings.Join(parent.key, ", "))
		}
		candidates, names := p.listed(rule)
		f.note += candidates
		p.job.offered = append(p.job.offered, names...)
	}
	p.job.fields = append(p.job.fields, f)
}

// contractNames are names of columns of a child that hold its contract.
var contractNames = []string{
	"contrato", "contrato_id", "num_contrato", "numero_contrato", "nr_contrato",
	"cod_contrato", "codctr", "contract", "contract_id",
}

// parentColumns returns the columns of a child that hold the parent's key, with FillIn for each
// part that none holds.
func parentColumns(s *survey, key []string) []string {
	out := make([]string, len(key))
	contract := s.named(contractNames, nil)
	used := false
	for i, name := range key {
		own := s.alike(name)
		isNumber := likeness(nameWords(name), numberNames) > 0 || slices.Contains(genericCode, plainWord(name))
		byID := func(name string) bool {
			words := nameWords(name)
			return len(words) > 0 && words[len(words)-1] == "id"
		}
		switch {
		// it refers to a column other than the key
		case isNumber && contract != nil && !used && byID(contract.name) && !byID(name):
			out[i], used = config.FillIn, true
		case isNumber && contract != nil && !used:
			out[i], used = contract.name, true
		case own != nil && !isNumber:
			out[i] = own.name
		default:
			out[i] = config.FillIn
		}
	}
	return out
}

func yamlList(items []string) string {
	if len(items) == 1 {
		return config.YAMLText(items[0])
	}
	return config.YAMLList(items)
}

// namesColumn reports whether the YAML of a field names a column.
func namesColumn(yaml, name string) bool {
	quoted := regexp.QuoteMeta(config.YAMLText(name))
	return regexp.MustCompile(fmt.Sprintf(`^%s$|column: %s[,}]|column: \[([^\]]*, )?%s[,\]]`, quoted, quoted,
		quoted)).MatchString(yaml)
}
