package state

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// RebindPlan describes what a person confirms: that a ledger belongs to another API address, or is
// on another server.
type RebindPlan struct {
	Ledger   string      `json:"ledger"`
	Platform *RebindPart `json:"platform"` // null if the address is unchanged
	Server   *RebindPart `json:"server"`   // null if the server is unchanged
	// what this host has confirmed and the ledger lacks; "" if nothing shows that it went back
	Back *phrase.Text `json:"back"`
	// the hosts were asked to report, and nothing is sent until the ledger is confirmed
	Asked    bool `json:"asked"`
	Accepted int  `json:"accepted"` // rows that the platform has
	Doubts   int  `json:"in_doubt"` // rows that the platform may have
	// what this host's journal has that the ledger lacks; "" if nothing
	Journal string `json:"journal"`
	// the ledger's other journals, to be compared on their hosts
	Hosts []RebindHost `json:"hosts"`
	// who switched the old server off, and how, as the person said; "" if nothing was said
	OldServerOff string `json:"old_server_off,omitempty"`
}

// RebindPart is one thing that changes.
type RebindPart struct {
	Was string `json:"was"`
	Is  string `json:"is"`
}

// RebindHost is a journal that can be compared only on its own host.
type RebindHost struct {
	Host    string    `json:"host"`
	Path    string    `json:"path"`
	Records int64     `json:"records"` // how many of its records the ledger has
	Last    time.Time `json:"last"`
	// since the hosts were asked the ledger had everything in it, as its host has reported
	Reported bool `json:"reported"`
	Gone     bool `json:"gone"` // the person says that the host is gone for ever
	// of a host that is gone: what the server answers from which it worked last
	Server *phrase.Text `json:"server,omitempty"`
}

// RebindOrder is what a person confirms.
type RebindOrder struct {
	Platform string   // the configured address; "" = as it is
	Gone     []string // hosts that are gone for ever, with their journals
	// who switched the old server off, and how: without it no host counts as gone, because one that is
	// not would go on sending from that server
	OldServerOff string
	Apply        bool // if false, Rebind changes nothing
}

// Rebind binds a ledger to the configured address and to the server that it is on. A person thereby
// confirms that it is the same platform, and that no other server with the ledger is in use. It
// refuses a ledger that lacks records of this host's journal, or whose other hosts have not reported
// since they were asked. For another address it refuses a ledger that is in use.
func Rebind(ctx context.Context, o sqldb.OpenOptions, order RebindOrder,
	record trade.AuditRecord,
) (plan RebindPlan, err error) {
	const op = "confirming what the ledger belongs to"
	s, err := openToMend(ctx, o)
	if err != nil {
		return plan, err
	}
	r := &rebinding{Store: s, options: o, RebindOrder: order}
	err = r.askOld(ctx, op)
	if err == nil && order.Apply {
		err = s.db.InTx(ctx, op, r.ask)
	}
	if err == nil {
		err = s.planned(ctx, op, order.Apply, r.lookWithout, func(t *sqldb.Tx) error {
			err := r.confirm(t)
			if err == nil {
				_, err = addPlan(t, record, &r.plan)
			}
			return err
		})
	}
	err = errors.Join(err, s.Close())
	if err != nil || !order.Apply {
		return r.plan, err
	}
	// Open it in the normal way: this records the change in its journal and runs the usual checks.
	s, err = Open(ctx, o)
	if err != nil {
		return r.plan, err
	}
	return r.plan, s.Close()
}

// rebinding is one rebind.
type rebinding struct {
	*Store
	RebindOrder
	options sqldb.OpenOptions
	old     map[string]*phrase.Text // by journal: what the server answers from which its host worked last
	// what the ledger and this host's journal had when it was last looked at
	plan  RebindPlan
	now   sqldb.LedgerState
	had   sqldb.Confirmed
	ours  string // the id of this host's journal; "" if it has none
	lacks error  // what the ledger lacks of it
}

// askOld asks the servers from which the hosts that are gone worked last. It waits for them, so it is
// outside a transaction.
func (r *rebinding) askOld(ctx context.Context, op string) error {
	var hosts []struct{ ID, Host, Server string }
	if err := r.db.All(ctx, op, &hosts, `SELECT id, host, server FROM journal WHERE retired_at IS NULL`); err != nil {
		return err
	}
	r.old = map[string]*phrase.Text{}
	for _, h := range hosts {
		if r.db.D.Name != sqldb.Postgres || !slices.Contains(r.Gone, h.Host) {
			continue
		}
		answer, err := r.db.AskOld(ctx, r.options, h.Host, h.Server)
		if err != nil {
			return err
		}
		r.old[h.ID] = answer
	}
	return nil
}

// ask asks the hosts to report if there is something to confirm about the server, and reports for
// this one.
func (r *rebinding) ask(t *sqldb.Tx) error {
	if err := r.look(t); err != nil {
		return err
	}
	if reason, _ := r.db.ReasonOf(r.had, r.now); reason == "" && r.now.Asked == "" {
		return nil
	}
	err := reportSeen(t, r.ours, r.had, &r.now)
	t.Note = nil // opening it afterwards writes what was confirmed to the journal
	return err
}

