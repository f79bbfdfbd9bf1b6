package words

import (
	"errors"
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
	key := "ledger." + e.Code
	switch {
	case v.Lang == trade.English:
		return e.Path + ": " + e.What()
	case !i18n.CLI.Has(key + ".what"):
		key = "ledger.other"
	case errors.Is(e, trade.ErrWentBack):
		key = "ledger.back"
	case e.Code == state.CodeRolledBack && e.Records == 0:
		key = "ledger.forgot"
	case e.Code == state.CodeRolledBack:
		return v.Text(key+".what", e.Path, e.Records, v.Moment(e.Since), e.Rows)
	case e.Code == state.CodeEmptied && e.Place != "":
		return v.Text("the ledger %s is new, but the journal in this folder, of the ledger that was at %s, records %d {row|rows} as sent", e.Path, e.Place, e.Rows)
	case e.Code == state.CodeEmptied:
		return v.Text(key+".what", e.Path, e.Rows)
	}
	return v.Text(key+".what", e.Path, i18n.Cause(v.Lang, e.Err))
}

// LedgerHint returns what to do about it.
func (v Voice) LedgerHint(e *state.Error) string { return i18n.ErrorText(v.Lang, e.Hint) }
