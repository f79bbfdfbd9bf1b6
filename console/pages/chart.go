package pages

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/internal/office"
	"github.com/safrasync/safrasync/trade"
)

// chartLength is how many days the chart shows, including today.
const chartLength = 30

// chart shows for each day the rows sent, as columns that the server draws. A line shows those that
// had not gone at the end of the day; refused and waiting ones are apart in the table.
type chart struct {
	Days          []chartDay
	Most          int    // rows at the top of the picture
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
	Y, Tall                int  // of the column; Tall is 0 if nothing was sent
}

// scaleWidth is the width of the scale beside the picture, for numbers up to 9,999,999.
const scaleWidth = 68

// Wide returns the width of the picture including the scale.
func (c chart) Wide() int { return c.Width + scaleWidth + 6 }

// Begin returns where the picture begins, left of its first day.
func (chart) Begin() int { return -scaleWidth }

// High returns the height of the picture including the dates.
func (c chart) High() int { return c.Height + 28 }

// dayFacts is what the chart stores of a day.
type dayFacts struct {
	sent   int
	states map[string]map[trade.State]int // by job, at the end of its last run of the day
}

// chartDays caches the facts of past days, which do not change any more.
type chartDays struct {
	mu      gosync.Mutex
	past    map[time.Time]dayFacts
	todayAt time.Time // when today was read; it is read again after oldAfter
}

const (
	columnWidth = 18
	columnGap   = 6
	chartHeight = 130
)

// chart reads the days that are not cached, and draws the chart. It omits runs of jobs that are no
// longer configured, because another job has their rows now.
func (d *chartDays) chart(ctx context.Context, o *office.Office, known map[string]bool, now time.Time,
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
		fresh := i < chartLength-2 || now.Sub(d.todayAt).Abs() < oldAfter // yesterday too: a run may end late
		if ok && fresh {
			facts[at] = past
			continue
		}
		missing = append(missing, at)
		facts[at] = dayFacts{states: map[string]map[trade.State]int{}}
	}
	if len(missing) > 0 {
		err := o.RunsEnded(ctx, missing[0], now, func(r trade.RunReport) error {
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
	return chartOf(days, facts, now), nil
}

// chartOf draws the picture. A day without a run has the states of the day before.
func chartOf(days []time.Time, facts map[time.Time]dayFacts, now time.Time) chart {
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
		out.Pace = d.Sent
		out.Days = append(out.Days, d)
	}
	out.draw()
	if midnight := days[len(days)-1]; free > 0 && out.Pace > 0 {
		passed := now.Sub(midnight)
		out.Done = now.Add(passed / time.Duration(out.Pace) * time.Duration(free))
	}
	return out
}

// draw sets the sizes of the columns and the points of the line.
func (c *chart) draw() {
	c.Most = 0
	for _, d := range c.Days {
		c.Most = max(c.Most, d.Sent, d.Refused+d.Waiting)
	}
	tall := func(rows int) int { return rows * chartHeight / max(1, c.Most) }
	var line strings.Builder
	for i := range c.Days {
		d := &c.Days[i]
		if d.Sent > 0 {
			d.Tall = max(2, tall(d.Sent))
		}
		d.Y = chartHeight - d.Tall
		fmt.Fprintf(&line, "%d,%d ", d.X+columnWidth/2, chartHeight-tall(d.Refused+d.Waiting))
	}
	c.Line = strings.TrimSpace(line.String())
}
