package state

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/safrasync/safrasync/state/audit"
	"github.com/safrasync/safrasync/state/jobs"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// RebindPlan describes what a person confirms: that a ledger belongs to another API address, or is
// on another server.
type RebindPlan struct {
	Ledger   string      `json:"ledger"`
	Platform *RebindPart `json:"platform"` // null if the address is unchanged
	Server   *RebindPart `json:"server"`   // null if the server is unchanged
	Accepted int         `json:"accepted"` // rows that the platform has
	Doubts   int         `json:"in_doubt"` // rows that the platform may have
	// what this host's journal has that the ledger lacks; "" if nothing
	Journal string `json:"journal"`
	// the ledger's other journals, to be compared on their hosts
	Hosts []RebindHost `json:"hosts"`
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
}

// Rebind binds a ledger to the configured address and to the server that it is on. A person thereby
// confirms that it is the same platform, and that the journals were compared. It refuses a ledger
// that is in use, and one that lacks records of this host's journal. If apply is false, it changes
// nothing.
func Rebind(ctx context.Context, o sqldb.Options, platform string, apply bool,
	record trade.AuditRecord,
) (RebindPlan, error) {
	return rebind(ctx, o, sqldb.DefaultTuning, platform, apply, record)
}

func rebind(ctx context.Context, o sqldb.Options, tune sqldb.Tuning, platform string, apply bool,
	record trade.AuditRecord,
) (plan RebindPlan, err error) {
	bare := o
	bare.Journal, bare.Mending, bare.ReadOnly = "", true, true // do not create an absent ledger
	s, err := open(ctx, bare, tune)
	var older *sqldb.Error
	if errors.As(err, &older) && older.Code == sqldb.CodeOlder {
		err = nil
	}
	if err != nil {
		return plan, err
	}
	if s != nil {
		if err := s.Close(); err != nil {
			return plan, err
		}
	}
	bare.ReadOnly = false
	if s, err = open(ctx, bare, tune); err != nil {
		return plan, err
	}
	err = errors.Join(s.rebind(ctx, o, &plan, platform, apply, record), s.Close())
	if err != nil || !apply {
		return plan, err
	}
	// Open it in the normal way: this records the change in its journal and runs the usual checks.
	if s, err = open(ctx, o, tune); err != nil {
		return plan, err
	}
	return plan, s.Close()
}

func (s *Store) rebind(ctx context.Context, o sqldb.Options, plan *RebindPlan, platform string, apply bool,
	record trade.AuditRecord,
) error {
	lacks := s.compareJournal(ctx, o)
	if lacks != nil {
		plan.Journal = lacks.Error()
	}
	err := s.db.InTx(ctx, "confirming what the ledger belongs to", func(t *sqldb.Tx) error {
		err := s.planRebind(t, plan, platform, o)
		switch {
		case err != nil:
			return err
		case !apply:
			return errPlanned
		case lacks != nil:
			return lacks
		}
		if err := jobs.NobodyRuns(t); err != nil {
			return err
		}
		if err := jobs.SetPlatform(t, platform); err != nil {
			return err
		}
		if err := t.Do(`UPDATE ledger SET server = ?`, t.Server); err != nil {
			return err
		}
		detail, err := json.Marshal(plan)
		if err != nil {
			return err
		}
		record.Detail = string(detail)
		return audit.AddAudit(t, record)
	})
	if errors.Is(err, errPlanned) {
		return nil
	}
	return err
}

// compareJournal compares the ledger with this host's journal, as opening it does.
func (s *Store) compareJournal(ctx context.Context, o sqldb.Options) error {
	if o.Journal == "" {
		return nil
	}
	parent, err := filepath.Abs(o.Journal)
	if err == nil {
		_, err = s.Compare(ctx, "comparing the ledger with its journal", s.JournalDir(parent))
	}
	return err
}

func (s *Store) planRebind(t *sqldb.Tx, plan *RebindPlan, platform string, o sqldb.Options) (err error) {
	var was struct {
		Platform, Server string
	}
	// locked: a process that takes a lease waits, and is then refused
	if err := t.Get(&was, s.db.D.Locked(`SELECT platform, server FROM ledger`, "ledger")); err != nil {
		return err
	}
	plan.Ledger, plan.Platform, plan.Server, plan.Hosts = s.db.ID, nil, nil, []RebindHost{}
	if was.Platform != platform && platform != "" {
		plan.Platform = &RebindPart{Was: was.Platform, Is: platform}
	}
	if s.db.D.Name == sqldb.Postgres && !sqldb.SameServers(was.Server, t.Server) {
		plan.Server = &RebindPart{Was: sqldb.ServerText(was.Server), Is: sqldb.ServerText(t.Server)}
	}
	if plan.Accepted, plan.Doubts, err = jobs.CountSent(t.Ctx, t); err != nil {
		return err
	}
	rows, err := sqldb.JournalRows(t, false)
	if err != nil {
		return err
	}
	ours := ""
	if parent, err := filepath.Abs(o.Journal); err == nil && o.Journal != "" {
		ours = s.JournalDir(parent)
	}
	host, _, _ := sqldb.HostIdentity()
	for _, r := range rows {
		if !r.RetiredAt.Valid && (r.Host != host || r.Path != ours) {
			plan.Hosts = append(plan.Hosts,
				RebindHost{Host: r.Host, Path: r.Path, Records: r.Seq, Last: time.UnixMilli(r.At).UTC()})
		}
	}
	slices.SortFunc(plan.Hosts, func(a, b RebindHost) int { return a.Last.Compare(b.Last) })
	return nil
}
