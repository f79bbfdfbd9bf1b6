package commands

import (
	"errors"
	"testing"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/trade"
)

func TestTheResultOfAPass(t *testing.T) {
	t.Parallel()
	stopped := trade.RunReport{Stopped: &trade.Stop{Code: "erp"}}
	invalid := trade.RunReport{States: map[trade.State]int{trade.Invalid: 1}}
	flagged := trade.RunReport{Flags: map[trade.Flag]int{trade.Changed: 1}}
	leased := &trade.LeasedError{Job: "contracts"}
	for name, c := range map[string]struct {
		reports []trade.RunReport
		err     error
		strict  bool
		want    int
	}{
		"done":                                    {[]trade.RunReport{{}}, nil, true, 0},
		"rows need attention":                     {[]trade.RunReport{invalid}, nil, false, 0},
		"rows need attention, strict":             {[]trade.RunReport{invalid}, nil, true, 3},
		"a flag needs attention, strict":          {[]trade.RunReport{flagged}, nil, true, 3},
		"a job stopped":                           {[]trade.RunReport{invalid, stopped}, nil, true, 1},
		"a job is leased":                         {nil, leased, false, 75},
		"one is leased, another needs attention":  {[]trade.RunReport{invalid}, leased, true, 75},
		"one is leased and another stopped":       {[]trade.RunReport{stopped}, leased, true, 1},
		"the ledger failed before the first word": {nil, errors.New("x"), true, 1},
	} {
		if got := cli.ExitCode(syncResult(c.reports, c.err, c.strict)); got != c.want {
			t.Errorf("%s: exit code %d, want %d", name, got, c.want)
		}
	}
}
