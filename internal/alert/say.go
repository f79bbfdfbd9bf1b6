package alert

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/internal/phrase"
	"github.com/safrasync/safrasync/trade"
)

// raised returns the message of an alert that begins.
func (v voice) raised(n notice) Message {
	title, happened, means, do := v.sentences(n.Topic, n.Detail, ".happened")
	m := Message{
		Tone: Alarm, Subject: v.text("[%s] Attention: %s", v.name, title),
		Foot: v.text("%s, times of %s. Each alert is sent once when it starts and once when it ends.", v.name, v.zone), Link: v.topicLink(n.Topic, n.Detail),
	}
	m.Parts = append(m.Parts, Paragraph{Heading: v.text("What happened"), Text: happened})
	since := i18n.Key("Since when")
	if n.Topic == LateAnswer {
		since = "When"
	}
	if !n.Since.IsZero() {
		m.Parts = append(m.Parts, Paragraph{Heading: v.text(since), Text: v.moment(n.Since)})
	}
	if len(n.Detail.Causes) > 0 {
		m.Parts = append(m.Parts, Paragraph{
			Heading: v.text("Why"), Items: v.causes(n.Detail.job(), n.Detail.Causes),
		})
	}
	m.Parts = append(m.Parts, Paragraph{Heading: v.text("What it means"), Text: means},
		Paragraph{Heading: v.text("What to do"), Text: do})
	return m
}

// over returns the message of an alert that has ended. It repeats everything, because the first
// message may not have arrived.
func (v voice) over(n notice) Message {
	title, happened, _, _ := v.sentences(n.Topic, n.Detail, ".was")
	return Message{
		Tone: Good, Subject: v.text("[%s] Resolved: %s", v.name, title), Foot: v.text("%s, times of %s. Each alert is sent once when it starts and once when it ends.", v.name, v.zone),
		Link: v.topicLink(n.Topic, n.Detail),
		Parts: []Paragraph{
			{
				Heading: v.text("What happened"),
				Text: v.text("%s\nIt started at %s and ended at %s (%s).", happened, v.moment(n.Since), v.moment(n.Gone),
					v.span(n.Gone.Sub(n.Since))),
			},
			{Heading: v.text("What to do"), Text: v.text("Nothing: this alert is closed.")},
		},
	}
}

// TestMessage returns the message that `safrasync check --alert` sends.
func TestMessage(c Config) Message {
	v := c.voice()
	return Message{
		At: c.Now().UTC(), Kind: kindTest, Group: trade.IT, Tone: Plain, Subject: v.text("[%s] Test message", v.name),
		Foot:  v.text("%s, times of %s.", v.name, v.zone),
		Link:  v.pageLink("/alerts", nil),
		Parts: []Paragraph{{Text: v.text("This is a test that `safrasync check --alert` asked for. If you got it, alerts reach you here.")}},
	}
}

// sentences returns the sentences of a message about an alert; tense selects what happened, or was.
func (v voice) sentences(topic Topic, d Detail, tense i18n.Key) (title, happened, means, do string) {
	if topic == Stopped {
		return v.stopSentences(d, tense)
	}
	job := d.job()
	rows := v.text("%s {row|rows}", v.rows(d.Rows))
	if len(d.Jobs) > 0 {
		rows = v.records(d.Jobs[0].Sends, d.Rows)
	}
	var args []any
	where := v.jobs(d.Jobs)
	switch topic {
	case InDoubt, LongWaiting:
		args = []any{where, rows, v.moment(d.Oldest)}
	case Rejected:
		args = []any{where, rows, v.rows(d.Limit)}
	case NothingNew:
		args = []any{where, v.moment(d.Oldest), v.text("without weekends and national holidays")}
	case SweepMissed:
		args = []any{where, v.text("%s {row|rows}", v.rows(d.Rows)), v.span(time.Duration(d.Late) * time.Second)}
	case Contradicted, LateAnswer:
		args = []any{where, rows}
	case DiskFull:
		job = d.Host
		args = []any{d.Host, d.Folder, v.rows(int(d.Free >> 20))}
	case Unseen:
		job, args = d.Host, []any{d.Host, d.Folder, v.moment(d.Oldest)}
	case Certificate:
		args = []any{v.day(d.Ends)}
	case Silent:
		args = []any{v.moment(d.Oldest), rows, v.text("without weekends and national holidays")}
	case Accounts:
		args = []any{v.rows(d.Accounts), v.rows(d.Rows), v.rows(int(d.Record))}
	case Unheard:
		args = []any{v.rows(d.Rows)}
	case BackupOld:
		last := v.text("none was made so far")
		if !d.Oldest.IsZero() {
			last = v.text("the last one, of %s", v.moment(d.Oldest))
		}
		args = []any{last}
	}
	key := "topic." + string(topic)
	title = v.text(key + ".title")
	if strings.Contains(title, "%s") {
		title = fmt.Sprintf(title, v.titles.Of(job))
	}
	do = v.text(key + ".do")
	if strings.Contains(do, "%[1]s") {
		do = fmt.Sprintf(do, job)
	}
	return title, v.text(key+tense, args...), v.text(key + ".means"), do
}

