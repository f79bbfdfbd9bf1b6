package office

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/sync/pending"
	"github.com/safrasync/safrasync/trade"
)

// How long the words about an owner may be, in characters, and how far its day may lie ahead.
const (
	ownerMost = 60
	noteMost  = 200
	quietMost = 366 * 24 * time.Hour
)

// Owning is that somebody takes care of a cause. An empty Owner ends that.
type Owning struct {
	Key   string // of the cause
	Owner string
	Note  string
	Until trade.Date // nobody is reminded before that day; zero: all the time
	Seen  time.Time  // when somebody took the cause, as the person saw it; zero: nobody had
}

// OwnerKey returns the key under which the ledger has who takes care of a cause. The key of a cause
// may hold a text of the ERP.
func OwnerKey(cause string) string {
	sum := sha256.Sum256([]byte(cause))
	return hex.EncodeToString(sum[:12])
}

// OwnCause stores who takes care of a cause that keeps rows from going. It returns trade.ErrRole if
// the person may not decide, trade.ErrNobody if there is no such cause, and the key of a phrase for
// what is wrong with the words.
func (o *Office) OwnCause(ctx context.Context, ask Owning, lang trade.Lang, who trade.Person,
) (fault string, err error) {
	if err := mayRole(who, trade.Accountant); err != nil {
		return "", err
	}
	own := trade.CauseOwner{
		Key: OwnerKey(ask.Key), Owner: trade.MaskDocuments(strings.TrimSpace(ask.Owner)),
		Note: trade.MaskDocuments(strings.TrimSpace(ask.Note)), Rows: map[string]int{},
	}
	now := o.now()
	if !ask.Until.IsZero() {
		own.Until = ask.Until.In(o.conf.Zone())
	}
	switch {
	case own.Owner == "":
		own.Note, own.Until = "", time.Time{}
	case utf8.RuneCountInString(own.Owner) > ownerMost || utf8.RuneCountInString(own.Note) > noteMost:
		return "owner.too_long", nil
	case !own.Until.IsZero() && (!own.Until.After(now) || own.Until.Sub(now) > quietMost):
		return "The day must come after today, and within a year.", nil
	}
	stuck, err := o.Stuck(ctx, lang, true)
	if err != nil {
		return "", err
	}
	owners, err := o.store.CauseOwners(ctx)
	if err != nil {
		return "", err
	}
	before := owners[own.Key]
	i := slices.IndexFunc(stuck.Causes, func(c Cause) bool { return c.Key == ask.Key })
	switch {
	case i < 0 && (own.Owner != "" || before.Owner == ""):
		return "", trade.ErrNobody
	case !before.At.Equal(ask.Seen):
		return "owner.moved", nil
	}
	act := "cause leave"
	if own.Owner != "" {
		act = "cause own"
	}
	own.Cause = before.Cause
	if i >= 0 {
		own.Cause, own.Rows = stuck.Causes[i].Cause, rowsOf(&stuck.Causes[i].Group)
	}
	record, err := who.Record(now, act, own.Cause, map[string]any{
		"owner": own.Owner, "note": own.Note, "until": ask.Until, "rows": own.Rows,
	})
	if err != nil {
		return "", err
	}
	return "", o.store.OwnCause(ctx, own, record)
}

// rowsOf returns how many rows of each job have a cause themselves.
func rowsOf(g *pending.Group) map[string]int {
	out := map[string]int{}
	for _, p := range g.Own {
		out[p.Job] += p.Rows
	}
	return out
}

// CauseOwner returns to whom a record of the audit gave a cause, and until when people are not reminded of it;
// "" = to nobody.
func CauseOwner(r trade.AuditRecord) (owner string, until trade.Date) {
	var detail struct {
		Owner string
		Until trade.Date
	}
	if r.Act != "cause own" || json.Unmarshal([]byte(r.Detail), &detail) != nil {
		return "", until
	}
	return detail.Owner, detail.Until
}
