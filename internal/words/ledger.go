package words

import (
	"errors"
	"fmt"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// LedgerFault returns what is wrong with the ledger and what to do.
func (v Voice) LedgerFault(e *state.Error, err error) string {
	if v.Lang == trade.English {
		return err.Error()
	}
	return strings.TrimSuffix(v.LedgerWhat(e)+". "+v.LedgerHint(e), ". ")
}

// LedgerWhat returns what is wrong with the ledger.
func (v Voice) LedgerWhat(e *state.Error) string {
	key := i18n.Key("ledger." + e.Code)
	switch {
	case v.Lang == trade.English:
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	case !i18n.CLI.Has(key + ".what"):
		key = "ledger.other"
	case errors.Is(e, trade.ErrWentBack):
		key = "ledger.back"
	case e.Code == state.CodeRolledBack && e.Records == 0:
		key = "ledger.forgot"
	case e.Code == state.CodeRolledBack:
		return v.Text(key+".what", e.Path, e.Records, v.Moment(e.Since), e.Rows)
	case e.Code == state.CodeEmptied && e.Place != "":
		return v.Text("ledger.elsewhere.what", e.Path, e.Place, e.Rows)
	case e.Code == state.CodeEmptied:
		return v.Text(key+".what", e.Path, e.Rows)
	}
	cause := e.Err
	if e.Op != "" {
		cause = errors.Unwrap(cause)
	}
	return v.Text(key+".what", e.Path, cause)
}

// LedgerHint returns what to do about it.
func (v Voice) LedgerHint(e *state.Error) string {
	key := i18n.Key("ledger." + e.Code + ".hint")
	told, known := i18n.Translate(v.Lang, e.Hint)
	// what to do depends on what was found
	if v.Lang == trade.English || !i18n.CLI.Has(key) || e.Code == state.CodeRolledBack && e.Records == 0 && known {
		return told
	}
	if e.Place != "" {
		key = "ledger.elsewhere.hint"
	}
	return v.Text(key)
}
