package erptest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/erp/dialect"
)

// Conversion is what becomes of a value that a driver gives for a column of a type.
type Conversion = struct {
	Type string
	Raw  any
	Want dialect.Value
}

// Converts compares the values that a dialect makes.
func Converts(t *testing.T, d dialect.Dialect, conversions []Conversion) {
	t.Helper()
	for _, c := range conversions {
		got := d.Item(dialect.Column{Name: "x", Type: c.Type}, dialect.ForMapping).Convert(c.Raw)
		if got != c.Want {
			t.Errorf("%s %v = %+v, want %+v", c.Type, c.Raw, got, c.Want)
		}
	}
}

// Naming is what an error of a driver is called, with a word of what people are told.
type Naming = struct {
	Err  error
	Code erp.Code
	Word string
}

// Names compares what a dialect calls the errors of its driver. None of them may show "segredo".
func Names(t *testing.T, d dialect.Dialect, errors []Naming) {
	t.Helper()
	for _, c := range errors {
		err := d.Problem(fmt.Errorf("driver: %w", c.Err), "")
		if err.Code != c.Code || !strings.Contains(err.Error(), c.Word) || strings.Contains(err.Error(), "segredo") {
			t.Errorf("%v is called %s: %v, want %s with %q", c.Err, err.Code, err, c.Code, c.Word)
		}
	}
}

// Addresses compares the targets of right addresses, and looks in the errors of wrong ones for a word.
// None of them may show "segredo".
func Addresses(t *testing.T, e *dialect.Engine, right, wrong map[string]string) {
	t.Helper()
	options := func(dsn string) dialect.SourceOptions {
		return dialect.SourceOptions{DSN: dialect.Secret(dsn)}.WithDefaults()
	}
	for dsn, target := range right {
		opened, err := e.Open(options(dsn), dialect.Charset{})
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		if opened.Target != target {
			t.Errorf("%s is %s, want %s", dsn, opened.Target, target)
		}
		if err := opened.DB.Close(); err != nil {
			t.Error(err)
		}
	}
	for dsn, word := range wrong {
		_, err := e.Open(options(dsn), dialect.Charset{})
		if err == nil || !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "segredo") {
			t.Errorf("%s: %v, want %q", dsn, err, word)
		}
	}
}
