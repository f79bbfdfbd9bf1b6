package words

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// What the service manager shows of a ledger that cannot be used is in the reader's language, too.
func TestAFaultOfTheLedgerIsToldInOneLanguage(t *testing.T) {
	t.Parallel()
	v := Voice{Lang: trade.Portuguese}
	for text, e := range map[string]*state.Error{
		"é mais antigo que o seu diário": {
			Code: state.CodeRolledBack, Path: "/l", Records: 3, Err: errors.New("it is older than its journal"),
		},
		"o diário em /j, com 3 do que foi enviado, sumiu": {
			Code: "state-journal-lost", Path: "/l",
			Err: phrase.New("its journal in %s is gone, which has %s of what was sent", "/j", "3"),
		},
		"`safrasync run` já o usa, no processo 7": {
			Code: "state-served", Path: "/l", Err: phrase.New("`safrasync run` serves it already, as process %s", "7"),
		},
	} {
		told := v.Fault(fmt.Errorf("opening: %w", e))
		if !strings.Contains(told, text) || strings.Contains(told, "older") {
			t.Errorf("%s: %s", e.Code, told)
		}
	}
}
