package config

import (
	"time"

	"github.com/safrasync/safrasync/sync/acts"
)

// ApproveConfig is, for each act, how many people must agree to it, including who orders it.
type ApproveConfig struct {
	Retry       int           `yaml:"retry"`
	Resend      int           `yaml:"resend"`
	Adopt       int           `yaml:"adopt"`
	Dismiss     int           `yaml:"dismiss"`
	Reopen      int           `yaml:"reopen"`
	Acknowledge int           `yaml:"acknowledge"`
	Resync      int           `yaml:"resync"`
	Release     int           `yaml:"release"`
	Close       int           `yaml:"close"`
	Above       ExactNumber   `yaml:"above"` // R$; 0 = whatever the amount
	Lapse       time.Duration `yaml:"lapse"`
}

// peopleMost is the largest number of people that an act may need.
const peopleMost = 5

func (a ApproveConfig) people() map[string]int {
	return map[string]int{
		"retry": a.Retry, "resend": a.Resend, "adopt": a.Adopt, "dismiss": a.Dismiss, "reopen": a.Reopen,
		"acknowledge": a.Acknowledge, acts.ActResync: a.Resync, acts.ActRelease: a.Release,
		acts.ActClose: a.Close,
	}
}

// Rules returns the rules of approval in the engine's form.
func (a ApproveConfig) Rules() acts.Rules {
	return acts.Rules{People: a.people(), Above: a.Above.Decimal, Lapses: a.Lapse}
}
