package alert

import (
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/internal/i18n"
	"github.com/safrasync/safrasync/trade"
)

func (v voice) digest(d Digest) Message {
	m := Message{
		Tone: Plain, Subject: v.digestSubject(d), Foot: v.text("%s, times of %s.", v.name, v.zone),
		Link: v.pageLink("/pending", nil),
	}
	m.Parts = append(m.Parts, Paragraph{
		Heading: v.text("What was sent to the platform"),
		Text:    v.text("Period: from %s to %s.", v.moment(d.From), v.moment(d.Until)) + "\n" + v.digestShort(d),
	})
	if len(d.Alerts) > 0 {
		p := Paragraph{Heading: v.text("Open alerts")}
		for _, a := range d.Alerts {
			title, _, _, do := v.sentences(a.Topic, a.Detail, ".happened")
			p.Items = append(p.Items, Item{
				Text: upperFirst(title) + v.text(", since %s.", v.moment(a.Since)),
				More: []string{do}, Link: v.topicLink(a.Topic, a.Detail),
			})
		}
		m.Parts = append(m.Parts, p)
	}
	for _, j := range d.Jobs {
		m.Parts = append(m.Parts, v.digestJob(j)...)
	}
	if len(d.Missing) > 0 {
		p := Paragraph{Heading: v.text("Missing references"), Text: v.text("IT: `safrasync refs list` shows the codes. Once they have ids, the rows are sent automatically.")}
		for _, missing := range d.Missing {
			w := "missing." + missing.Kind
			if !i18n.Alerts.Has(w) {
				w = "%d {code|codes} without an id {blocks|block}"
			}
			var what []string
			for _, kind := range trade.Kinds {
				if n := missing.Blocked[kind]; n > 0 {
					what = append(what, v.records(kind, n))
				}
			}
			p.Items = append(p.Items, Item{Text: v.text(w, missing.Codes) + " " + v.list(what)})
		}
		m.Parts = append(m.Parts, p)
	}
	p := Paragraph{Heading: v.text("Decisions recorded in this period")}
	for _, act := range shownActs {
		if n := d.Acts[act]; n > 0 {
			p.Items = append(p.Items, Item{Text: v.text("act."+act, v.rows(n))})
		}
	}
	if len(p.Items) > 0 {
		m.Parts = append(m.Parts, p)
	}
	return m
}

// digestSubject returns the most important facts in one line.
func (v voice) digestSubject(d Digest) string {
	sent, stuck := v.totals(d)
	switch {
	case sent == "" && stuck == 0:
		return v.text("[%s] Digest of %s: nothing new, nothing open", v.name, v.day(d.Until))
	case sent == "":
		return v.text("[%s] Digest of %s: nothing sent; %s {row|rows} to be resolved", v.name, v.day(d.Until), v.rows(stuck))
	case stuck == 0:
		return v.text("[%s] Digest of %s: sent %s; nothing open", v.name, v.day(d.Until), sent)
	}
	return v.text("[%s] Digest of %s: sent %s; to be resolved: %s", v.name, v.day(d.Until), sent, v.rows(stuck))
}

// digestShort returns the digest in two sentences.
func (v voice) digestShort(d Digest) string {
	sent, stuck := v.totals(d)
	out := v.text("Nothing was sent in this period.")
	if sent != "" {
		out = v.text("Sent to the platform: %s.", sent)
	}
	switch stuck {
	case 0:
		return out + " " + v.text("No row is waiting for a person.")
	case 1:
		return out + " " + v.text("1 row was not sent and must be resolved; below is why, and what to do.")
	}
	return out + " " + v.text("%s {row was not sent and must|rows were not sent and must} be resolved; below is why, and what to do.", v.rows(stuck))
}

// totals returns what was sent, each kind separately, and how many rows were not.
func (v voice) totals(d Digest) (sent string, kept int) {
	counts := map[trade.Kind]int{}
	for _, j := range d.Jobs {
		for _, sum := range j.Sent {
			counts[j.Sends] += sum.Rows
		}
		for _, state := range trade.Stuck {
			kept += j.States[state]
		}
	}
	var parts []string
	for _, kind := range trade.Kinds {
		if counts[kind] > 0 {
			parts = append(parts, v.records(kind, counts[kind]))
		}
	}
	return v.list(parts), kept
}

