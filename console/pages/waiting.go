package pages

import (
	"context"

	"github.com/safrasync/safrasync/trade"
)

// Waiting counts what waits on each page of the menu, by its path, from the sums that the ledger
// keeps. A page is shown without counts when they cannot be read: its own reading reports the
// fault.
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

// Titles returns what people are shown instead of the names of jobs.
func (p *Pages) Titles(lang trade.Lang) trade.Titles { return titlesOf(p.ports.Jobs, lang) }

func titlesOf(jobs Jobs, lang trade.Lang) trade.Titles {
	var titled []trade.TitledJob
	for _, j := range jobs.Jobs() {
		titled = append(titled, trade.TitledJob{Job: j.Name, Sends: j.Sends, Title: j.Title})
	}
	return trade.TitlesOf(titled, lang)
}
