// Documents of persons: each is replaced by a keyed hash before anything else is done with it.

package mapping

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"strings"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// A document (CPF, CNPJ) that is looked up is personal data: it must not appear in the ledger, a
// log or a text for people. So each row's value is sealed before it is used: a keyed hash replaces
// the number, which is read again from the ERP when the platform is to be asked.

// Seal returns the values with every document replaced by its code. Values that are sealed already
// stay.
func (e *Evaluator) Seal(values trade.Values) trade.Values {
	if len(e.Job.Mapping.Lookups) == 0 {
		return values
	}
	out := maps.Clone(values)
	for i := range e.Job.Mapping.Lookups {
		f := &e.Job.Mapping.Lookups[i]
		column := f.Spec.Columns[0]
		cell, ok := out[column]
		if !ok || cell.Kind == 0 || cell.Kind == Sealed || cell.Kind == unreadable || cell.Kind == trade.Marked {
			continue
		}
		v := valueOf(cell)
		if text := PlainText(v); text == "" || f.isEmpty(v, text) {
			out[column] = trade.Cell{}
			continue
		}
		document, err := DocumentOf(v)
		if err != nil {
			// The reason is stored with the hash of the wrong value, so that another wrong value is
			// another content.
			out[column] = trade.Cell{Kind: Sealed, Text: e.Code(PlainText(v)) + " " + err.Error()}
			continue
		}
		out[column] = trade.Cell{Kind: Sealed, Text: e.Code(document)}
	}
	return out
}

// SealCodes returns the references of a mapping case with codes in place of documents in the
// platform's answers, so that a row can look them up. What is a code already stays.
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
		} else if len(text) == CodeLength {
			out[trade.ProducerByDocument][text] = id
		}
	}
	return out
}

// AnswersOf returns, for a mapping case, the platform's answers that a row needs, by document.
func (e *Evaluator) AnswersOf(get ColumnsOf) map[string]string {
	out := map[string]string{}
	for _, f := range e.Job.Mapping.Lookups {
		v, ok := get(f.Spec.Columns[0])
		if !ok || v.Err != "" {
			continue
		}
		if id, ok := e.Refs[f.Spec.Lookup][v.Text]; ok { // the ledger has nothing but the code
			out[v.Text] = id
		} else if document, err := DocumentOf(v); err == nil {
			if id, ok := e.Refs[f.Spec.Lookup][e.Code(document)]; ok {
				out[document] = id
			}
		}
	}
	return out
}

// CodeLength is the length of a code: half of a SHA-256 in hexadecimal digits.
const CodeLength = 32

// Code returns the keyed hash that replaces a document.
func (e *Evaluator) Code(document string) string {
	h := hmac.New(sha256.New, e.LookupKey)
	h.Write([]byte(document))
	return hex.EncodeToString(h.Sum(nil)[:CodeLength/2])
}

var errNoWholeNumber = errors.New("is not text, and no whole number")

// DocumentOf returns the CPF or CNPJ in a value of the ERP, in the form in which it is sent. A
// numeric column has lost its leading zeros; they are restored if the check digits then match,
// first as a CPF, which a shorter number is far more likely to be. Text is taken as it is: no zeros
// are added and no letters removed. The error does not contain the value.
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
