package words

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/internal/config"
	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/state"
	"github.com/safrasync/safrasync/trade"
)

// Voice is the language and the time zone of the texts for one reader.
type Voice struct {
	Lang   trade.Lang
	Zone   *time.Location
	Titles trade.Titles // titles of the configured jobs
	Now    time.Time    // a next attempt before it is one of the next run
}

// Machine is the voice of sentences in JSON: English, UTC.
var Machine = Voice{Lang: trade.English, Zone: time.UTC}

// Text returns a phrase. String arguments may come from the ERP; they are reduced to one line and
// to characters that cannot control the terminal.
func (v Voice) Text(p i18n.Key, args ...any) string {
	given := slices.Clone(args)
	for i, arg := range given {
		switch text := arg.(type) {
		case error:
			given[i] = v.Fault(text)
		case string:
			given[i] = Printable(text)
		case json.RawMessage:
			given[i] = trade.EscapeJSON(text)
		}
	}
	return i18n.CLI.Text(v.Lang, p, given...)
}

// Say returns a sentence for the reader.
func (v Voice) Say(s trade.Sentence) string { return Printable(s.In(v.Lang, v.Zone)) }

// Said returns a fixed English text of the code in the person's language.
func (v Voice) Said(english string) string {
	told, _ := i18n.SentenceForm(v.Lang, english)
	return told
}

// Fault returns the text of an error, in the person's language as far as it is translated.
func (v Voice) Fault(err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) == 1 {
		return v.Fault(joined.Unwrap()[0])
	}
	if faults, ok := errors.AsType[*config.Error](err); ok {
		return faults.In(v.Lang)
	}
	if told, ok := err.(interface{ Sentence() trade.Sentence }); ok {
		return v.Say(told.Sentence())
	}
	if ledger, ok := errors.AsType[*state.Error](err); ok {
		return v.LedgerFault(ledger, err)
	}
	if v.Lang == trade.English {
		return err.Error()
	}
	if call, ok := err.(*apiclient.CallError); ok { //nolint:errorlint // one that is wrapped keeps what is around it
		// What is known of its effect is told beside it.
		text := v.Said(call.Op)
		if call.Status != 0 {
			text += v.Text(", status %d", call.Status)
		}
		for _, m := range call.Messages[:min(len(call.Messages), callMessages)] {
			if apiclient.IsMessageKey(m) {
				text += ", " + m
			}
		}
		if call.Err != nil {
			text += ": " + v.Fault(call.Err)
		}
		return text
	}
	return i18n.ErrorText(v.Lang, err)
}

const callMessages = 5 // of the platform's keys that are shown

// Moment formats a time for people; "-" for the zero time.
func (v Voice) Moment(t time.Time) string {
	switch {
	case t.IsZero():
		return "-"
	case v.Zone == time.UTC:
		return t.UTC().Format(time.RFC3339)
	}
	return trade.MomentText(t, v.Lang, v.Zone)
}

// Printable makes a text of the ERP, or of a foreign server, safe to print: it cannot control the
// terminal, reverse the direction of a line, or begin a new line. Documents of persons are masked.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '↵'
		case r == '\t':
			return ' '
		case trade.ControlsTerminal(r):
			return utf8.RuneError
		}
		return r
	}, trade.MaskDocuments(strings.ReplaceAll(text, "\r\n", "\n")))
}

// Lines applies Printable to each line of a text.
func Lines(text string) string {
	return strings.Join(trade.Map(strings.Split(text, "\n"), Printable), "\n")
}

// Subject returns the name of a row: the job's title and what people are shown of the row, with
// documents masked, then job and key as commands take them: Contratos 01/001008 · José da Silva
// (contracts 01|001008).
func (v Voice) Subject(job, key string, shown trade.Shown) string {
	name := job + " " + key
	lead, line := v.Titles.Of(job), shown.Masked().Line()
	switch {
	case line != "":
		lead += " " + line
	case lead == job:
		return name
	}
	return lead + " (" + name + ")"
}

// Job returns the title of a job with the name that commands take: Contratos (contracts).
func (v Voice) Job(name string) string {
	if title := v.Titles.Of(name); !strings.EqualFold(title, name) {
		return title + " (" + name + ")"
	}
	return name
}

// ErrNoFolder means that a file cannot be created because its folder does not exist.
var ErrNoFolder = errors.New("the folder does not exist")

// FileReason returns why a file cannot be opened, without its path.
func (v Voice) FileReason(err error) string {
	switch {
	case errors.Is(err, ErrNoFolder):
		return v.Text("the folder does not exist; create it, or give another name")
	case errors.Is(err, fs.ErrNotExist):
		return v.Text("the file does not exist")
	case errors.Is(err, fs.ErrExist):
		return v.Text("the file already exists and is not overwritten; give another name")
	case errors.Is(err, fs.ErrPermission):
		return v.Text("no permission for this file or folder")
	}
	return v.Fault(config.PlainReason(err))
}
