package console

import "github.com/safrasync/safrasync/trade"

// titles are what the person is shown instead of the names of jobs.
func (q *request) titles() trade.Titles {
	var jobs []trade.TitledJob
	for _, j := range q.c.Work.Jobs() {
		jobs = append(jobs, trade.TitledJob{Job: j.Name, Sends: j.Sends, Title: j.Title})
	}
	return trade.TitlesOf(jobs, q.lang)
}

// Title is what people are shown instead of the name of a job.
func (f frame) Title(job string) string { return f.Titles.Of(job) }

// Lead is what people are shown of a row, documents masked; its key where that is nothing.
func (f frame) Lead(e trade.Entry) string { return e.Shown.Masked().Lead(maskKey(e.Key)) }

// Beneath is the key of a row that something else leads; "" where the key leads.
func (f frame) Beneath(e trade.Entry) string {
	if e.Shown.Line() == "" {
		return ""
	}
	return maskKey(e.Key)
}
