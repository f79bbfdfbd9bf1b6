package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/safrasync/safrasync/cmd/safrasync/cli"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/internal/words"
	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/sync/mapping"
	"github.com/safrasync/safrasync/trade"
)

// NewWhyCommand makes the command why.
func NewWhyCommand(a *cli.App) *cobra.Command {
	request, mask := false, false
	cmd := a.Command("why JOB KEY", "everything about one row: why it was or was not sent, what was recorded, the request that would be sent now", cli.Exactly(2), func(ctx context.Context, args []string) error {
		a.AsJSON = a.AsJSON || mask
		write := a.PrintJSON
		if mask { // letters become x and digits 9, but for what is open, null, true and false
			write = func(v any) error {
				text, err := json.Marshal(v)
				if err != nil {
					return err
				}
				var tree any
				from := json.NewDecoder(strings.NewReader(string(text)))
				from.UseNumber()
				if err := from.Decode(&tree); err != nil {
					return err
				}
				return a.PrintJSON(masked(tree))
			}
		}
		if request {
			job := args[0]
			key, err := a.CheckKey(job, args[1])
			if err != nil {
				return err
			}
			o, err := a.Office(ctx, cli.ToRead, cli.ERPNeeded)
			if err != nil {
				return err
			}
			p, state, err := o.Request(ctx, job, key)
			switch {
			case errors.Is(err, dryrun.ErrNotInQuery):
				return a.Error("the job's query does not return the key %s; `safrasync why %s '%s'` shows why", key, job, key)
			case err != nil:
				return a.Config.Annotate(err)
			case a.AsJSON:
				return write(plainPreview(p))
			}
			printPreview(a, p, state)
			return nil
		}
		return why(ctx, a, args[0], args[1], write)
	})
	cmd.Flags().BoolVar(&mask, "mask", false,
		"as JSON for support: letters as x, digits as 9, but for states, codes, columns and times")
	cmd.Flags().BoolVar(&request, "request", false,
		"only the request that would be sent now, with the origin of each field")
	cmd.ValidArgsFunction = a.CompleteRows()
	return cmd
}

// why prints everything about one key, from the ERP to the platform. If the ERP cannot be reached,
// its part is missing and the exit code shows it; the rest is printed.
func why(ctx context.Context, a *cli.App, job, typed string, write func(any) error) error {
	if _, err := a.LoadConfig(); err != nil {
		return err
	}
	// a job that was removed still has its rows, and so has one whose key has other columns now
	key, usage := a.CheckKey(job, typed)
	if usage != nil {
		key = mapping.CanonicalKey(typed)
	}
	o, err := a.Office(ctx, cli.ToRead, cli.ERPIfThere)
	if err != nil {
		return err
	}
	s, err := o.Why(ctx, job, key)
	switch {
	case usage != nil && errors.Is(err, trade.ErrNotFound):
		return usage
	case err != nil:
		return err
	case a.AsJSON:
		s.English = s.Sentences(words.Machine)
		if p := s.Preview; p != nil {
			*p = plainPreview(*p)
		}
		err = write(s)
	default:
		for _, sentence := range s.Sentences(a.Voice()) {
			a.Line(sentence)
		}
		p := s.Preview
		if p == nil {
			p = &dryrun.Preview{}
		}
		state := trade.State("")
		if s.Entry != nil {
			state = s.Entry.State
			jobs := a.Config.JobSpecs()
			now := p.Request
			v := a.Voice()
			a.Show("  first seen %s, updated %s; attempts: %d, generation %d", v.Moment(s.Entry.FirstSeenAt), v.Moment(s.Entry.UpdatedAt),
				s.Entry.Attempts, s.Entry.Generation)
			for _, p := range s.Entry.Warnings {
				a.Show("  remark: %s", p.Sentence(v.Lang))
			}
			if !s.Entry.ReducedAt.IsZero() {
				a.Show("Values, requests and answers are no longer kept since %s; what prevents a second sending is kept.", v.Moment(s.Entry.ReducedAt))
			}
			if s.Entry.GoneFromERP() {
				a.Show("Values of the ERP before the row left it or was cancelled there:")
			} else {
				a.Show("Values of the ERP:")
			}
			values, width := s.Entry.NewestValues(), 0
			for name := range values {
				width = max(width, len(name))
			}
			for _, name := range office.ColumnsInOrder(jobs, *s.Entry) {
				text := values[name].Text
				switch values[name].Kind {
				case 0:
					text = "NULL"
				case trade.Marked, mapping.Sealed:
					text = "…"
				}
				a.Line(fmt.Sprintf("  %-*s  %s", width, name, text))
			}
			if len(s.Entry.Payload) > 0 && !bytes.Equal(s.Entry.Payload, now) {
				a.Show("Request, POST %s:", mapping.PathOf(*s.Entry))
				a.PrintIndented(s.Entry.Payload)
			}
			printHints(a, *s.Entry, s.Hints)
			for _, t := range s.Attempts {
				a.Show("Attempt %d, %s: %s (generation %d)", t.No, v.Moment(t.StartedAt),
					a.Text("outcome."+words.OutcomeName(t.Outcome)), t.Generation)
				if t.Status != 0 {
					a.Line("  " + strings.TrimSpace(
						a.Text("HTTP answer %d %s", t.Status, strings.Join(t.Messages, ", "))))
				}
				if t.AnswerBody != "" {
					a.Show("  start of the answer: %s", t.AnswerBody)
				}
				if len(t.Evidence) > 0 {
					a.Show("  evidence: %s", t.Evidence)
				}
			}
		}
		if len(p.Fields) > 0 {
			a.Line("")
			printPreview(a, *p, state)
		}
	}
	if err == nil && s.ERPError != nil {
		return cli.ErrFailed
	}
	return err
}

