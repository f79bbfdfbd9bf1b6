package alert

import (
	"maps"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/trade"
)

// digest is the message of a digest.
func (v voice) digest(d Digest) Message {
	m := Message{Tone: Plain, Subject: v.digestSubject(d), Foot: v.text(footDigest, v.name, v.zone)}
	m.Parts = append(m.Parts, Part{Heading: v.text(digestTitle), Text: v.text(digestPeriod, v.moment(d.From), v.moment(d.Until)) + "\n" + v.digestShort(d)})
	if len(d.Alerts) > 0 {
		p := Part{Heading: v.text(digestAlerts)}
		for _, a := range d.Alerts {
			title, _, _, do := v.sentences(a.Topic, a.detail)
			p.Items = append(p.Items, Item{Text: upperFirst(title) + v.text(digestSince, v.moment(a.Since)), More: []string{do}})
		}
		m.Parts = append(m.Parts, p)
	}
	for _, j := range d.Jobs {
		m.Parts = append(m.Parts, v.digestJob(j)...)
	}
	if len(d.Missing) > 0 {
		p := Part{Heading: v.text(digestMissing), Text: v.text(digestMissingDo)}
		for _, missing := range d.Missing {
			p.Items = append(p.Items, Item{Text: v.missing(missing)})
		}
		m.Parts = append(m.Parts, p)
	}
	if p := (Part{Heading: v.text(digestActs), Items: v.acts(d.Acts)}); len(p.Items) > 0 {
		m.Parts = append(m.Parts, p)
	}
	return m
}

// digestSubject says the most important in one line.
func (v voice) digestSubject(d Digest) string {
	sent, stuck := v.totals(d)
	switch {
	case sent == "" && stuck == 0:
		return v.text(subjectQuiet, v.name, v.day(d.Until))
	case sent == "":
		return v.count(subjectStuck, stuck, v.name, v.day(d.Until), v.rows(stuck))
	case stuck == 0:
		return v.text(subjectSent, v.name, v.day(d.Until), sent)
	}
	return v.text(subjectBoth, v.name, v.day(d.Until), sent, v.rows(stuck))
}

// digestShort is the digest in two sentences.
func (v voice) digestShort(d Digest) string {
	sent, stuck := v.totals(d)
	out := v.text(shortNoneSent)
	if sent != "" {
		out = v.text(shortSent, sent)
	}
	switch stuck {
	case 0:
		return out + " " + v.text(shortNoneStuck)
	case 1:
		return out + " " + v.text(shortOneStuck)
	}
	return out + " " + v.text(shortStuck, v.rows(stuck))
}

// stuck are the states of rows for which somebody must do something.
var stuck = []trade.State{trade.Waiting, trade.Invalid, trade.Rejected, trade.InDoubt, trade.Held}