func (v voice) stopSentences(d Detail, tense i18n.Key) (title, happened, means, do string) {
	stop := trade.ExplainStop(d.Code, v.lang)
	why := stop.What
	names := trade.Map(d.Jobs, func(j Job) string { return v.titles.Of(j.Name) })
	title = v.text("sending stopped in %s: %s", v.list(names), why)
	happened = v.text("stop"+tense, v.jobs(d.Jobs), why)
	if d.Rows > 0 {
		rows := v.text("%s new {row|rows}", v.rows(d.Rows))
		if d.Usual > 0 {
			happened += " " + v.text("%s, when %s are usual.", rows, v.rows(d.Usual))
		} else {
			happened += " " + upperFirst(rows) + "."
		}
	}
	means = v.text("Nothing is lost: the data waits in the ERP.")
	if slices.Contains(endedByPerson, d.Code) {
		means += v.text(" Sending resumes only after a person has checked.")
	} else {
		means += v.text(" Sending resumes automatically when the cause is resolved.")
	}
	first := ""
	if len(names) > 0 {
		first = names[0]
	}
	do = v.forWhom(stop.Fixer, stop.Do)
	if stop.Fixer != trade.FixNobody { // after the name of who does it: "TI: renove a chave"
		r, n := utf8.DecodeRuneInString(do)
		do = stop.Who + ": " + strings.ToLower(string(r)) + do[n:]
	}
	return title, happened, means, strings.ReplaceAll(do, "{job}", first)
}

// forWhom returns what to do as pages and buttons, except for IT, which has a command line.
func (v voice) forWhom(fixer trade.Fixer, do string) string {
	if fixer == trade.FixIT {
		return do
	}
	return i18n.InBrowser(v.lang, do)
}

// records returns a number of records of a kind: "1 contrato", "38 entregas".
func (v voice) records(sends trade.Kind, n int) string {
	if sends == trade.Traceability {
		return v.text("%s traceability {record|records}", v.rows(n))
	}
	if sends == "" {
		return v.text("%s {row|rows}", v.rows(n))
	}
	if n == 1 {
		return v.rows(n) + " " + sends.Label(v.lang)
	}
	return v.rows(n) + " " + sends.Plural(v.lang)
}

// causesShown is how many causes a message lists.
const causesShown = 8

// causes lists what blocks rows of a job, one task per line.
func (v voice) causes(job string, causes []Cause) []Item {
	var out []Item
	for i, c := range causes {
		if i == causesShown {
			out = append(out, Item{Text: v.text("… and %d more {cause|causes}", len(causes)-i)})
			break
		}
		if c.Awaited != nil {
			c.Awaited.Key = v.text("KEY")
		}
		if p := c.Problem; p != nil && p.Rule == trade.RuleDeclared && p.Detail == "" { // a text of the ERP stays there
			text := phrase.Packed(v.text("the ERP's query says what is wrong, in column %s", p.Column))
			c.Problem = &trade.Problem{Rule: p.Rule, Column: p.Column, Detail: text}
		}
		advice := trade.ExplainTask(c.State, c.Cause, c.Problem, c.Awaited, v.lang)
		what := advice.What
		if c.Subjects > 0 {
			what += v.text(" (%d {code|codes})", c.Subjects)
		}
		text := v.text("%s × %s", v.rows(c.Rows), what) + v.text(" [%s]", c.State.Label(v.lang))
		if !c.Oldest.IsZero() {
			text += v.text("; the oldest from %s", v.day(c.Oldest))
		}
		item := Item{Text: text}
		if v.console != "" && job != "" { // a cause is a code of ours, and no value of the ERP
			query := url.Values{"job": {job}, "state": {string(c.State)}}
			if c.Cause != "" {
				query.Set("cause", c.Cause)
			}
			item.Link = Link{v.text("See the documents in the console"), v.console + "/rows?" + query.Encode()}
		}
		switch {
		case c.Owner == "":
		case c.Until.IsZero():
			item.More = append(item.More, strings.TrimSpace(v.text("with %s", c.Owner)+" "+c.Note))
		default:
			item.More = append(item.More,
				strings.TrimSpace(v.text("with %s until %s", c.Owner, v.day(c.Until))+" "+c.Note))
		}
		item.More = append(item.More, trade.Map(c.Volumes, v.volume)...)
		if advice.Do != "" {
			item.More = append(item.More,
				v.text("Who resolves it: %s. %s", advice.Who, v.forWhom(advice.Fixer, advice.Do)))
		}
		out = append(out, item)
	}
	return out
}

