// Documents of persons: a keyed hash stands for them before anything else happens.

package mapping

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// A document (CPF, CNPJ) that is looked up is personal: neither the ledger nor a log or a text for
// people has it. Each row's value is sealed before anything is done with it: a keyed hash stands
// for the number, which is read again from the ERP when the platform is to be asked.

// checkLookup checks how the keys of a field with a lookup go together.
func checkLookup(path string, rule trade.FieldRule, spec FieldSpec) error {
	switch {
	case spec.Lookup != trade.ProducerByDocument:
		return &SpecError{
			path + ".lookup",
			fmt.Sprintf("%q is nothing that can be looked up; there is %s", spec.Lookup, trade.ProducerByDocument),
		}
	case rule.Platform != "producers":
		return &SpecError{path + ".lookup", fmt.Sprintf("gives a producer, and %s is none", rule.Field)}
	case len(spec.Columns) != 1:
		return &SpecError{path, "a lookup needs one column, with the CPF or CNPJ"}
	case spec.Ref != "" || len(spec.Values) > 0 || spec.Date != "" || spec.Number != "" || spec.Scale != nil:
		return &SpecError{
			path,
			"has a lookup beside ref, values, date, number or scale; a document goes to the platform as it is",
		}
	}
	return nil
}

// checkLookups refuses a column that is looked up and read by something else too: what is sealed
// says nothing to others.
func (m *Mapping) checkLookups(spec JobSpec, path string) []error {
	var errs []error
	for _, f := range m.Lookups {
		column := f.Spec.Columns[0]
		for _, other := range m.Fields {
			if other.Rule.Field != f.Rule.Field &&
				slices.ContainsFunc(other.Spec.Columns, func(c string) bool { return strings.EqualFold(c, column) }) {
				errs = append(errs, &SpecError{
					path + "." + f.Rule.Field,
					fmt.Sprintf("column %s is read by %s too; select it twice, under two names", column,
						other.Rule.Field),
				})
			}
		}
		if spec.Cancelled != nil && strings.EqualFold(spec.Cancelled.Column, column) {
			errs = append(errs, &SpecError{
				path + "." + f.Rule.Field,
				fmt.Sprintf("column %s is that of cancelled too; select it twice, under two names", column),
			})
		}
	}
	return errs
}

// Seal returns the values with every document replaced by its code. What is sealed already stays.
func (e *Evaluator) Seal(values trade.Values) trade.Values {
	if len(e.Job.Mapping.Lookups) == 0 {
		return values
	}
	out := maps.Clone(values)
	for i := range e.Job.Mapping.Lookups {
		f := &e.Job.Mapping.Lookups[i]
		column := f.Spec.Columns[0]
		cell, ok := out[column]
		if !ok || cell.Kind == 0 || cell.Kind == sealed || cell.Kind == unreadable || cell.Kind == trade.Marked {
			continue
		}
		v := valueOf(cell)
		if text := PlainText(v); text == "" || f.isEmpty(v, text) {
			out[column] = trade.Cell{}
			continue
		}
		document, err := DocumentOf(v)
		if err != nil {
			// The reason goes with the hash of what was there, so that another wrong value is
			// another content.
			out[column] = trade.Cell{Kind: sealed, Text: e.Code(PlainText(v)) + " " + err.Error()}
			continue
		}
		out[column] = trade.Cell{Kind: sealed, Text: e.Code(document)}
	}
	return out
}

// SealCodes returns the references of a mapping case, in which the answers of the platform stand by
// the document itself, as a row can look them up.
func (e *Evaluator) SealCodes(refs Codes) Codes {
	answers, ok := refs[trade.ProducerByDocument]
	if !ok || len(e.Job.Mapping.Lookups) == 0 {
		return refs
	}
	out := maps.Clone(refs)
	out[trade.ProducerByDocument] = map[string]string{}
	for text, id := range answers {
		if document, _, err := apiclient.ParseDocument(text); err == nil {
			out[trade.ProducerByDocument][e.Code(document)] = id
		}
	}
	return out
}

// AnswersOf returns the answers that a row needs, by the document itself, for a mapping case.
func (e *Evaluator) AnswersOf(get ColumnsOf) map[string]string {
	out := map[string]string{}
	for _, f := range e.Job.Mapping.Lookups {
		v, ok := get(f.Spec.Columns[0])
		if !ok || v.Err != "" {
			continue
		}
		if document, err := DocumentOf(v); err == nil {
			if id, ok := e.Refs[f.Spec.Lookup][e.Code(document)]; ok {
				out[document] = id
			}
		}
	}
	return out
}

// codeLength is that of a code: half of a SHA-256 in hexadecimal digits.
const codeLength = 32

// Code is the keyed hash that stands for a document.
func (e *Evaluator) Code(document string) string {
	h := hmac.New(sha256.New, e.LookupKey)
	h.Write([]byte(document))
	return hex.EncodeToString(h.Sum(nil)[:codeLength/2])
}

// find looks a sealed document up among the answers of the platform.
func (f *fieldMapping) find(out trade.DraftField, text string,
	refs Codes,
) (trade.DraftField, *trade.Problem, *trade.Awaited) {
	if len(text) < codeLength {
		out.Origin.Value = ""
		return out, &trade.Problem{Rule: trade.RuleDocument}, nil
	}
	code, reason, wrong := strings.Cut(text, " ")
	out.Origin.Value = code
	if wrong {
		return out, &trade.Problem{Rule: trade.RuleDocument, Detail: reason}, nil
	}
	id, ok := refs[f.Spec.Lookup][code]
	if !ok {
		return out, nil, &trade.Awaited{Ref: f.Spec.Lookup, Code: code}
	}
	out.Text = id
	return out, nil, nil
}

var errNoWholeNumber = errors.New("is not text, and no whole number")

// DocumentOf reads a CPF or CNPJ from a value of the ERP, as it is sent. A numeric column has lost
// the zeros before the number; they come back where the check digits agree, first as a CPF, which a
// shorter number is far more likely to be. Text is taken as it is: no zeros are added, no letters
// taken away. The error does not show the value.
func DocumentOf(v erp.Value) (string, error) {
	text := PlainText(v)
	if !numeric(v.Kind) {
		if v.Kind != erp.Text {
			return "", errNoWholeNumber
		}
		document, _, err := apiclient.ParseDocument(text)
		return document, err
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.Trim(fraction, "0") != "" || strings.Trim(whole, "0123456789") != "" || whole == "" {
		return "", errNoWholeNumber
	}
	for _, length := range []int{11, 14} {
		if len(whole) > length {
			continue
		}
		if document, _, err := apiclient.ParseDocument(strings.Repeat("0", length-len(whole)) + whole); err == nil {
			return document, nil
		}
	}
	return "", errors.New("is a number that is neither a CPF nor a CNPJ, also with zeros before it")
}
