package cli

import (
	"fmt"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// LedgerFault says what is wrong with the ledger and what to do. What has no sentence in the
// person's language is told in English, as the log has it.
func (v Voice) LedgerFault(e *state.Error, err error) string {
	if v.Lang == trade.English || !i18n.CLI.Has(i18n.Key("ledger."+e.Code+".what")) {
		return err.Error()
	}
	return v.LedgerWhat(e) + ". " + v.LedgerHint(e)
}

// LedgerWhat says what is wrong.
func (v Voice) LedgerWhat(e *state.Error) string {
	key := i18n.Key("ledger." + e.Code)
	switch {
	case v.Lang == trade.English || !i18n.CLI.Has(key+".what"):
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	case e.Code == state.CodeRolledBack && e.Records == 0:
		key = "ledger.forgot"
	case e.Code == state.CodeRolledBack:
		return v.Text(key+".what", e.Path, e.Records, v.Moment(e.Since), e.Rows)
	case e.Code == state.CodeEmptied && e.Place != "":
		return v.Text("ledger.elsewhere.what", e.Path, e.Place, e.Rows)
	case e.Code == state.CodeEmptied:
		return v.Text(key+".what", e.Path, e.Rows)
	}
	return v.Text(key+".what", e.Path, e.Err)
}

// LedgerHint says what to do.
func (v Voice) LedgerHint(e *state.Error) string {
	key := i18n.Key("ledger." + e.Code + ".hint")
	if v.Lang == trade.English || !i18n.CLI.Has(key) {
		return e.Hint
	}
	if e.Place != "" {
		key = "ledger.elsewhere.hint"
	}
	return v.Text(key)
}
