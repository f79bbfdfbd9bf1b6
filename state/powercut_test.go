//go:build strace

package state

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state/journal"
	"github.com/safrasync/safrasync/state/sqldb"
	"github.com/safrasync/safrasync/trade"
)

// powerCutRows are the rows that the recorded process sends, two at a time: enough commits for
// several checkpoints.
const powerCutRows = 160

// It is recorded: it sends rows and prints what the ledger acknowledged, "i <attempt>" and
// "r <attempt>".
var _ = addRole("acknowledge", func(ctx context.Context, _ sqldb.OpenOptions, s *Store) (string, error) {
	lease, err := s.AcquireLease(ctx, "contracts", sqldb.Self())
	mustNot(err)
	for {
		due, err := s.Due(ctx, "contracts", at, 0, 2)
		mustNot(err)
		if len(due) == 0 {
			os.Exit(0) // without closing: a power cut does not close
		}
		intents, results := trade.Group{At: at}, trade.Group{At: at}
		for _, e := range due {
			in := intentOf(e)
			intents.Intents = append(intents.Intents, in)
			in.Attempt.EntryID = e.ID
			results.Settle = append(results.Settle, created(in.Attempt, "r-"+in.Attempt.ID))
		}
		for _, step := range []struct {
			name  string
			group trade.Group
		}{{"i", intents}, {"r", results}} {
			mustNot(second(s.Commit(ctx, lease, step.group)))
			for _, in := range intents.Intents {
				fmt.Println(step.name, in.Attempt.ID)
			}
		}
	}
})

// diskEvent is one thing that a process did to its files, or said.
type diskEvent struct {
	kind byte // w write, s flush, t truncate, u unlink, a acknowledged
	path string
	off  int64
	data []byte
}

var (
	straceLine = regexp.MustCompile(`^(\d+)\s+(.*)$`)
	resumed    = regexp.MustCompile(`^<\.\.\. \w+ resumed>(.*)`)
	pwriteCall = regexp.MustCompile(`^pwrite64\(\d+<(.*?)>, "(.*)", \d+, (\d+)\)\s*= (\d+)`)
	flushCall  = regexp.MustCompile(`^(?:fsync|fdatasync)\(\d+<(.*?)>\)\s*= 0`)
	truncCall  = regexp.MustCompile(`^ftruncate\(\d+<(.*?)>, (\d+)\)\s*= 0`)
	unlinkCall = regexp.MustCompile(`^unlink(?:at)?\((?:[^,]*, )?"(.*?)"(?:, \w+)?\)\s*= 0`)
	sayCall    = regexp.MustCompile(`^write\(1<.*?>, "(.*)", \d+\)`)
)

// unhex reads what strace writes with -xx.
func unhex(text string) []byte {
	plain, err := strconv.Unquote(`"` + text + `"`)
	mustNot(err)
	return []byte(plain)
}

// readStrace returns what happened below a folder, in the order in which the calls returned.
func readStrace(t *testing.T, file, under string) []diskEvent {
	t.Helper()
	f := must.Get(os.Open(file))(t)
	defer func() { _ = f.Close() }()
	var out []diskEvent
	add := func(path string, e diskEvent) {
		e.path = string(unhex(path))
		if strings.HasPrefix(e.path, under) && !strings.HasSuffix(e.path, "-shm") {
			out = append(out, e)
		}
	}
	number := func(s string) int64 { return must.Get(strconv.ParseInt(s, 10, 64))(t) }
	begun := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		m := straceLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		call := m[2]
		if head, _, cut := strings.Cut(call, "<unfinished ...>"); cut {
			begun[m[1]] = strings.TrimRight(head, " ")
			continue
		}
		if r := resumed.FindStringSubmatch(call); r != nil {
			call = begun[m[1]] + r[1]
		}
		if p := pwriteCall.FindStringSubmatch(call); p != nil {
			add(p[1], diskEvent{kind: 'w', off: number(p[3]), data: unhex(p[2])[:number(p[4])]})
		} else if p := flushCall.FindStringSubmatch(call); p != nil {
			add(p[1], diskEvent{kind: 's'})
		} else if p := truncCall.FindStringSubmatch(call); p != nil {
			add(p[1], diskEvent{kind: 't', off: number(p[2])})
		} else if p := unlinkCall.FindStringSubmatch(call); p != nil {
			add(p[1], diskEvent{kind: 'u'})
		} else if p := sayCall.FindStringSubmatch(call); p != nil {
			for said := range strings.Lines(string(unhex(p[1]))) {
				out = append(out, diskEvent{kind: 'a', data: []byte(strings.TrimSpace(said))})
			}
		}
	}
	must.Do(t, lines.Err())
	return out
}

const sector = 512

// cutPower makes of the files before these events what a power cut after them can leave: what was
// flushed is there; of what was not, each 512-byte sector is there with the chance keep, in any
// order, so that writes are lost, kept without earlier ones, and torn. The end of a file that was
// not flushed may be missing.
func cutPower(t *testing.T, events []diskEvent, keep float64, dice *rand.Rand) {
	t.Helper()
	flushed := map[string]int{}
	for i, e := range events {
		if e.kind == 's' {
			flushed[e.path] = i
		}
	}
	opened := map[string]*os.File{}
	for i, e := range events {
		stays := func() bool { return i < flushed[e.path] || dice.Float64() < keep }
		file := func() *os.File {
			if opened[e.path] == nil {
				opened[e.path] = must.Get(os.OpenFile(e.path, os.O_CREATE|os.O_RDWR, 0o600))(t)
			}
			return opened[e.path]
		}
		switch e.kind {
		case 'w':
			for at, n := 0, 0; at < len(e.data); at += n {
				n = min(sector-int(e.off+int64(at))%sector, len(e.data)-at)
				if stays() {
					must.Get(file().WriteAt(e.data[at:at+n], e.off+int64(at)))(t)
				}
			}
		case 't':
			if stays() {
				must.Do(t, file().Truncate(e.off))
			}
		case 'u':
			must.Do(t, os.RemoveAll(e.path))
			if opened[e.path] != nil {
				must.Do(t, opened[e.path].Close())
				delete(opened, e.path)
			}
		}
	}
	for _, f := range opened {
		must.Do(t, f.Close())
	}
}

