package config

import (
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// ReportConfig says from when on a difference is told as one.
type ReportConfig struct {
	ToleranceKg       ExactNumber `yaml:"tolerance_kg"`       // of one row
	ToleranceValue    ExactNumber `yaml:"tolerance_value"`    // of one row, in its currency
	ToleranceContract ExactNumber `yaml:"tolerance_contract"` // of what was delivered beyond a contract, in per cent
}

// ExactNumber is a decimal number of the file, not below zero.
type ExactNumber struct{ trade.Decimal }

func defaultReport() ReportConfig {
	t := reconcile.DefaultTolerance()
	return ReportConfig{ExactNumber{t.Kilograms}, ExactNumber{t.Value}, ExactNumber{t.Contract}}
}

// Tolerance is by how much figures may differ.
func (r ReportConfig) Tolerance() reconcile.Tolerance {
	return reconcile.Tolerance{
		Kilograms: r.ToleranceKg.Decimal, Value: r.ToleranceValue.Decimal,
		Contract: r.ToleranceContract.Decimal,
	}
}

// Decode reads a number with a point.
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
		d.Fault(e.Path, err.Error())
		return
	}
	n.Decimal = parsed
}
