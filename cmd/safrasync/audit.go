package main

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/trade"
)

// auditShown is how many records people are shown without --limit; JSON is complete.
const auditShown = 50

func newAuditCommand(a *App) *cobra.Command {
	group := a.group("audit", "help.audit")
	var limit int
	list := a.command("list", "help.audit_list", exactly(0), func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("limit") && !a.asJSON {
			limit = auditShown
		}
		if limit < 0 {
			return a.usage("says.limit")
		}
		return a.listAudit(cmd.Context(), limit)
	})
	list.Flags().IntVar(&limit, "limit", 0, "the latest `N` records, 0 = all; default 50, with --json all")
	verify := a.command("verify", "help.audit_verify", exactly(0),
		func(cmd *cobra.Command, _ []string) error { return a.verifyAudit(cmd.Context()) })
	group.AddCommand(list, verify)
	return group
}

// auditJSON is one line of `audit list --json`.
type auditJSON struct {
	Seq    int64           `json:"seq"`
	At     time.Time       `json:"at"`
	Who    string          `json:"who"`
	From   string          `json:"from"`
	Act    string          `json:"act"`
	Target string          `json:"target"`
	Reason string          `json:"reason"`
	Detail json.RawMessage `json:"detail"` // before and after
	Prev   string          `json:"prev"`   // hash of the record before; "" for the first
	Hash   string          `json:"hash"`

	Reduced bool `json:"reduced"` // who, from, target, reason and detail are no longer kept
}

func auditOf(r trade.AuditRecord) auditJSON {
	detail := json.RawMessage(r.Detail)
	if !json.Valid(detail) {
		detail = json.RawMessage("null")
	}
	return auditJSON{r.Seq, r.At, r.Who, r.From, r.Act, r.Target, r.Reason, detail, r.Prev, r.Hash, r.Reduced}
}

// listAudit lists the latest acts, the oldest of them first.
func (a *App) listAudit(ctx context.Context, limit int) error {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	records, err := store.Audit(ctx, limit)
	if err != nil {
		return err
	}
	slices.Reverse(records)
	if a.asJSON {
		for _, r := range records {
			if err := a.printJSON(auditOf(r)); err != nil {
				return err
			}
		}
		return nil
	}
	t, v := a.newTable("audit.head_no", "audit.head_at", "audit.head_who", "audit.head_from", "audit.head_act",
		"audit.head_target", "audit.head_reason"), a.voice()
	for _, r := range records {
		t.AppendRow(table.Row{
			r.Seq, v.moment(r.At), printable(r.Who), printable(r.From), r.Act, printable(r.Target),
			printable(r.Reason),
		})
	}
	t.Render()
	return nil
}

// verifyAudit tells whether the audit is as it was written.
func (a *App) verifyAudit(ctx context.Context) error {
	store, err := a.openLedger(ctx, toRead)
	if err != nil {
		return err
	}
	broken, err := store.VerifyAudit(ctx)
	if err != nil {
		return err
	}
	if a.asJSON {
		err = a.printJSON(struct {
			OK          bool  `json:"ok"`
			FirstBroken int64 `json:"first_broken"` // 0 when everything is as it was written
		}{broken == 0, broken})
	} else if broken == 0 {
		a.show("audit.whole")
	} else {
		a.show("audit.broken", broken)
	}
	if err == nil && broken != 0 {
		return &exitError{exitFailed}
	}
	return err
}
