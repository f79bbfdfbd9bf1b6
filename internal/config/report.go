package config

import (
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// ReportConfig is from what size on a difference appears in the report.
type ReportConfig struct {
	ToleranceContract ExactNumber `yaml:"tolerance_contract"` // of deliveries beyond a contract, in per cent
}

// ExactNumber is a decimal number from the file; it is not negative.
type ExactNumber struct{ trade.Decimal }

// Tolerance returns by how much figures may differ.
func (r ReportConfig) Tolerance() reconcile.Tolerance {
	t := reconcile.DefaultTolerance()
	t.Contract = r.ToleranceContract.Decimal
	return t
}

// Decode reads a decimal number with a point.
func (n *ExactNumber) Decode(d *Decoder, e Entry) {
	text, ok := d.word(e)
	if !ok {
		return
	}
	if !decimalNumber.MatchString(text) {
		d.Fault(e.Path, "must be a number in plain digits, as in 1 or 0.01")
		return
	}
	parsed, err := trade.ParseDecimal(text)
	if err != nil {
		d.Fault(e.Path, "%w", err)
		return
	}
	n.Decimal = parsed
}