// voice writes texts in one language and one time zone.
type voice struct {
	lang   trade.Lang
	zone   *time.Location
	name   string
	titles trade.Titles
	// console is the public address of the console, without a slash at its end; "" if it has none
	console string
}

// voice returns the voice in which the messages are written.
func (c Config) voice() voice { return voice{c.Lang, c.Zone, c.Name, c.Titles, c.Console} }

func (v voice) text(p i18n.Key, args ...any) string {
	return i18n.Alerts.Text(v.lang, p, args...)
}

// moment returns a time as people write it.
func (v voice) moment(t time.Time) string { return trade.MomentText(t, v.lang, v.zone) }

func (v voice) day(t time.Time) string {
	if v.lang == trade.English {
		return t.In(v.zone).Format("2006-01-02")
	}
	return t.In(v.zone).Format("02/01/2006")
}

// span returns a duration in its two largest units.
func (v voice) span(d time.Duration) string {
	minutes := int(d / time.Minute)
	days, hours := minutes/(24*60), minutes/60%24
	minutes %= 60
	switch {
	case days > 0 && hours > 0:
		return v.text("%d {day|days}", days) + v.text(" and ") + v.text("%d {hour|hours}", hours)
	case days > 0:
		return v.text("%d {day|days}", days)
	case hours > 0 && minutes > 0:
		return v.text("%d {hour|hours}", hours) + v.text(" and ") + v.text("%d {minute|minutes}", minutes)
	case hours > 0:
		return v.text("%d {hour|hours}", hours)
	}
	return v.text("%d {minute|minutes}", max(minutes, 1))
}

// number returns a decimal, exact and in the notation of the language: 4.310,5 or 4,310.5.
func (v voice) number(d trade.Decimal) string {
	return v.hyphened(trade.NumberText(d.String(), v.lang))
}

// money returns a number with at least two decimals. It shows more if there are more, because
// nothing is rounded.
func (v voice) money(d trade.Decimal) string { return v.hyphened(trade.MoneyText(d.Round(2), v.lang)) }

func (v voice) rows(n int) string { return trade.NumberText(strconv.Itoa(n), v.lang) }

// hyphened replaces the minus sign, which some mail programs cannot show.
func (voice) hyphened(number string) string { return strings.Replace(number, "−", "-", 1) }

// sacasScale is the maximum number of decimals of sacas.
const sacasScale = 4

// weight returns kilograms and sacas: "720.000 kg = 12.000 sc". Sacas that have no exact decimal
// form are marked as approximate.
func (v voice) weight(kg trade.Decimal) string {
	sacas, exact := kg.Sacas(sacasScale)
	sign := " = "
	if !exact {
		sacas, _ = kg.Sacas(2)
		sign = " ≈ "
	}
	return v.number(kg) + " kg" + sign + v.number(sacas) + " sc"
}

// list joins words as in a sentence: "a, b e c".
func (v voice) list(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + v.text(" and ") + items[len(items)-1]
}

// jobs returns the names of jobs: "contracts (contratos) e deliveries (entregas)", or their titles.
// A message contains nothing of a row (I10), because it leaves the cooperative.
func (v voice) jobs(jobs []Job) string {
	names := make([]string, len(jobs))
	for i, j := range jobs {
		names[i] = j.Name
		if title := v.titles.Of(j.Name); !strings.EqualFold(title, j.Name) {
			names[i] = title + " (" + j.Name + ")" // with the name that commands take: Compras (contracts)
		} else if j.Sends != "" && j.Sends.Plural(v.lang) != j.Name {
			names[i] += " (" + j.Sends.Plural(v.lang) + ")"
		}
	}
	return v.list(names)
}

// upperFirst returns the text with a capital first letter.
func upperFirst(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	return strings.ToUpper(string(r)) + text[n:]
}
