package pages

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

// Waiting returns how many items wait on each page of the menu, by its path, from the ledger's
// stored sums. If they cannot be read it returns nil: pages then have no counts, and their own
// reads report the fault.
func (p *Pages) Waiting(ctx context.Context) map[string]int {
	counts := map[string]int{}
	waits, err := p.ports.Consents.Approvals(ctx)
	if err != nil {
		return nil
	}
	counts["/approvals"] = len(waits)
	for _, job := range p.ports.Jobs.Jobs() {
		tallies, err := p.ports.Totals.Counts(ctx, job.Name)
		if err != nil {
			return nil
		}
		for _, t := range tallies {
			switch t.State {
			case trade.InDoubt:
				counts["/doubts"] += t.Count
				counts["/pending"] += t.Count
			case trade.Waiting, trade.Invalid, trade.Rejected, trade.Held:
				counts["/pending"] += t.Count
			}
		}
		flags, err := p.ports.Totals.FlagCounts(ctx, job.Name)
		if err != nil {
			return nil
		}
		for _, flag := range flagsFirst {
			counts["/changed"] += flags[flag]
		}
	}
	return counts
}

// Titles returns the titles of jobs for people.
func (p *Pages) Titles(lang trade.Lang) trade.Titles { return titlesOf(p.ports.Jobs, lang) }

func titlesOf(jobs Jobs, lang trade.Lang) trade.Titles {
	var titled []trade.TitledJob
	for _, j := range jobs.Jobs() {
		titled = append(titled, trade.TitledJob{Job: j.Name, Sends: j.Sends, Title: j.Title})
	}
	return trade.TitlesOf(titled, lang)
}
