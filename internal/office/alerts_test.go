package office

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/safrasync/safrasync/internal/config/configtest"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// I10: the keys and values of the rows stay out of what goes to other servers.
func TestI10CausesForMessagesNameNoRow(t *testing.T) {
	t.Parallel()
	conf := configtest.Load(t, t.TempDir()+"/config.yaml", strings.Replace(configtest.Sample(t), "SELECT ",
		"SELECT CASE WHEN produto IS NULL THEN 'falta produto' END AS erro, ", 1), "x")
	store := must.Get(state.OpenMemory(t.Context()))(t)
	defer store.Close()
	lease := must.Get(store.AcquireLease(t.Context(), "contracts", state.Self()))(t)
	entry := func(key string, e trade.Entry) trade.Entry {
		e.Sends, e.Key, e.Generation, e.SourceHash, e.MappedWith, e.FirstSeenAt, e.UpdatedAt = trade.OrderCommitments,
			key, 1, trade.HashOf(key), "m", Now(), Now()
		e.Values = trade.Values{"produto": {Kind: 't', Text: "CANARIO 12345678909"}}
		return e
	}
	declared := func(key, text string) trade.Entry {
		return entry(key, trade.Entry{
			State: trade.Invalid, Cause: "rule:invalid",
			Error: &trade.EntryError{Kind: trade.MappingError, Fields: []trade.Problem{
				{Field: "invalid", Rule: trade.RuleDeclared, Column: "erro", Detail: phrase.Packed(text)},
			}},
		})
	}
	unmapped := trade.Problem{
		Field: "product", Rule: trade.RuleUnmapped, Column: "produto",
		Value: "CANARIO 12345678909",
	}
	must.Get(store.Record(t.Context(), lease, trade.Page{New: []trade.Entry{
		entry("CANARIO|1", trade.Entry{
			State: trade.Invalid, Cause: "rule:product",
			Error: &trade.EntryError{Kind: trade.MappingError, Fields: []trade.Problem{unmapped}},
		}),
		entry("CANARIO|2", trade.Entry{
			State: trade.Waiting, Cause: trade.CauseParent,
			WaitingFor: []trade.Awaited{{Job: "contracts", Key: "CANARIO|9"}},
		}),
		entry("CANARIO|3", trade.Entry{
			State: trade.Waiting, Cause: "ref:wallets",
			WaitingFor: []trade.Awaited{{Ref: "wallets", Code: "CANARIO"}},
		}),
		declared("CANARIO|4", "produtor CANARIO bloqueado"), declared("CANARIO|5", "preço de 12345678909 para CANARIO"),
		declared("CANARIO|6", "falta produto"),
	}}))(t)
	causes := must.Get(Causes(t.Context(), conf, store, "contracts", nil))(t)
	text := must.Get(json.Marshal(causes))(t)
	if !strings.Contains(string(text), "falta produto") {
		t.Errorf("a text that stands in the query is not told: %s", text)
	}
	if len(causes) != 5 || strings.Contains(string(text), "CANARIO") || strings.Contains(string(text), "12345678909") {
		t.Errorf("%d causes: %s", len(causes), text)
	}
	// Whoever takes care of one of the ERP's own texts is named with its rows, and the text is not.
	own := func(text, owner string) {
		t.Helper()
		must.Do(t, store.OwnCause(t.Context(), trade.CauseOwner{
			Key: OwnerKey("rule:invalid " + text), Cause: "rule:invalid", Owner: owner,
			Rows: map[string]int{"contracts": 1},
		}, trade.AuditRecord{At: Now(), Who: "ivo", Act: "cause own", Target: "rule:invalid"}))
	}
	owned := func() map[string]int {
		t.Helper()
		out := map[string]int{}
		for _, c := range must.Get(Causes(t.Context(), conf, store, "contracts", nil))(t) {
			if c.Cause == "rule:invalid" && c.Problem.Detail != "falta produto" {
				out[c.Owner] += c.Rows
				if c.Problem == nil || c.Problem.Detail != "" {
					t.Errorf("of %q there is %+v", c.Owner, c.Problem)
				}
			}
		}
		return out
	}
	own("produtor CANARIO bloqueado", "ana")
	if diff := cmp.Diff(map[string]int{"ana": 1, "": 1}, owned()); diff != "" {
		t.Errorf("one has an owner (-want +got):\n%s", diff)
	}
	own("preço de 12345678909 para CANARIO", "ana")
	if diff := cmp.Diff(map[string]int{"ana": 2}, owned()); diff != "" {
		t.Errorf("both have one owner (-want +got):\n%s", diff)
	}
	if n := len(must.Get(Causes(t.Context(), conf, store, "contracts", nil))(t)); n != len(causes) {
		t.Errorf("%d causes, want %d", n, len(causes))
	}
	var subjects []int
	for _, c := range causes {
		subjects = append(subjects, c.Subjects)
	}
	if diff := cmp.Diff([]int{0, 0, 1, 0, 1}, subjects); diff != "" {
		t.Errorf("codes or values to blame (-want +got):\n%s", diff)
	}
}

// The channels hold secrets, and print none.
func TestAChannelPrintsNoSecret(t *testing.T) {
	t.Parallel()
	const section = `
alerts:
  email: {server: "smtp.example.com:587", user: s, password: "${env:SMTP}", from: s@example.com, to: [a@example.com]}
  webhook: {url: "${env:HOOK}", form: teams}
`
	channels, err := Channels(configtest.Load(t, t.TempDir()+"/config.yaml", configtest.Sample(t)+section,
		"https://hooks.example.com/services/canary-11e2"))
	if err != nil || len(channels) != 2 {
		t.Fatalf("%d channels, %v", len(channels), err)
	}
	if shown := fmt.Sprintf("%v %+v", channels, channels); strings.Contains(shown, "canary-") {
		t.Errorf("a secret is shown:\n%s", shown)
	}
}
