package pages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// chartLength is how many days the chart shows, including today.
const chartLength = 30

// chart shows for each day, as columns that the server draws, the rows sent, and the rows that were
// refused or waiting at the end of the day. A line shows those that have not gone.
type chart struct {
	Days          []chartDay
	Most          int    // height of the highest column, in rows; the scale ends there
	Line          string // points of the line
	Width, Height int
	Left          int // rows that have not gone yet; set by the page
	// Pace is how many rows went since midnight. Done is when the pending rows will be gone at that
	// pace; zero if none is pending, or none went.
	Pace int
	Done time.Time
}

// chartDay is one day. Its sizes are in units of the picture.
type chartDay struct {
	Day                    time.Time
	Sent, Refused, Waiting int
	X, Width               int
	Labelled               bool // the date is shown below it
	Parts                  []chartPart
}

// Wide returns the width of the picture including the scale.
func (c chart) Wide() int { return c.Width + 40 }

// High returns the height of the picture including the dates.
func (c chart) High() int { return c.Height + 28 }

// chartPart is one part of a column.
type chartPart struct {
	Class     string // sent, refused, waiting
	Y, Height int
}

// dayFacts is what the chart stores of a day.
type dayFacts struct {
	sent   int
	states map[string]map[trade.State]int // by job, at the end of its last run of the day
}

// chartDays caches the facts of past days, which do not change any more.
type chartDays struct {
	mu      gosync.Mutex
	past    map[time.Time]dayFacts
	todayAt time.Time // when today was read; it is read again after a minute
}

const (
	columnWidth = 18
	columnGap   = 6
	chartHeight = 130
)

// chart reads the days that are not cached, and draws the chart. It omits runs of jobs that are no
// longer configured, because another job has their rows now.
func (d *chartDays) chart(ctx context.Context, runs Runs, known map[string]bool, now time.Time,
	zone *time.Location,
) (chart, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	year, month, day := now.In(zone).Date()
	var days, missing []time.Time
	facts := map[time.Time]dayFacts{}
	for i := range chartLength {
		at := time.Date(year, month, day-chartLength+1+i, 0, 0, 0, 0, zone)
		days = append(days, at)
		past, ok := d.past[at]
		fresh := i < chartLength-2 || now.Sub(d.todayAt).Abs() < time.Minute // yesterday too: a run may end late
		if ok && fresh {
			facts[at] = past
			continue
		}
		missing = append(missing, at)
		facts[at] = dayFacts{states: map[string]map[trade.State]int{}}
	}
	if len(missing) > 0 {
		err := runs.RunsEnded(ctx, missing[0], now, func(r trade.RunReport) error {
			year, month, day := r.EndedAt.In(zone).Date()
			at := time.Date(year, month, day, 0, 0, 0, 0, zone)
			if known[r.Job] && slices.ContainsFunc(missing, at.Equal) {
				f := facts[at]
				f.sent += r.RowsSent()
				f.states[r.Job] = r.States
				facts[at] = f
			}
			return nil
		})
		if err != nil {
			return chart{}, err
		}
		d.past, d.todayAt = facts, now
	}
	return draw(days, facts, now), nil
}

// draw draws the picture. A day without a run has the states of the day before.
func draw(days []time.Time, facts map[time.Time]dayFacts, now time.Time) chart {
	out := chart{Width: len(days) * (columnWidth + columnGap), Height: chartHeight}
	standing := map[string]map[trade.State]int{}
	free := 0
	for i, at := range days {
		f := facts[at]
		maps.Copy(standing, f.states)
		d := chartDay{Day: at, Sent: f.sent, X: i * (columnWidth + columnGap), Width: columnWidth, Labelled: i%7 == 0}
		free = 0
		for _, states := range standing {
			d.Refused += states[trade.Rejected] + states[trade.Invalid]
			d.Waiting += states[trade.Waiting] + states[trade.Held] + states[trade.InDoubt] + states[trade.Pending]
			free += states[trade.Pending]
		}
		out.Most = max(out.Most, d.Sent+d.Refused+d.Waiting)
		out.Pace = d.Sent
		out.Days = append(out.Days, d)
	}
	var line strings.Builder
	for i := range out.Days {
		d := &out.Days[i]
		bottom := chartHeight
		for _, p := range []struct {
			class string
			rows  int
		}{{"sent", d.Sent}, {"refused", d.Refused}, {"waiting", d.Waiting}} {
			if p.rows == 0 {
				continue
			}
			height := max(2, p.rows*chartHeight/max(1, out.Most))
			bottom -= height
			d.Parts = append(d.Parts, chartPart{Class: p.class, Y: bottom, Height: height})
		}
		left := chartHeight - (d.Refused+d.Waiting)*chartHeight/max(1, out.Most)
		fmt.Fprintf(&line, "%d,%d ", d.X+columnWidth/2, left)
	}
	out.Line = strings.TrimSpace(line.String())
	if midnight := days[len(days)-1]; free > 0 && out.Pace > 0 {
		passed := now.Sub(midnight)
		out.Done = now.Add(passed / time.Duration(out.Pace) * time.Duration(free))
	}
	return out
}
