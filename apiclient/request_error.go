package apiclient

import (
	"fmt"
	"strings"
)

// RequestError is why a request was refused unsent: everything that is wrong with it at once. It is what Encode and Check
// return, and with errors.As it is found in the *Error of a call.
type RequestError struct {
	// Faults holds at least one fault, in the order of the fields.
	Faults []FieldFault
}

// Error returns all faults in one line. It names fields, never values.
func (e *RequestError) Error() string {
	texts := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		texts[i] = f.String()
	}
	return strings.Join(texts, "; ")
}

// FieldFault is one field of a request that cannot be sent. It never holds the value.
type FieldFault struct {
	// Field is the name in the document, such as "hmac_secret" (chapter 2).
	Field string
	// Problem is what is wrong.
	Problem Problem
	// Limit is how many characters the platform takes, with ProblemTooLong (chapter 8); otherwise 0.
	Limit int
	text  string
}

// String returns the field and what is wrong with it, in English.
func (f FieldFault) String() string { return f.Field + " " + f.text }

// Problem is a kind of [FieldFault].
type Problem string

// The problems.
const (
	// ProblemMissing: a field that chapter 2 requires is empty.
	ProblemMissing Problem = "missing"
	// ProblemEntry: a list has an empty entry.
	ProblemEntry Problem = "entry"
	// ProblemEncoding: the text is not UTF-8.
	ProblemEncoding Problem = "encoding"
	// ProblemNumber: the text is no plain decimal number.
	ProblemNumber Problem = "number"
	// ProblemTooLong: more characters than chapter 8 allows.
	ProblemTooLong Problem = "too_long"
	// ProblemDocument: the text is no CPF or CNPJ.
	ProblemDocument Problem = "document"
	// ProblemMonths: the text is no number of months (chapter 2.6).
	ProblemMonths Problem = "months"
	// ProblemCredentials: the text is not user:password (chapter 2.7).
	ProblemCredentials Problem = "credentials"
)

// inspection collects what is wrong with a request before it is sent, all of it at once. Its texts name fields, never
// values.
type inspection struct{ faults []FieldFault }

func (in *inspection) fault(field string, problem Problem, format string, args ...any) {
	in.faults = append(in.faults, FieldFault{Field: field, Problem: problem, text: fmt.Sprintf(format, args...)})
}

// err returns all faults as a *RequestError, nil when there are none.
func (in *inspection) err() error {
	if len(in.faults) == 0 {
		return nil
	}
	return &RequestError{in.faults}
}
