package maintenance

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// bundleRuns is how many of the latest runs of each job a bundle contains.
const bundleRuns = 100

// A bundle must neither take minutes nor read the whole of a large ledger: a part that takes longer
// is left out, and states so. With --full there is no limit.
const (
	bundleLook  = 10 * time.Second // for each check of the doctor, and for each other part
	bundleCount = 2 * time.Second  // for each number
)

// writeBundle writes a .tar.gz for somebody who looks for a fault and must not see the
// cooperative's business: counts, times, codes and settings. It takes named facts only, never a
// whole record, and no text that somebody wrote: no query, no address, no words of an error.
func writeBundle(ctx context.Context, a *cli.App, path string, full bool) error {
	config, err := a.LoadConfig()
	if err != nil {
		return err
	}
	files := []bundlePart{
		{"program.json", func() (any, error) { return programFacts(config, a.Version), nil }},
		{"settings.json", func() (any, error) { return settingFacts(config), nil }},
		{"files.json", func() (any, error) { return fileFacts(config), nil }},
	}
	store, err := a.OpenLedger(ctx, cli.AsItIs)
	if err != nil {
		files = append(files, bundlePart{
			"ledger.json",
			func() (any, error) { return errorFact(err), nil },
		})
	} else {
		look, count := bundleLook, bundleCount
		if full {
			look, count = 0, 0
		}
		part := func(name string, fn func(context.Context) (any, error)) bundlePart {
			return bundlePart{name, func() (any, error) {
				if full {
					return fn(ctx)
				}
				limited, cancel := context.WithTimeout(ctx, look)
				defer cancel()
				content, err := fn(limited)
				if err != nil && limited.Err() != nil && ctx.Err() == nil {
					err = errLeftOut
				}
				return content, err
			}}
		}
		files = append(files, []bundlePart{
			part("jobs.json", func(ctx context.Context) (any, error) { return jobFacts(ctx, a, store) }),
			part("runs.json", func(ctx context.Context) (any, error) {
				jobs, err := store.Jobs(ctx)
				out := []runFact{}
				for _, job := range jobs {
					runs, err := store.Runs(ctx, job, bundleRuns)
					if err != nil {
						return out, err
					}
					for _, r := range runs {
						fact := runFact{
							Job: r.Job, StartedAt: r.StartedAt, EndedAt: r.EndedAt, Sweep: r.Sweep, InScope: r.InScope,
							Gone: r.Gone, Unreadable: r.Unreadable, Read: r.Read, New: r.New, Changed: r.Changed,
							Sent: r.Sent, States: r.States, Flags: r.Flags, Alarms: len(r.Alarms), Notes: len(r.Notes),
						}
						if r.Stopped != nil {
							fact.Stopped = &r.Stopped.Code
						}
						out = append(out, fact)
					}
				}
				return out, err
			}),
			part("health.json", func(ctx context.Context) (any, error) { return healthFacts(ctx, store) }),
			part("retention.json", func(ctx context.Context) (any, error) {
				return store.PlanRetention(ctx, config.Retention.Ledger(), office.Now())
			}),
			// These two limit the time of their own steps.
			{"doctor.json", func() (any, error) {
				type fact struct {
					Check   string `json:"check"`
					OK      bool   `json:"ok"`
					Problem string `json:"problem"`
					Code    string `json:"code,omitempty"`
				}
				found, err := store.Diagnose(ctx, config.State.Journals(), look == 0, look)
				out := []fact{}
				for _, d := range found {
					f := fact{Check: d.Check, OK: d.OK, Problem: d.Problem}
					if len(d.Args) == 1 {
						if e, ok := d.Args[0].(*state.Error); ok {
							f.Code = e.Code
						}
					}
					out = append(out, f)
				}
				return out, err
			}},
			{"counts.json", func() (any, error) { return store.Extent(ctx, count) }},
		}...)
	}
	if err := cli.WriteOwn(path, func(w io.Writer) error {
		zip := gzip.NewWriter(w)
		out := tar.NewWriter(zip)
		for _, f := range files {
			content, err := f.make()
			if err != nil {
				content = errorFact(err) // the other parts are still useful
			}
			text, err := json.MarshalIndent(content, "", "  ")
			if err != nil {
				return err
			}
			text = append(text, '\n')
			if err := out.WriteHeader(&tar.Header{
				Name: "safrasync-support/" + f.name, Mode: 0o600,
				Size: int64(len(text)), ModTime: office.Now(),
			}); err != nil {
				return err
			}
			if _, err := out.Write(text); err != nil {
				return err
			}
		}
		return errors.Join(out.Close(), zip.Close())
	}); err != nil {
		return err
	}
	return a.Answer(map[string]string{"file": path}, "Written: %s, without secrets, personal data, keys, ids or values; check it before you send it.", path)
}

