package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	leased := fmt.Errorf("x: %w", &trade.LeasedError{Job: "contracts"})
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"nothing is wrong":                          {nil, 0},
		"everything else":                           {errors.New("x"), 1},
		"wrong usage":                               {&UsageError{"x"}, 2},
		"said already":                              {&ExitError{ExitAttention}, 3},
		"another process runs it":                   {leased, 75},
		"a stop weighs more than a leased job":      {errors.Join(&ExitError{ExitFailed}, leased), 1},
		"the configuration":                         {fmt.Errorf("x: %w", &config.Error{}), 78},
		"a fault that only the engine finds":        {&mapping.SpecError{}, 78},
		"a ledger that the configuration has wrong": {&state.Error{Code: state.CodeConfig, Err: errors.New("x")}, 78},
		"a ledger that is locked":                   {&state.Error{Code: state.CodeLocked, Err: errors.New("x")}, 1},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%s: exitCode(%v) = %d, want %d", name, c.err, got, c.want)
		}
	}
}