// totals says what went, each kind for itself, and how many rows did not.
func (v voice) totals(d Digest) (sent string, kept int) {
	counts := map[trade.Kind]int{}
	for _, j := range d.Jobs {
		for _, sum := range j.Sent {
			counts[j.Sends] += sum.Rows
		}
		for _, state := range stuck {
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

// digestJob has up to three parts: what went, what did not, and where all rows stand.
func (v voice) digestJob(j DigestJob) []Part {
	heading := v.text(digestJobOnly, j.Job)
	if j.Sends != "" {
		heading = v.text(digestJobHead, upperFirst(j.Sends.Plural(v.lang)), j.Job)
	}
	went := Part{Heading: heading}
	total := 0
	types := map[string]bool{}
	for _, sum := range j.Sent {
		total += sum.Rows
		types[sum.OrderType] = true
		went.Items = append(went.Items, v.sentItem(j.Sends, sum))
	}
	went.Text = v.text(digestNoneSent)
	if total > 0 {
		went.Text = v.count(digestSent, total, v.records(j.Sends, total))
	}
	if j.New+j.Changed > 0 {
		went.Text += " " + v.text(digestRead, v.rows(j.New), v.rows(j.Changed))
	}
	if types[string(trade.AFixar)] && types[string(trade.FixacaoCompra)] {
		went.Text += "\n" + v.text(digestSameGrain)
	}
	parts := []Part{went}
	if len(j.Causes) > 0 {
		parts = append(parts, Part{Heading: v.text(digestNotSent, heading), Items: v.causes(j.Causes)})
	}
	if items := v.remarks(j); len(items) > 0 {
		parts = append(parts, Part{Heading: v.text(digestRemarks, heading), Items: items})
	}
	if text := v.position(j); text != "" {
		parts = append(parts, Part{Text: text})
	}
	return parts
}

// sentItem is one sum: product and type, rows, weight, value by currency.
func (v voice) sentItem(sends trade.Kind, sum SentSum) Item {
	what := v.product(sum.Product)
	if sum.OrderType != "" {
		what += ", " + v.orderType(sum.OrderType)
	}
	item := Item{Text: what + ": " + v.records(sends, sum.Rows)}
	if sum.Product != "" && sum.Rows > sum.Unweighed { // what is not known may be several products
		item.More = append(item.More, v.text(digestWeight, v.weight(sum.Kilograms)))
	}
	if sum.Unweighed > 0 {
		item.More = append(item.More, v.count(digestUnweighed, sum.Unweighed, v.rows(sum.Unweighed)))
	}
	for _, currency := range slices.Sorted(maps.Keys(sum.Values)) {
		item.More = append(item.More, v.text(digestValue, v.currency(currency), v.money(sum.Values[currency])))
	}
	if sum.Unpriced > 0 {
		item.More = append(item.More, v.count(digestUnpriced, sum.Unpriced, v.rows(sum.Unpriced)))
	}
	return item
}

// volume is what of one product does not go.
func (v voice) volume(sum Volume) string {
	text := v.product(sum.Product) + ": " + v.count(rowsCount, sum.Rows, v.rows(sum.Rows))
	if sum.Product != "" && sum.Rows > sum.Unweighed {
		text += ", " + v.weight(sum.Kilograms)
	}
	if sum.Product != "" && sum.Unweighed > 0 {
		text += "; " + v.count(digestUnweighed, sum.Unweighed, v.rows(sum.Unweighed))
	}
	return text
}

func (v voice) product(code string) string {
	if p, ok := productWords[code]; ok {
		return v.text(p)
	}
	return v.text(productUnknown)
}

func (v voice) orderType(code string) string {
	if p, ok := orderTypeWords[code]; ok {
		return v.text(p)
	}
	return v.text(typeUnknown)
}

// currency is the sign of a currency, or its code: three letters and nothing else.
func (v voice) currency(code string) string {
	if sign, ok := map[string]string{"BRL": "R$", "USD": "US$"}[code]; ok {
		return sign
	}
	if len(code) == 3 && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return code
	}
	return "?"
}

// remarks are the flags of rows that were sent and differ in the ERP now, with what to do.
func (v voice) remarks(j DigestJob) []Item {
	var out []Item
	for _, w := range flagWords {
		if n := j.Flags[w.flag]; n > 0 {
			out = append(out, Item{Text: v.count(w.what, n, v.rows(n)), More: []string{v.text(w.do, j.Job)}})
		}
	}
	if j.Late > 0 {
		out = append(out, Item{Text: v.count(digestLate, j.Late, v.rows(j.Late))})
	}
	return out
}

// position is where all rows stand: the states are all summands of the total.
func (v voice) position(j DigestJob) string {
	total := 0
	var parts []string
	for _, s := range trade.States {
		if n := j.States[s]; n > 0 {
			total += n
			parts = append(parts, v.rows(n)+" "+v.text(stateWords[s]))
		}
	}
	if total == 0 {
		return ""
	}
	return v.count(digestPosition, total, v.rows(total), strings.Join(parts, " + "))
}

// missing says what a kind of reference keeps from going: "1 carteira sem vínculo bloqueia 38 contratos e 112 entregas".
func (v voice) missing(m DigestMissing) string {
	w, ok := missingWords[m.Kind]
	if !ok {
		w = missingOther
	}
	var what []string
	for _, kind := range trade.Kinds {
		if n := m.Blocked[kind]; n > 0 {
			what = append(what, v.records(kind, n))
		}
	}
	return v.count(w, m.Codes, m.Codes) + " " + v.list(what)
}

// acts counts what people decided, in the order of the words.
func (v voice) acts(acts map[string]int) []Item {
	var out []Item
	for _, w := range actWords {
		if n := acts[w.act]; n > 0 {
			out = append(out, Item{Text: v.count(w.what, n, v.rows(n))})
		}
	}
	return out
}