// errLeftOut means that a part took longer than bundleLook.
var errLeftOut = errors.New("left_out_without_full")

// errorFact returns the code of an error. Its words may name a place, a person or a key.
func errorFact(err error) any {
	code := "other"
	if of := cli.LedgerFault(err); of != nil {
		code = of.Code
	} else if errors.Is(err, errLeftOut) {
		code = errLeftOut.Error()
	}
	return map[string]string{"error": code}
}

// bundlePart is one file of a bundle.
type bundlePart struct {
	name string
	make func() (any, error)
}

// programFacts returns facts about the program and the machine.
func programFacts(config *config.Config, version string) any {
	first := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		line, _, _ := strings.Cut(string(data), "\n")
		return line
	}
	var release string
	if data, err := os.ReadFile("/etc/os-release"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, ok := strings.CutPrefix(line, "PRETTY_NAME="); ok {
				release = strings.Trim(strings.TrimSpace(name), `"`)
			}
		}
	}
	_, offset := office.Now().In(config.Zone()).Zone()
	return map[string]any{
		"made": office.Now().Format(time.RFC3339), "version": version, "go": runtime.Version(), "os": runtime.GOOS,
		"arch": runtime.GOARCH, "cpus": runtime.NumCPU(),
		"release": release, "kernel": first("/proc/sys/kernel/osrelease"), "memory": first("/proc/meminfo"),
		"uptime": first("/proc/uptime"), "root": os.Geteuid() == 0,
		"zone": config.Zone().String(), "zone_offset_minutes": offset / 60, "erp_driver": config.ERP.Driver,
		"state_driver": config.State.Driver,
		"service":      os.Getenv("INVOCATION_ID") != "",
	}
}

// fileFacts returns the sizes, in KiB, of the ledger's files and of its journals.
func fileFacts(config *config.Config) any {
	type file struct {
		Name  string    `json:"name"`
		KiB   int64     `json:"kib"`
		Mode  string    `json:"mode"`
		Moved time.Time `json:"changed"`
	}
	out := []file{}
	add := func(name, path string) {
		if info, err := os.Stat(path); err == nil {
			out = append(out, file{name, info.Size() >> 10, info.Mode().String(), info.ModTime().UTC()})
		}
	}
	if config.State.Driver == state.SQLite {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			add("ledger"+suffix, config.State.DSN.Reveal()+suffix)
		}
	}
	n := 0
	_ = filepath.WalkDir(config.State.Journals(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
			add(fmt.Sprintf("journal %d", n), path)
		}
		return nil // what cannot be read is left out
	})
	return out
}

// runFact is a run without anything that identifies a row.
type runFact struct {
	Job        string              `json:"job"`
	StartedAt  time.Time           `json:"started_at"`
	EndedAt    trade.End           `json:"ended_at"`
	Sweep      bool                `json:"sweep"`
	InScope    *int                `json:"in_scope"`
	Gone       *int                `json:"gone"`
	Unreadable int                 `json:"unreadable"`
	Read       int                 `json:"read"`
	New        int                 `json:"new"`
	Changed    int                 `json:"changed"`
	Sent       int                 `json:"sent"`
	States     map[trade.State]int `json:"states"`
	Flags      map[trade.Flag]int  `json:"flags"`
	Alarms     int                 `json:"alarms"`
	Notes      int                 `json:"notes"`
	Stopped    *string             `json:"stopped"` // the code of the reason
}

// jobFacts returns the status of each job, in codes and counts.
func jobFacts(ctx context.Context, a *cli.App, store *state.Store) (any, error) {
	type jobFact struct {
		Job        string              `json:"job"`
		Configured bool                `json:"configured"`
		Sends      *string             `json:"sends"`
		State      trade.JobState      `json:"state"`
		Since      *time.Time          `json:"since"`
		Stop       *string             `json:"stop"`
		States     map[trade.State]int `json:"states"`
		Flags      map[trade.Flag]int  `json:"flags"`
		SweptAt    *time.Time          `json:"swept_at"`
		NextRun    *time.Time          `json:"next_run"`
		NextSweep  *time.Time          `json:"next_sweep"`
		Causes     map[string]int      `json:"causes"`
	}
	out := []jobFact{}
	o, err := a.Office(ctx, cli.AsItIs, cli.NoERP)
	if err != nil {
		return out, err
	}
	jobs, err := o.Status(ctx)
	for _, job := range jobs {
		f := jobFact{
			Job: job.Job, Configured: job.Configured, Sends: job.Sends, State: job.State, Since: job.Since,
			States: job.States, Flags: job.Flags, SweptAt: job.SweptAt,
			NextRun: job.NextRun, NextSweep: job.NextSweep, Causes: map[string]int{},
		}
		if job.Stop != nil {
			f.Stop = &job.Stop.Code
		}
		stuck, err := store.StuckStates(ctx, job.Job)
		if err != nil {
			return out, err
		}
		for _, causes := range stuck {
			for cause, n := range causes {
				f.Causes[cause] += n
			}
		}
		out = append(out, f)
	}
	return out, err
}

