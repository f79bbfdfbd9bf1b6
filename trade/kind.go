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
	Traceability Kind = "traceability" // whose grain an order commitment consists of (chapter 2.3)
)

// Kinds lists what this program can send, parents before children.
var Kinds = []Kind{OrderCommitments, Deliveries, Traceability}

// Label returns what one record of the kind is called in the trade: "contrato", "entrega",
// "rastreabilidade".
func (k Kind) Label(lang Lang) string { return find(lang, "records."+string(k)+".one") }

// Plural returns what several records of the kind are called.
func (k Kind) Plural(lang Lang) string { return find(lang, "records."+string(k)+".many") }

// TitledJob is what determines a job's title. Title is the configured one; "" = none.
type TitledJob struct {
	Job   string
	Sends Kind
	Title string
}

// Titles are the titles that people are shown instead of the names of jobs.
type Titles map[string]string

// TitlesOf returns the titles of jobs: the configured title; else that of the kind, if no other job
// sends it; else the name.
func TitlesOf(jobs []TitledJob, lang Lang) Titles {
	of := map[Kind]int{}
	for _, j := range jobs {
		of[j.Sends]++
	}
	out := make(Titles, len(jobs))
	for _, j := range jobs {
		kind := ""
		if of[j.Sends] == 1 {
			kind = find(lang, "records."+string(j.Sends)+".title")
		}
		out[j.Job] = cmp.Or(j.Title, kind, j.Job)
	}
	return out
}

// Of returns the title of a job, or its name if it is not configured.
func (t Titles) Of(job string) string { return cmp.Or(t[job], job) }

// IDScope returns the contract within which the id of a record is unique, of a record under parent; ""
// for an id that is unique everywhere. Only ids of deliveries need not be UUIDs, and may then count
// from 1 in each contract.
func IDScope(sends Kind, id, parent string) string {
	if sends != Deliveries || len(id) == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-' {
		return ""
	}
	return parent
}
