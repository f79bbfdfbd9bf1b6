package main

import (
	"fmt"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// ledgerFault says what is wrong with the ledger and what to do. What has no sentence in the
// person's language is told in English, as the log has it.
func (v voice) ledgerFault(e *state.Error, err error) string {
	if v.lang == trade.English || !i18n.CLI.Has(i18n.Key("ledger."+e.Code+".what")) {
		return err.Error()
	}
	return v.ledgerWhat(e) + ". " + v.ledgerHint(e)
}

// ledgerWhat says what is wrong.
func (v voice) ledgerWhat(e *state.Error) string {
	key := i18n.Key("ledger." + e.Code)
	switch {
	case v.lang == trade.English || !i18n.CLI.Has(key+".what"):
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	case e.Code == state.CodeRolledBack && e.Records == 0:
		key = "ledger.forgot"
	case e.Code == state.CodeRolledBack:
		return v.text(key+".what", e.Path, e.Records, v.moment(e.Since), e.Rows)
	case e.Code == state.CodeEmptied && e.Place != "":
		return v.text("ledger.elsewhere.what", e.Path, e.Place, e.Rows)
	case e.Code == state.CodeEmptied:
		return v.text(key+".what", e.Path, e.Rows)
	}
	return v.text(key+".what", e.Path, e.Err)
}

// ledgerHint says what to do.
func (v voice) ledgerHint(e *state.Error) string {
	key := i18n.Key("ledger." + e.Code + ".hint")
	if v.lang == trade.English || !i18n.CLI.Has(key) {
		return e.Hint
	}
	if e.Place != "" {
		key = "ledger.elsewhere.hint"
	}
	return v.text(key)
}
