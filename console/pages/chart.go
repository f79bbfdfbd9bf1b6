package pages

import (
	"context"
	"slices"
	gosync "sync"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// chartLength is how many days the chart shows, today included.
const chartLength = 30

// chart is what was sent on each day, as bars of a picture that the server draws.
type chart struct {
	Bars          []bar
	Most          int // of a day
	Width, Height int
}

// bar is one day. X, Y and the sizes are in the units of the picture.
type bar struct {
	Day                 time.Time
	Sent                int
	X, Y, Width, Height int
}

// chartDays keeps what was sent on days that are over, which does not change any more.
type chartDays struct {
	mu   gosync.Mutex
	past map[time.Time]int
	// today is read again after a minute.
	today   int
	todayAt time.Time
}

const (
	barWidth    = 16
	barGap      = 6
	chartHeight = 120
)

// chart reads the days that are not known yet, and draws.
func (d *chartDays) chart(ctx context.Context, runs Runs, now time.Time, zone *time.Location) (chart, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	year, month, day := now.In(zone).Date()
	first := time.Date(year, month, day-chartLength+1, 0, 0, 0, 0, zone)
	sent := map[time.Time]int{}
	var missing []time.Time
	for i := range chartLength {
		at := time.Date(year, month, day-chartLength+1+i, 0, 0, 0, 0, zone)
		switch n, known := d.past[at]; {
		case i == chartLength-1 && now.Sub(d.todayAt).Abs() < time.Minute:
			sent[at] = d.today
		case known && i < chartLength-2: // a run may end late
			sent[at] = n
		default:
			missing = append(missing, at)
		}
	}
	if len(missing) > 0 {
		err := runs.RunsEnded(ctx, slices.MinFunc(missing, time.Time.Compare), now, func(r trade.RunReport) error {
			year, month, day := r.EndedAt.In(zone).Date()
			at := time.Date(year, month, day, 0, 0, 0, 0, zone)
			if slices.Contains(missing, at) {
				sent[at] += r.RowsSent()
			}
			return nil
		})
		if err != nil {
			return chart{}, err
		}
		d.past = map[time.Time]int{}
		for at, n := range sent {
			d.past[at] = n
		}
		d.todayAt, d.today = now, sent[time.Date(year, month, day, 0, 0, 0, 0, zone)]
	}
	return draw(first, sent), nil
}

func draw(first time.Time, sent map[time.Time]int) chart {
	out := chart{Width: chartLength * (barWidth + barGap), Height: chartHeight}
	for _, n := range sent {
		out.Most = max(out.Most, n)
	}
	for i := range chartLength {
		at := first.AddDate(0, 0, i)
		b := bar{Day: at, Sent: sent[at], X: i * (barWidth + barGap), Width: barWidth}
		if b.Sent > 0 {
			b.Height = max(2, b.Sent*chartHeight/out.Most)
		}
		b.Y = chartHeight - b.Height
		out.Bars = append(out.Bars, b)
	}
	return out
}
