package office

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/trade"
)

// A report that takes long is made once for all who ask for it; each is told how far it is. Its next
// reader gets a new one.
func TestAReportIsMadeInTheBackground(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	o.reportPatience = time.Nanosecond
	ask := func(product string) (bool, Making, error) {
		q := ReportQuery{Filter: reconcile.Filter{Products: []string{product}}}
		out, at, err := o.ShowReport(t.Context(), q, trade.Portuguese, 10)
		return out != nil, at, err
	}
	o.turn <- struct{}{} // another report is made
	for range 2 {
		if there, at, err := ask("SOJA"); there || !at.At.IsZero() || err != nil {
			t.Fatalf("it is there: %t, %+v, %v", there, at, err)
		}
	}
	first := o.making
	if there, other, err := ask("MILHO"); there || other != (Making{}) || err != nil {
		t.Errorf("another one meanwhile: %t, %+v, %v", there, other, err)
	}
	<-o.turn
	<-first.done
	there, at, err := ask("SOJA")
	if !there || at.At.IsZero() || at.Rows != 9 || err != nil || o.making != nil {
		t.Errorf("it is there: %t, %+v, %v", there, at, err)
	}
	o.reportPatience = time.Hour
	if there, again, err := ask("SOJA"); !there || again.At.Before(at.At) || err != nil {
		t.Errorf("the next one: %t, %+v after %+v, %v", there, again, at, err)
	}
}

// A report that nobody fetches is given up, and the office ends with one that is being made.
func TestAReportThatNobodyFetchesIsGivenUp(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	o.reportPatience = time.Nanosecond
	o.turn <- struct{}{}
	if _, _, err := o.ShowReport(t.Context(), ReportQuery{}, trade.Portuguese, 10); err != nil {
		t.Fatal(err)
	}
	m := o.making
	m.lapse.Reset(0)
	<-m.done
	if m.report != nil || m.err == nil {
		t.Errorf("it was made: %v", m.err)
	}
	if _, _, err := o.ShowReport(t.Context(), ReportQuery{}, trade.Portuguese, 10); err != nil {
		t.Fatal(err)
	}
	o.Close() // waits for what is being made
}
