// The cause of a row, as far as causes need different actions.

package pending

import (
	"cmp"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// CauseOf returns a key that is different for causes that need different actions: a missing price
// is not a price below zero. A rejected row and those that wait for the same record are one task.
// problem is the first problem of an invalid row, else nil.
func CauseOf(e trade.Entry) (key string, problem *trade.Problem) {
	if e.State == trade.Invalid && e.Error != nil {
		for _, p := range e.Error.Fields {
			if p.Severity != trade.Warning {
				if p.Rule == trade.RuleDeclared {
					return strings.TrimSpace(e.Cause + " " + string(p.Detail)), &p
				}
				// Without its numbers, such as a position in a text, so that only another reason makes another group.
				detail := strings.Map(func(r rune) rune {
					if '0' <= r && r <= '9' {
						return -1
					}
					return r
				}, string(p.Detail))
				return strings.TrimSpace(e.Cause + " " + p.Rule + " " + detail), &p
			}
		}
	}
	if e.Cause == "" {
		return string(e.State), nil
	}
	if parent := ParentOf(e); parent != nil { // the parent must be cured
		return strings.TrimSpace(e.Cause + " " + cmp.Or(parent.ParentCause, string(parent.ParentState))), nil
	}
	return e.Cause, nil
}

// ParentOf returns the parent for which a row waits, if only parents keep it from going; else nil.
func ParentOf(e trade.Entry) *trade.Awaited {
	if e.State != trade.Waiting || e.Cause != trade.CauseParent {
		return nil
	}
	for _, a := range e.WaitingFor {
		if a.Job != "" {
			return &a
		}
	}
	return nil
}

// messageFields are the fields that the platform's refusals are about (chapter 4 rule 2), used to
// show the ERP's code instead of the platform's id.
var messageFields = map[string][]string{
	"message.wallet.not-found":           {"wallet_id"},
	"message.wallet.producer-not-linked": {"producer_id", "wallet_id"},
	"message.producer.not-found":         {"producer_id"},
	"message.delivery-place.not-found":   {"delivery_place_id"},
	"message.user.not-found":             {"issuer_id", "user_id"},
	"message.farm.not-found":             {"farm_id"},
}

// subjectOf returns the code or value of the ERP that is to blame; "" if it is the row itself.
func subjectOf(e trade.Entry, problem *trade.Problem, spec mapping.JobSpec) string {
	switch {
	case problem != nil && (problem.Rule == trade.RuleUnmapped || problem.Rule == trade.RuleOneOf):
		return problem.Value
	case problem != nil:
		return ""
	}
	for _, a := range e.WaitingFor { // the one that the cause names, of all that is awaited
		switch {
		case a.Ref == trade.ProducerByDocument: // its code is a hash, which means nothing to people
		case a.Ref != "" && e.Cause == "ref:"+a.Ref:
			return a.Code
		case a.Job != "" && e.Cause == trade.CauseParent:
			return a.Key
		}
	}
	var parts []string
	for _, field := range messageFields[e.Cause] {
		if text := erpText(e, spec, field); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " – ")
}

// erpText returns what the ERP has in the columns of a field; "" for a document, of which the
// ledger has only a hash.
func erpText(e trade.Entry, spec mapping.JobSpec, field string) string {
	if spec.Fields[field].Lookup != "" {
		return ""
	}
	var parts []string
	for _, column := range spec.Fields[field].Columns {
		text, constant := mapping.ConstOf(column)
		if !constant {
			v, _ := mapping.ColumnsIn(e.NewestValues())(column)
			text = strings.TrimSpace(v.Text)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "|")
}

// productOf returns the platform's name of a row's product if the value map has one, else what the
// ERP has; "" if the record has no product.
func productOf(e trade.Entry, spec mapping.JobSpec) string {
	text := erpText(e, spec, "product")
	for from, to := range spec.Fields["product"].Values {
		if strings.EqualFold(from, text) {
			return to
		}
	}
	if c := spec.Fields["product"].Const; c != nil {
		return *c
	}
	return text
}

// Fixes reports whether a contract with some fields sets the price of grain that belongs to another
// record.
func Fixes(fields map[string]mapping.RowField) bool {
	of := trade.OrderType(fields["order_type"].Text)
	return of == trade.FixacaoCompra || of == trade.FixacaoDeposito
}