// digestJob returns up to three parts: what was sent, what was not, and the states of all rows.
func (v voice) digestJob(j DigestJob) []Paragraph {
	heading := v.text("Job %s, which is no longer configured", j.Job)
	if j.Sends != "" {
		title := upperFirst(j.Sends.Plural(v.lang))
		if own := v.titles.Of(j.Job); own != j.Job {
			title = own
		}
		heading = v.text("%s (job %s)", title, j.Job)
	}
	went := Paragraph{Heading: heading}
	total := 0
	types := map[string]bool{}
	for _, sum := range j.Sent {
		total += sum.Rows
		types[sum.OrderType] = true
		went.Items = append(went.Items, v.sentItem(j.Sends, sum))
	}
	went.Text = v.text("Nothing was sent.")
	if total > 0 {
		went.Text = v.text("Sent to the platform: %s.", v.records(j.Sends, total))
	}
	if j.New+j.Changed > 0 {
		went.Text += " " + v.text("In the ERP: %s {new row|new rows}, %s changed.", v.rows(j.New), v.rows(j.Changed))
	}
	if types[string(trade.AFixar)] && types[string(trade.FixacaoCompra)] {
		went.Text += "\n" + v.text("Careful with sums: a fixation is the same grain as its contract to be fixed.")
	}
	parts := []Paragraph{went}
	if len(j.Causes) > 0 {
		parts = append(parts, Paragraph{Heading: v.text("%s: what was not sent, why, and what to do", heading), Items: v.causes(j.Job, j.Causes)})
	}
	var differ []Item // rows that were sent and differ in the ERP now, with what to do
	for _, flag := range askingFlags {
		if n := j.Flags[flag]; n > 0 {
			key := i18n.Key("flag." + flag)
			differ = append(differ, Item{Text: v.text(key, v.rows(n)), More: []string{v.text(key + ".do")}})
		}
	}
	if j.Late > 0 {
		differ = append(differ, Item{Text: v.text("%s {row|rows} appeared only in the complete sweep ({it|they} reached the ERP late)", v.rows(j.Late))})
	}
	if len(differ) > 0 {
		parts = append(parts, Paragraph{Heading: v.text("%s: to be checked on the platform", heading), Items: differ})
	}
	known := 0
	var states []string
	for _, s := range trade.States {
		if n := j.States[s]; n > 0 {
			known += n
			states = append(states, v.rows(n)+" "+v.text(i18n.Key("state."+s)))
		}
	}
	if known > 0 {
		text := v.text("Position: %s known {row|rows} = %s.", v.rows(known), strings.Join(states, " + "))
		parts = append(parts, Paragraph{Text: text})
	}
	return parts
}

// sentItem returns one sum: product and type, rows, weight, value by currency.
func (v voice) sentItem(sends trade.Kind, sum SentSum) Item {
	what := v.named("product.", sum.Product)
	if sum.OrderType != "" {
		what += ", " + v.named("order.type.", sum.OrderType)
	}
	item := Item{Text: what + ": " + v.records(sends, sum.Rows)}
	if sum.Product != "" && sum.Rows > sum.Unweighed { // an unknown product may stand for several
		item.More = append(item.More, v.text("Volume: %s", v.weight(sum.Kilograms)))
	}
	if sum.Unweighed > 0 {
		item.More = append(item.More, v.text("%s without volume or unit", v.rows(sum.Unweighed)))
	}
	for _, currency := range slices.Sorted(maps.Keys(sum.Values)) {
		item.More = append(item.More, v.text("Value: %s %s", v.currency(currency), v.money(sum.Values[currency])))
	}
	if sum.Unpriced > 0 {
		item.More = append(item.More, v.text("%s without a price, not included in the value", v.rows(sum.Unpriced)))
	}
	return item
}

// volume returns how much of one product is not sent.
func (v voice) volume(sum trade.ProductSums) string {
	text := v.named("product.", sum.Product) + ": " + v.text("%s {row|rows}", v.rows(sum.Rows))
	if sum.Product != "" && sum.Rows > sum.Unweighed {
		text += ", " + v.weight(sum.Kilograms)
	}
	if sum.Product != "" && sum.Unweighed > 0 {
		text += "; " + v.text("%s without volume or unit", v.rows(sum.Unweighed))
	}
	return text
}

// named returns the words for a code of the platform, or those for an unknown one.
func (v voice) named(kind i18n.Key, code string) string {
	if key := kind + code; i18n.Alerts.Has(key) {
		return v.text(key)
	}
	return v.text(kind + "unknown")
}

// currency returns the sign of a currency, or its code if that is three letters, or words: the ERP's
// column may hold anything, and its text must not appear in a message.
func (v voice) currency(code string) string {
	if sign, ok := map[string]string{"BRL": "R$", "USD": "US$"}[code]; ok {
		return sign
	}
	if len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return code
	}
	return v.text("(currency not recognized)")
}

// askingFlags are the flags that require a decision, in the order in which they are shown.
var askingFlags = []trade.Flag{
	trade.Changed, trade.Cancelled, trade.MissingInERP, trade.DoubleAfterDecision, trade.Contradicted,
	trade.DeletedRemote, trade.Recoded,
}

// shownActs are the acts that decide about rows, and the late answers that end such decisions.
var shownActs = []string{"adopt", "resend", "retry", "dismiss", "reopen", "acknowledge", "release", "late answer"}
