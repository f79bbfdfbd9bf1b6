package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/must"
	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// The phrases whose keys are put together exist.
func TestPagesNamePhrasesThatExist(t *testing.T) {
	t.Parallel()
	var made []string
	for _, act := range acts.Named(acts.SomeRows, acts.AllRows) {
		made = append(made, "act."+act, "act."+act+".what", "told.act."+act)
	}
	for _, role := range trade.Roles {
		made = append(made, "role."+string(role))
	}
	for _, state := range []trade.JobState{trade.Idle, trade.Running, trade.BackingOff, trade.Stopped, trade.Paused} {
		made = append(made, "job."+string(state))
	}
	for _, result := range trade.RunResults {
		made = append(made, "run.part."+string(result))
	}
	for _, state := range []trade.JobState{trade.BackingOff, trade.Stopped, trade.Paused} {
		made = append(made, "todo.job."+string(state))
	}
	order, _ := trade.Rule(trade.OrderCommitments, "order_type")
	for _, value := range order.Values {
		made = append(made, "row.is.order."+value)
	}
	for _, fixer := range trade.Fixers {
		if who := fixer.Department(); who != "" {
			made = append(made, "home.who."+string(who))
		}
	}
	// what the page after an act says of it
	for _, file := range must.Get(filepath.Glob("../*/*.go"))(t) {
		text := string(must.Get(os.ReadFile(file))(t))
		for _, m := range regexp.MustCompile(`\b(?:Done|SetFlash)\("([a-z_.]*[a-z])"`).FindAllStringSubmatch(text, -1) {
			made = append(made, "told."+m[1])
		}
	}
	for _, key := range made {
		if !i18n.Console.Has(key) {
			t.Errorf("there is no phrase %q", key)
		}
	}
}
