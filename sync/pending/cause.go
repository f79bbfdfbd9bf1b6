// The cause of a row, as far as causes ask for different acts.

package pending

import (
	"cmp"
	"strings"

	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// CauseOf tells causes apart that ask for different acts: a price that is missing is not a price
// below zero. A rejected row and those that wait for the same record are one task. The problem is
// that of an invalid row.
func CauseOf(e trade.Entry) (key string, problem *trade.Problem) {
	if e.State == trade.Invalid && e.Error != nil {
		for _, p := range e.Error.Fields {
			if p.Severity != trade.Warning {
				return e.Cause + " " + p.Rule, &p
			}
		}
	}
	if e.Cause == "" {
		return string(e.State), nil
	}
	if parent := ParentOf(e); parent != nil { // the cure is the parent's
		return e.Cause + " " + cmp.Or(parent.ParentCause, string(parent.ParentState)), nil
	}
	return e.Cause, nil
}

// ParentOf is the parent that a row waits for, when that is all that keeps it; else nil.
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

// messageFields are the fields that the platform's refusals speak of (chapter 4 rule 2), to show
// the ERP's code instead of the platform's id.
var messageFields = map[string][]string{
	"message.wallet.not-found":           {"wallet_id"},
	"message.wallet.producer-not-linked": {"producer_id", "wallet_id"},
	"message.producer.not-found":         {"producer_id"},
	"message.delivery-place.not-found":   {"delivery_place_id"},
	"message.user.not-found":             {"issuer_id", "user_id"},
	"message.farm.not-found":             {"farm_id"},
}

// SubjectOf names what is to blame in the ERP's own words, "" when it is the row itself.
func SubjectOf(e trade.Entry, problem *trade.Problem, spec mapping.JobSpec) string {
	switch {
	case problem != nil && (problem.Rule == trade.RuleUnmapped || problem.Rule == trade.RuleOneOf):
		return problem.Value
	case problem != nil:
		return ""
	}
	for _, a := range e.WaitingFor { // what the cause names, among all that is awaited
		switch {
		case a.Ref == trade.ProducerByDocument: // its code is a hash, which tells people nothing
		case a.Ref != "" && e.Cause == "ref:"+a.Ref:
			return a.Code
		case a.Job != "" && e.Cause == trade.CauseParent:
			return a.Key
		}
	}
	var parts []string
	for _, field := range messageFields[e.Cause] {
		if text := ERPText(e, spec, field); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " – ")
}

// ERPText is what the ERP has in the columns of a field; "" for a document, of which the ledger has
// a hash only.
func ERPText(e trade.Entry, spec mapping.JobSpec, field string) string {
	if spec.Fields[field].Lookup != "" {
		return ""
	}
	var parts []string
	for _, column := range spec.Fields[field].Columns {
		parts = append(parts, strings.TrimSpace(e.Values[column].Text))
	}
	return strings.Join(parts, "|")
}

// ProductOf is the platform's name of a row's product where the map has one, else what the ERP has;
// "" where its record has none.
func ProductOf(e trade.Entry, spec mapping.JobSpec) string {
	text := ERPText(e, spec, "product")
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
