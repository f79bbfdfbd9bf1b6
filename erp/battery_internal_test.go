package erp

import (
	"strings"
	"testing"
)

// Queries that no live server executes here are at least checked to be queries that would be sent.
func TestEachEnginesBatteryIsOfQueriesThatOnlyRead(t *testing.T) {
	t.Parallel()
	for _, e := range engines {
		b := battery{Source: &Source{engine: e}}
		queries := map[string]string{"slow": b.slow(), "rows": b.digits(3, "t0.d AS k")}
		for _, l := range literals {
			literal := l.Literal
			if own, ok := e.Literals.Values[l.line]; ok {
				literal = own
			}
			if literal.SQL != "" {
				queries[l.line] = b.selects("1 AS k, " + literal.SQL + " AS v")
			}
		}
		for name := range e.Literals.Values {
			if _, ok := queries[name]; !ok && e.Literals.Values[name].SQL != "" {
				t.Errorf("%s: there is no line %q", e.Name, name)
			}
		}
		// A server that the stop does not reach must not work on it for days.
		if digits := 1 + strings.Count(queries["slow"], "CROSS JOIN"); digits > 10 {
			t.Errorf("%s: the slow query counts to 10^%d", e.Name, digits)
		}
		for line, sql := range queries {
			if err := CheckQuery(e.Name, sql); err != nil {
				t.Errorf("%s, %s: %v", e.Name, line, err)
			}
		}
	}
}
