package archive_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
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

// Every file of an archive stands with its hash in the list whose own hash is the seal, and a closing can
// be compared with the hash that it was closed with.
func TestAnArchiveListsWhatItHasWithHashes(t *testing.T) {
	t.Parallel()
	store := ledgertest.Open(t, state.SQLite)
	now := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	day := must.Get(trade.ParseDate("2026-10-31"))(t)
	take := func(cut reconcile.Cut) *reconcile.Snapshot {
		at := must.Get(store.Moment(t.Context()))(t)
		t.Cleanup(func() { must.Do(t, at.Close()) })
		sources := reconcile.Sources{Ledger: at, Zone: time.UTC, Now: now}
		return must.Get(reconcile.TakeSnapshot(t.Context(), sources, cut))(t)
	}
	record := trade.AuditRecord{At: now, Who: "maria", From: "here", Act: reconcile.ActClose, Target: day.String()}
	must.Get(reconcile.Freeze(t.Context(), store, take(reconcile.Cut{Day: day, Bare: true}), "maria", "conferido",
		record))(t)
	var b bytes.Buffer
	seal := must.Get(archive.Write(t.Context(), &b, archive.Contents{
		Snapshot: take(reconcile.Cut{}), Options: reconcile.Options{Lang: trade.Portuguese}, Ledger: store, Now: now,
	}))(t)
	in := must.Get(zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())))(t)
	files, sums := map[string]string{}, map[string]string{}
	for _, f := range in.File {
		from := must.Get(f.Open())(t)
		text := must.Get(io.ReadAll(from))(t)
		files[f.Name] = string(text)
		sum := sha256.Sum256(text)
		sums[f.Name] = hex.EncodeToString(sum[:])
	}
	if sums["SHA256SUMS"] != seal {
		t.Errorf("the seal is %s, the list has %s", seal, sums["SHA256SUMS"])
	}
	for line := range strings.Lines(files["SHA256SUMS"]) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if sums[name] != sum {
			t.Errorf("%s has the hash %s, the list says %s", name, sums[name], sum)
		}
		delete(sums, name)
	}
	if len(sums) != 1 {
		t.Errorf("not in the list: %v", sums)
	}
	closing := must.Get(store.Closings(t.Context(), day))(t)[0]
	if !strings.Contains(files["closings.jsonl"], `"hash":"`+closing.Hash+`"`) ||
		!strings.Contains(files["closings.jsonl"], `"masked":false`) {
		t.Errorf("the closings are %s", files["closings.jsonl"])
	}
	folder := "closings/" + closing.ID + "/"
	rows := trade.NewClosingSum([]byte(files[folder+"head.json"]))
	for part := range slices.Chunk([]byte(files[folder+"rows.jsonl.gz"]), trade.ClosingPart) {
		rows.Part(base64.StdEncoding.EncodeToString(part))
	}
	if rows.Hash() != closing.Hash {
		t.Errorf("the rows of the closing have the hash %s, it was closed with %s", rows.Hash(), closing.Hash)
	}
	if !strings.Contains(files["audit.jsonl"], `"act":"report close"`) {
		t.Errorf("the audit is %s", files["audit.jsonl"])
	}
}