// look locks what a process that takes a lease locks, in its order, compares the ledger with this
// host's journal, as opening it does, and makes the plan. Hosts that are gone are not missed.
func (r *rebinding) look(t *sqldb.Tx) error {
	for _, lock := range []string{"job_lease", "ledger"} {
		if err := t.All(&[]int64{}, t.S.D.Locked(`SELECT 1 FROM `+lock, lock)); err != nil {
			return err
		}
	}
	var was string
	if err := t.Get(&was, `SELECT platform FROM ledger`); err != nil {
		return err
	}
	now, err := t.State()
	if err != nil {
		return err
	}
	r.now, r.had, r.ours, r.lacks = now, sqldb.Confirmed{}, "", nil
	r.plan = RebindPlan{
		Ledger: r.db.ID, Asked: now.Asked != "", Hosts: []RebindHost{}, Back: phrase.Fixed(""),
		OldServerOff: r.OldServerOff,
	}
	dir := ""
	if r.options.Journal != "" {
		parent, err := filepath.Abs(r.options.Journal)
		if err != nil {
			return err
		}
		dir = r.journalDir(parent)
		v, err := r.readAndCheckLocked(t, dir, r.Gone)
		r.had.Term = v.Compare.Term
		switch {
		case errors.As(err, new(*sqldb.Error)):
			r.lacks, r.plan.Journal = err, err.Error()
		case err != nil:
			return err
		case !v.Fresh:
			r.ours = v.Compare.End.Header.Journal
		}
	}
	if was != r.RebindOrder.Platform && r.RebindOrder.Platform != "" {
		r.plan.Platform = &RebindPart{Was: was, Is: r.RebindOrder.Platform}
	}
	switch reason, err := r.db.ReasonOf(r.had, now); {
	case reason == sqldb.WentBack:
		r.plan.Back = phrase.New("%w", errors.Unwrap(err))
	case reason != "":
		r.plan.Server = &RebindPart{Was: sqldb.ServerText(now.Recorded), Is: sqldb.ServerText(now.Server)}
	}
	r.plan.Accepted, r.plan.Doubts, err = countSent(t.Ctx, t)
	if err != nil {
		return err
	}
	rows, err := sqldb.JournalRows(t, false)
	if err != nil {
		return err
	}
	silent, err := t.Silent(now)
	if err != nil {
		return err
	}
	host, _, _ := sqldb.HostIdentity()
	for _, j := range rows { // of the other hosts
		if !j.RetiredAt.Valid && (j.Host != host || j.Path != dir) {
			r.plan.Hosts = append(r.plan.Hosts, RebindHost{
				Host: j.Host, Path: j.Path, Records: j.Seq, Last: time.UnixMilli(j.At).UTC(),
				Reported: r.plan.Asked && !slices.ContainsFunc(silent, func(s sqldb.JournalRow) bool {
					return s.ID == j.ID
				}),
				Gone:   slices.Contains(r.Gone, j.Host),
				Server: r.old[j.ID],
			})
		}
	}
	slices.SortFunc(r.plan.Hosts, func(a, b RebindHost) int { return a.Last.Compare(b.Last) })
	return nil
}

// lookWithout looks, and retires the journals of the hosts that are gone.
func (r *rebinding) lookWithout(t *sqldb.Tx) error {
	if err := r.look(t); err != nil {
		return err
	}
	if len(r.Gone) > 0 && strings.TrimSpace(r.OldServerOff) == "" {
		return r.db.Refuse(sqldb.CodeConfig,
			phrase.Errorf("--gone needs --old-server-off TEXT: who switched the old server off, and how"),
			phrase.New(sqldb.GoneHint))
	}
	names := trade.Map(r.plan.Hosts, func(h RebindHost) string { return h.Host })
	for _, host := range r.Gone {
		if !slices.Contains(names, host) {
			return r.db.Refuse(sqldb.CodeConfig,
				phrase.Errorf("--gone %s: no other host of this name has a journal of it", host),
				phrase.New("its other hosts are: %s", cmp.Or(strings.Join(names, ", "), "none")))
		}
		if err := t.Do(`UPDATE journal SET retired_at = ? WHERE host = ? AND retired_at IS NULL`,
			time.Now().UnixMilli(), host); err != nil {
			return err
		}
	}
	return nil
}

// confirm binds the ledger, if nothing stands against it.
func (r *rebinding) confirm(t *sqldb.Tx) error {
	if r.lacks != nil {
		return r.lacks
	}
	if r.plan.Platform != nil { // nobody may be about to send to the former address
		if err := nobodyRuns(t); err != nil {
			return err
		}
	}
	if r.plan.Server != nil || r.plan.Back.Error() != "" || r.plan.Asked {
		var silent []string
		for _, h := range r.plan.Hosts {
			if !h.Reported && !h.Gone {
				silent = append(silent, h.Host)
			}
		}
		if len(silent) > 0 {
			return r.db.Silent(silent)
		}
	}
	if err := setPlatform(t, r.RebindOrder.Platform); err != nil || t.S.D.Name != sqldb.Postgres {
		return err
	}
	if err := t.Draw(r.now, r.had); err != nil {
		return err
	}
	return newLife(t)
}
