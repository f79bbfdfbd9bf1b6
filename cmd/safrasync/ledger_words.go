package main

import (
	"fmt"

	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// ledgerFault says what is wrong with the ledger and what to do. What has no sentence in the person's language is told in English, as the log has it.
func (v voice) ledgerFault(e *state.Error, err error) string {
	if _, ok := ledgerFaults[e.Code]; !ok || v.lang == trade.English {
		return err.Error()
	}
	return v.ledgerWhat(e) + ". " + v.ledgerHint(e)
}

// ledgerWhat says what is wrong.
func (v voice) ledgerWhat(e *state.Error) string {
	p, ok := ledgerFaults[e.Code]
	switch {
	case !ok || v.lang == trade.English:
		return fmt.Sprintf("%s: %v", e.Path, e.Err)
	case e.Code == state.CodeRolledBack && e.Records == 0:
		p = ledgerForgot
	case e.Code == state.CodeRolledBack:
		return v.text(p.what, e.Path, e.Records, v.moment(e.Since), e.Rows)
	case e.Code == state.CodeEmptied && e.Place != "":
		return v.text(ledgerElsewhere.what, e.Path, e.Place, e.Rows)
	case e.Code == state.CodeEmptied:
		return v.text(p.what, e.Path, e.Rows)
	}
	return v.text(p.what, e.Path, e.Err)
}

// ledgerHint says what to do.
func (v voice) ledgerHint(e *state.Error) string {
	p, ok := ledgerFaults[e.Code]
	if !ok || v.lang == trade.English {
		return e.Hint
	}
	if e.Place != "" {
		p = ledgerElsewhere
	}
	return v.text(p.hint)
}
