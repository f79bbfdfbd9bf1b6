package trade

import "cmp"

// Kind is what a job sends: one kind of record of the platform. The names are those of `sends:` in
// the configuration.
type Kind string

// The kinds of records.
const (
	OrderCommitments Kind = "order_commitments" // negotiations (chapter 2.1): contracts and fixations of the ERP
	// deliveries against a contract (chapter 2.2): lines of weighing tickets
	Deliveries   Kind = "deliveries"
	Traceability Kind = "traceability" // whose grain an order commitment is made of (chapter 2.3)
)

// Kinds lists what this program can send, parents before what hangs on them.
var Kinds = []Kind{OrderCommitments, Deliveries, Traceability}

// Label is what one record of the kind is called in the trade: "contrato", "entrega",
// "rastreabilidade".
func (k Kind) Label(lang Lang) string { return wordsIn(lang).Records[k].One }

// Plural is what several records of the kind are called.
func (k Kind) Plural(lang Lang) string { return wordsIn(lang).Records[k].Many }

// Record is a checked record: it can be sent as it stands. There is one type for each kind.
type Record interface{ Kind() Kind }

// Rules returns the rules of a kind of record, nil for what is no kind.
func Rules(kind Kind) []FieldRule {
	switch kind {
	case OrderCommitments:
		return OrderCommitmentRules
	case Deliveries:
		return DeliveryRules
	case Traceability:
		return TraceabilityRules
	}
	return nil
}

// Rule finds the rule of one field of a kind.
func Rule(kind Kind, field string) (FieldRule, bool) {
	for _, rule := range Rules(kind) {
		if rule.Field == field {
			return rule, true
		}
	}
	return FieldRule{}, false
}

// Check turns a draft into a record that may be sent, or says everything that is wrong with it.
// Problems of severity [Warning] come with a record all the same. today is the day against which
// dates are judged plausible.
func Check(draft Draft, checks Checks, today Date) (Record, []Problem) {
	switch draft.Sends {
	case Deliveries:
		return CheckDelivery(draft, checks, today)
	case Traceability:
		return CheckTraceability(draft, checks, today)
	}
	return CheckOrderCommitment(draft, checks, today)
}

// TitledJob is a job as far as its title goes. Title is what the configuration gives it; "" = none.
type TitledJob struct {
	Job   string
	Sends Kind
	Title string
}

// Titles are what people are shown instead of the names of jobs.
type Titles map[string]string

// TitlesOf gives each job its title: that of the configuration; else that of what it sends, when no
// other job sends such records; else its name.
func TitlesOf(jobs []TitledJob, lang Lang) Titles {
	of := map[Kind]int{}
	for _, j := range jobs {
		of[j.Sends]++
	}
	out := make(Titles, len(jobs))
	for _, j := range jobs {
		kind := ""
		if of[j.Sends] == 1 {
			kind = wordsIn(lang).Records[j.Sends].Title
		}
		out[j.Job] = cmp.Or(j.Title, kind, j.Job)
	}
	return out
}

// Of returns the title of a job; its name for one that is not configured.
func (t Titles) Of(job string) string { return cmp.Or(t[job], job) }