// plainHealth are the findings about a ledger whose values are versions, sizes, settings and names that
// the program or the database gives.
var plainHealth = []string{
	"driver", "schema", "sqlite", "server_version", "fsync", "synchronous_commit", "full_page_writes", "journal_mode",
	"synchronous", "durability", "file_system", "free_space", "wal",
}

// healthFacts returns what the ledger says of itself, as far as that is plain. Of everything else it
// returns only whether it is well: words of an error name hosts.
func healthFacts(ctx context.Context, store *state.Store) (any, error) {
	type fact struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
		OK    bool   `json:"ok"`
	}
	found, err := store.Health(ctx)
	out := []fact{}
	for _, f := range found {
		if !slices.Contains(plainHealth, f.Name) {
			f.Value = trade.Sentence{}
		}
		out = append(out, fact{f.Name, f.Value.String(), f.OK})
	}
	return out, err
}

// settingFacts returns the settings that a fault may come from: numbers, times, schedules, and names
// from closed lists. Of all others only whether there are any.
func settingFacts(c *config.Config) any {
	type facts map[string]any
	jobs := []facts{}
	for _, j := range c.Jobs {
		fields := map[string]facts{}
		for name, f := range j.Fields {
			fields[name] = facts{
				"columns": len(f.Column), "const": f.Const != nil, "default": f.Default != nil,
				"values": f.Values.Name != "" || len(f.Values.Inline) > 0,
				"date":   f.Date, "scale": f.Scale, "empty": len(f.Empty), "ref": f.Ref != "",
				"sent_by": len(f.SentBy), "lookup": f.Lookup != "", "per": f.Per != nil, "in": f.In,
			}
		}
		jobs = append(jobs, facts{
			"job": j.Name, "sends": j.Sends, "schedule": j.Schedule, "sweep": j.Sweep, "lookback": j.Lookback.String(),
			"key": len(j.Key), "own_key_space": j.Identity != "", "changed_at": j.ChangedAt != "",
			"cancelled": j.Cancelled != nil, "invalid": j.Invalid != "", "hours": len(j.Hours), "most": j.Most != nil,
			"canary": j.Canary, "nothing_new": j.NothingNew.String(), "show": len(j.Show), "fields": fields,
		})
	}
	return facts{
		"api": facts{
			"timeout": c.API.Timeout.String(), "max_in_flight": c.API.MaxInFlight, "rate_limit": c.API.RateLimit,
			"doubt": c.API.Doubt, "quarantine": c.API.Quarantine.String(),
			"stop_after_unknown": c.API.StopAfterUnknown, "ca_file": c.API.CAFile != "", "proxy": !c.API.Proxy.IsZero(),
		},
		"erp": facts{
			"driver": c.ERP.Driver, "charset": c.ERP.Charset, "time_zone": c.ERP.TimeZone,
			"statement_timeout": c.ERP.StatementTimeout.String(),
		},
		"state":      facts{"driver": c.State.Driver, "journal": c.State.Journals() != ""},
		"references": len(c.References), "values": len(c.Values), "with": len(c.With),
		"brakes": c.Brakes, "checks": c.Checks, "approve": c.Approve,
		"retention": facts{
			"schedule": c.Retention.Schedule, "bodies": c.Retention.Bodies.String(),
			"audit": c.Retention.Audit.String(),
		},
		"log": c.Log.Level, "language": c.Language,
		"alerts": facts{
			"rejected_above": c.Alerts.RejectedAbove,
			"nothing_new":    c.Alerts.NothingNew.String(), "backup_older": c.Alerts.BackupOlder.String(),
			"email": c.Alerts.Email != nil, "webhook": c.Alerts.Webhook != nil,
			"heartbeat": !c.Alerts.Heartbeat.IsZero(),
		},
		"console": facts{
			"used": c.Console.Listen != "", "tls": c.Console.CertFile != "", "behind": c.Console.Behind != "",
			"idle": c.Console.Idle.String(), "oidc": c.Console.OIDC != nil,
		},
		"metrics": c.Metrics.Listen != "",
		"webhooks": facts{
			"used": c.Webhooks.Used(), "tls": c.Webhooks.CertFile != "", "proxies": len(c.Webhooks.Proxies),
			"events": slices.Sorted(slices.Values(c.Webhooks.Events)),
		},
		"http_api": facts{"used": c.HTTPAPI.Listen != "", "tokens": len(c.HTTPAPI.Tokens)},
		"jobs":     jobs,
	}
}