// printHints prints what events reported.
func printHints(a *cli.App, e trade.Entry, h office.Hints) {
	v := a.Voice()
	for _, o := range h.Heard {
		word := ""
		if o.Word != "" {
			word = ": " + o.Word
		}
		a.Show("  %s, reported by the platform: %s%s", v.Moment(o.At), trade.EventLabel(o.Event, v.Lang), word)
	}
	if e.State != trade.InDoubt {
		return
	}
	if e.Sends != trade.OrderCommitments {
		a.Show("  The API has no events for deliveries and traceability and cannot read them: check on the platform.")
	}
	for _, s := range h.Like {
		a.Show("  An event reported record %s: %d {field|fields} as sent, %d that {differs|differ}, %d that the platform does not show", s.ID, s.Reading.Same, s.Reading.Differ, len(s.Reading.Unseen))
		for _, f := range s.Reading.Fields {
			if !f.Same {
				a.Show("    %s: sent %s, on the platform %s", trade.FieldLabel(f.Field, v.Lang),
					v.OrAbsent(f.Sent), v.OrAbsent(f.There))
			}
		}
		a.Show("    if it is this one: `safrasync adopt %s '%s' %s --reason TEXT`", e.Job, e.Key, s.ID)
	}
	for _, id := range h.Unreadable {
		a.Show("  An event reported record %s, which could not be read; that does not show whether it exists", id)
	}
	if h.More {
		a.Show("  There are more records than the %d that are compared here, which are the first that events reported since the request: if none is this one, check on the platform.", h.Compared())
	}
	if h.Listening && len(h.Like) == 0 && !h.More {
		a.Show("  Since the request, %d {event|events} arrived, %d of order commitments, and none of a record like this one; that proves nothing", h.Events, h.Own)
	}
	if h.Full() > 1 {
		a.Show("  More than one record, or more than one row, has this content: only a person can tell which belongs to which.")
	}
}

// open are the properties of `why --json` whose values say nothing of a person or a contract: states,
// codes, names of the configuration, numbers of our own, and times.
var open = []string{
	"acknowledged", "cause", "column", "columns", "event", "field", "flags", "generation", "job", "kind", "no",
	"outcome", "path", "reading", "ref", "rule", "sends", "seq", "severity", "state", "parent_state", "status",
	"timing", "version", "attempts", "gone_sweeps", "BytesWritten", "Duration", "FirstByteAfter", "Phase",
	"at", "finished_at", "first_seen_at", "heard_at", "next_attempt_at", "next_run", "reduced_at", "since",
	"started_at", "swept_at", "updated_at",
}

var (
	messageKey = regexp.MustCompile(`^message(\.[a-z-]+)+$`)
	digits     = regexp.MustCompile(`[0-9]`)
)

func masked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if _, tree := inner.(map[string]any); tree || !slices.Contains(open, name) {
				v[name] = masked(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = masked(v[i])
		}
	case json.Number:
		return json.Number(digits.ReplaceAllString(v.String(), "9"))
	case string:
		if !messageKey.MatchString(v) {
			// the signs between letters and digits stay: they are what a fault of a format is about
			return strings.Map(func(r rune) rune {
				switch {
				case unicode.IsLetter(r):
					return 'x'
				case unicode.IsNumber(r):
					return '9'
				}
				return r
			}, v)
		}
	}
	return v
}

// plainPreview returns a preview for JSON: with empty lists instead of nil, and in English.
func plainPreview(p dryrun.Preview) dryrun.Preview {
	p.Problems, p.WaitingFor = office.InEnglish(p.Problems), office.OrEmpty(p.WaitingFor)
	for i := range p.Fields {
		p.Fields[i].Columns = office.OrEmpty(p.Fields[i].Columns)
	}
	return p
}

// printPreview prints a preview for people. stands is the row's state in the ledger, or "" if it
// has none.
func printPreview(a *cli.App, p dryrun.Preview, stands trade.State) {
	lang, row := a.Lang(), a.Voice().Subject(p.Job, p.Key, p.Show)
	switch {
	case stands == trade.Accepted:
		a.Show("%s was already sent and is not sent again (%s). Below is the request with the current data.", row, stands.Label(lang))
	case stands.MayBeOnPlatform():
		a.Show("%s may be on the platform (%s): nothing sends it again but a person's order. Below, how it would be with the present data.", row, stands.Label(lang))
	case p.Cancelled:
		a.Show("%s: it would not be sent: it is cancelled in the ERP.", row)
	case p.State == trade.Pending:
		a.Show("%s: it would be sent like this.", row)
	default:
		a.Show("%s: it would not be sent (%s).", row, p.State.Label(lang))
	}
	if p.State == trade.Held {
		a.Line("  - " + trade.Explain(p.State, p.Cause, lang).What)
	}
	for _, problem := range p.Problems {
		a.Line("  - " + problem.Sentence(lang))
	}
	for _, text := range a.Voice().Awaited(p.WaitingFor) {
		a.Line("  - " + text)
	}
	if len(p.Fields) == 0 {
		return
	}
	head := []i18n.Key{"API field", "Value", "ERP column", "In the ERP", "Applied"}
	_ = cli.PrintTable(a, p.Fields, head, func(f dryrun.PreviewField) []any {
		return []any{f.Field, f.Value, strings.Join(f.Columns, ", "), f.ERP, f.Via}
	})
	if len(p.Request) > 0 {
		a.Show("Request, POST %s:", p.Path)
		a.PrintIndented(p.Request)
	}
}