// F050, F051, F056: the power fails at a random moment of a process that sends, and the disk drops,
// tears and reorders what was not flushed. No intent and no result that was acknowledged is lost,
// in the ledger or in the journal; the ledger is whole, and opens with its journal. 60 cuts in the
// short form, 2,000 in the long one. Not simulated: lost names of files, and a disk that lies about
// a flush.
func TestF050APowerCutLosesNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	o := sqldb.OpenOptions{
		Begin: true, Driver: sqldb.SQLite, DSN: filepath.Join(dir, "state.db"),
		Journal: filepath.Join(dir, "journal"),
	}
	s := must.Get(Open(t.Context(), o))(t)
	lease := mustLease(t, s, "contracts")
	var entries []trade.Entry
	for n := range powerCutRows {
		e := newEntry(fmt.Sprintf("%04d", n))
		e.Job = "contracts"
		entries = append(entries, e)
	}
	mustRecord(t, s, lease, entries...)
	must.Do(t, s.ReleaseLease(t.Context(), lease))
	must.Do(t, s.Close())
	base := filepath.Join(t.TempDir(), "base")
	must.Do(t, os.CopyFS(base, os.DirFS(dir)))
	record := filepath.Join(t.TempDir(), "strace")
	cmd := exec.Command("strace", "-f", "-y", "-xx", "-s", "200000", "-e",
		"trace=pwrite64,fsync,fdatasync,ftruncate,write,unlink,unlinkat", "-o", record, "/proc/self/exe")
	cmd.Args[len(cmd.Args)-1] = os.Args[0]
	cmd.Env = append(os.Environ(), inRole(t, "acknowledge", o)...)
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("error")) {
		t.Fatalf("strace (installed by `make disks`): %v\n%s", err, out)
	}
	events := readStrace(t, record, dir)
	var acknowledged []int
	for i, e := range events {
		if e.kind == 'a' {
			acknowledged = append(acknowledged, i)
		}
	}
	if len(acknowledged) != 2*powerCutRows {
		t.Fatalf("%d acknowledgements were recorded, want %d", len(acknowledged), 2*powerCutRows)
	}
	cuts := 60
	if os.Getenv("SAFRASYNC_TEST_LONG") != "" {
		cuts = 2000
	}
	const seed = 20261121
	dice := rand.New(rand.NewPCG(seed, 1))
	for cut := range cuts {
		at := acknowledged[0] + 1 + dice.IntN(len(events)-acknowledged[0]-1)
		what := fmt.Sprintf("seed %d, cut %d after event %d of %d", seed, cut, at, len(events))
		// The ledger is opened as the program does it, and everything is looked for that was
		// acknowledged.
		must.Do(t, os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(base)))
		cutPower(t, events[:at], []float64{0, 0.5, 0.9, 1}[cut%4], dice)
		var noted strings.Builder
		dirs, err := filepath.Glob(filepath.Join(o.Journal, "*"))
		if err != nil || len(dirs) != 1 {
			t.Fatalf("journals %v, %v", dirs, err)
		}
		if _, err := journal.Read(dirs[0], -1, func(r journal.Record, _ string) error {
			text, err := json.Marshal(r)
			noted.Write(text)
			return err
		}); err != nil {
			t.Fatalf("%s: the journal: %v", what, err)
		}
		verified := o
		verified.Verify = true
		s, err := Open(t.Context(), verified)
		if err != nil {
			t.Fatalf("%s: the ledger does not open: %v", what, err)
		}
		outcomes := map[string]string{}
		rows := []struct {
			ID      string `db:"id"`
			Outcome string `db:"outcome"`
		}{}
		must.Do(t, s.db.Read.Select(&rows, `SELECT attempt AS id, CASE outcome WHEN 'open' THEN '' ELSE outcome END AS outcome FROM attempt`))
		for _, r := range rows {
			outcomes[r.ID] = r.Outcome
		}
		for _, e := range events[:at] {
			if e.kind != 'a' {
				continue
			}
			what, id, _ := strings.Cut(string(e.data), " ")
			outcome, there := outcomes[id]
			switch {
			case !there:
				t.Errorf("the acknowledged intent %s is lost", id)
			case what == "r" && outcome != string(trade.OutcomeCreated):
				t.Errorf("the acknowledged result of %s is lost: its outcome is %q", id, outcome)
			case !strings.Contains(noted.String(), id), what == "r" && !strings.Contains(noted.String(), "r-"+id):
				t.Errorf("the journal lost %s %s", what, id)
			}
		}
		mustAddUp(t, s, "contracts")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Fatal(what)
		}
	}
	t.Logf("%d power cuts in %d writes and flushes with %d acknowledgements: none lost", cuts,
		len(events)-len(acknowledged), len(acknowledged))
}
