package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/ledgertest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/archive"
	"github.com/safrasync/safrasync/trade"
)

// An archive is what was written, or it is refused: whatever file is altered, missing or more. Who
// writes the manifest anew has another seal, and does not get past the hash of a closing.
func TestAnArchiveThatWasAlteredIsRefused(t *testing.T) {
	t.Parallel()
	store := ledgertest.Open(t, state.SQLite)
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	day := must.Get(trade.ParseDate("2026-10-31"))(t)
	take := func(cut reconcile.Cut) *reconcile.Snapshot {
		at := must.Get(store.Moment(t.Context()))(t)
		t.Cleanup(func() { must.Do(t, at.Close()) })
		return must.Get(reconcile.Take(t.Context(), reconcile.Sources{Ledger: at, Zone: time.UTC, Now: now}, cut))(t)
	}
	record := trade.AuditRecord{At: now, Who: "maria", From: "here", Act: reconcile.ActClose, Target: day.String()}
	must.Get(reconcile.Freeze(t.Context(), store, take(reconcile.Cut{Day: day, Bare: true}), "maria", "conferido",
		record))(t)
	var b bytes.Buffer
	seal := must.Get(archive.Write(t.Context(), &b, archive.Contents{
		Snapshot: take(reconcile.Cut{}), Options: reconcile.Options{Lang: trade.Portuguese}, Ledger: store, Who: "ana",
		Now: now,
	}))(t)
	in := must.Get(zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	files := map[string]string{}
	for _, f := range in.File {
		from := must.Get(f.Open())(t)
		text := must.Get(io.ReadAll(from))(t)
		files[f.Name] = string(text)
	}
	opened := func(files map[string]string) (*archive.Archive, error) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "a.zip")
		out := must.Get(os.Create(path))(t)
		z := zip.NewWriter(out)
		for name, text := range files {
			part, err := z.Create(name)
			if err == nil {
				_, err = io.WriteString(part, text)
			}
			must.Do(t, err)
		}
		must.Do(t, z.Close(), out.Close())
		a, err := archive.Open(path)
		if err == nil {
			t.Cleanup(func() { _ = a.Close() })
		}
		return a, err
	}
	with := func(name, text string) map[string]string { // one more, or another; "" takes it away
		out := maps.Clone(files)
		if out[name] = text; text == "" {
			delete(out, name)
		}
		return out
	}
	intact, err := opened(files)
	if err != nil || intact.Seal != seal || len(intact.Closed) != 1 || intact.Closed[0].Masked ||
		len(intact.Files) != len(files)-1 {
		t.Fatalf("%+v, %v", intact, err)
	}
	for name, text := range files {
		want := archive.ErrDamaged
		if name == "manifest.json" {
			want = archive.ErrNoArchive
		}
		if _, err := opened(with(name, "")); !errors.Is(err, want) {
			t.Errorf("without %s: %v", name, err)
		}
		if name == "manifest.json" {
			continue
		}
		if _, err := opened(with(name, text+"x")); !errors.Is(err, want) {
			t.Errorf("with another %s: %v", name, err)
		}
	}
	if _, err := opened(with("more.txt", "x")); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("with one more file: %v", err)
	}
	forged := func(name, text string) map[string]string {
		out := with(name, text)
		var m archive.Manifest
		must.Do(t, json.Unmarshal([]byte(files["manifest.json"]), &m))
		for i := range m.Files {
			if m.Files[i].Name == name {
				sum := sha256.Sum256([]byte(text))
				m.Files[i].Bytes, m.Files[i].SHA256 = int64(len(text)), hex.EncodeToString(sum[:])
			}
		}
		text2 := must.Get(json.Marshal(m))(t)
		out["manifest.json"] = string(text2)
		return out
	}
	for day, want := range map[string]error{
		`"2026-10-01"`: nil, `"2026-02-30"`: archive.ErrDamaged, `7`: archive.ErrDamaged,
	} {
		told := strings.Replace(files["manifest.json"], `"from": ""`, `"from": `+day, 1)
		a, err := opened(with("manifest.json", told))
		if !errors.Is(err, want) || err == nil && a.Options().Filter.From.String() != "2026-10-01" {
			t.Errorf("a manifest that tells of the time from %s: %v", day, err)
		}
	}
	if _, err := opened(with("manifest.json", `{"form": 1}`)); !errors.Is(err, archive.ErrNoArchive) {
		t.Errorf("a manifest of something else: %v", err)
	}
	later := strings.NewReplacer(`"form": 1`, `"form": 99`, `"files": [`, `"files": {}, "more": [`).
		Replace(files["manifest.json"])
	if _, err := opened(with("manifest.json", later)); !errors.Is(err, archive.ErrNewer) {
		t.Errorf("a manifest of a later form: %v", err)
	}
	var twice archive.Manifest
	must.Do(t, json.Unmarshal([]byte(files["manifest.json"]), &twice))
	twice.Files = append(twice.Files, twice.Files[0])
	text := must.Get(json.Marshal(twice))(t)
	more := with("more.txt", "x")
	more["manifest.json"] = string(text)
	if _, err := opened(more); !errors.Is(err, archive.ErrDamaged) {
		t.Errorf("with one more file, in whose place the manifest names another twice: %v", err)
	}
	a, err := opened(forged("report.html", "<p>nothing</p>"))
	if err != nil || a.Seal == seal {
		t.Errorf("a manifest that was written anew has the seal of the old one (%v)", err)
	}
	for name, text := range files {
		if !strings.HasPrefix(name, "closings/") {
			continue
		}
		if _, err := opened(forged(name, strings.Replace(text, "2026", "2025", 1)+" ")); !errors.Is(err,
			archive.ErrDamaged) {
			t.Errorf("a closing whose %s is another: %v", name, err)
		}
	}
	for _, day := range []string{"", "2026-02-30"} {
		list := strings.Replace(files["closings.jsonl"], `"day":"2026-10-31"`, `"day":"`+day+`"`, 1)
		if _, err := opened(forged("closings.jsonl", list)); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("a closing of the day %q: %v", day, err)
		}
	}
	s := must.Get(intact.Closing(intact.Closed[0]))(t)
	if s.Head.Kind != reconcile.ClosedKind || s.Head.Day != "2026-10-31" || s.Head.Closed.Who != "maria" {
		t.Errorf("%+v", s.Head)
	}
	if !strings.Contains(files["audit.jsonl"], `"act":"report close"`) {
		t.Errorf("the audit is %s", files["audit.jsonl"])
	}
}
