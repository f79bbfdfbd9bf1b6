package office

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/sync/reconcile"
	"github.com/safrasync/safrasync/sync/reconcile/paper"
	"github.com/safrasync/safrasync/trade"
)

// A report that takes long is made once for all who ask for it; each is told how far it is. Its next
// reader gets a new one, and until it is made the last one.
func TestAReportIsMadeInTheBackground(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	o.reportPatience = time.Nanosecond
	ask := func(product string) (bool, ReportProgress, error) {
		q := ReportQuery{Filter: reconcile.Filter{Products: []string{product}}}
		out, making, err := o.RequestReport(t.Context(), q, trade.Portuguese, 10, "lia", true)
		if making == nil {
			return out != nil, o.kept.ReportProgress, err
		}
		return out != nil, *making, err
	}
	o.turn <- struct{}{} // another report is made
	for range 2 {
		if there, at, err := ask("SOJA"); there || !at.At.IsZero() || err != nil {
			t.Fatalf("it is there: %t, %+v, %v", there, at, err)
		}
	}
	first := o.reportJob
	if there, other, err := ask("MILHO"); there || other != (ReportProgress{}) || err != nil {
		t.Errorf("another one meanwhile: %t, %+v, %v", there, other, err)
	}
	<-o.turn
	<-first.done
	there, at, err := ask("SOJA")
	if !there || at.At.IsZero() || at.Rows != 9 || err != nil || o.reportJob != nil {
		t.Errorf("it is there: %t, %+v, %v", there, at, err)
	}
	o.reportPatience = time.Hour
	if there, again, err := ask("SOJA"); !there || again.At.Before(at.At) || err != nil {
		t.Errorf("the next one: %t, %+v after %+v, %v", there, again, at, err)
	}
	o.reportPatience = time.Nanosecond
	o.turn <- struct{}{}
	if last, again, err := ask("SOJA"); !last || !again.At.IsZero() || err != nil {
		t.Errorf("while the next one is made, the last one: %t, %+v, %v", last, again, err)
	}
	if last, again, err := ask("MILHO"); last || !again.At.IsZero() || err != nil {
		t.Errorf("the last one of another selection: %t, %+v, %v", last, again, err)
	}
	<-o.turn
}

// Who waits for a report when the office ends is told to ask again.
func TestAReportThatIsGivenUpWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	o.reportPatience = time.Hour
	o.turn <- struct{}{} // another report is made
	told := make(chan *ReportProgress)
	go func() {
		_, making, _ := o.RequestReport(t.Context(), ReportQuery{}, trade.Portuguese, 10, "lia", true)
		told <- making
	}()
	for begun := false; !begun; {
		o.mu.Lock()
		begun = o.reportJob != nil
		o.mu.Unlock()
	}
	o.Close()
	if making := <-told; making == nil {
		t.Error("the page has neither a report nor something to wait for")
	}
}

// A report that nobody fetches is given up, and the office ends with one that is being made.
func TestAReportThatNobodyFetchesIsGivenUp(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	o.reportPatience = time.Nanosecond
	o.turn <- struct{}{}
	if _, _, err := o.RequestReport(t.Context(), ReportQuery{}, trade.Portuguese, 10, "lia", true); err != nil {
		t.Fatal(err)
	}
	m := o.reportJob
	m.lapse.Reset(0)
	<-m.done
	if m.answer != nil || m.err != nil || o.reportJob == m {
		t.Errorf("it was made: %+v", m)
	}
	if _, _, err := o.RequestReport(t.Context(), ReportQuery{}, trade.Portuguese, 10, "lia", true); err != nil {
		t.Fatal(err)
	}
	o.Close() // waits for what is being made
}

// A report that is ready is there for each person who has asked for it, and another one waits so long.
func TestAReportIsThereForEachWhoAskedForIt(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	o.reportPatience = time.Nanosecond
	ask := func(who string, products ...string) *paper.Report {
		out, _, err := o.RequestReport(t.Context(), ReportQuery{Filter: reconcile.Filter{Products: products}},
			trade.Portuguese, 10, who, true)
		if err != nil {
			t.Error(err)
		}
		return out
	}
	o.turn <- struct{}{}
	if ask("lia") != nil || ask("carla") != nil || ask("ana", "MILHO", "SOJA") != nil {
		t.Error("it is there before its turn")
	}
	first := o.reportJob
	<-o.turn
	<-first.done
	if ask("ana", "MILHO", "SOJA") != nil || ask("lia") == nil || ask("ana", "MILHO", "SOJA") != nil ||
		ask("carla") == nil {
		t.Error("a report that was ready was lost to another one")
	}
	o.turn <- struct{}{}
	ask("ana", "MILHO", "SOJA")
	second := o.reportJob
	if ask("lia", "MILHO SOJA") != nil || second == first || len(second.asked) != 1 {
		t.Error("the next one is not made, or is taken for one with another selection")
	}
	<-o.turn
}

// An office that ends makes no report, which is not a fault of the program.
func TestAnOfficeThatEndsMakesNoReport(t *testing.T) {
	t.Parallel()
	open, _ := openStuck(t)
	o := open()
	o.reportPatience = time.Nanosecond
	o.turn <- struct{}{} // another report is made
	for range 2 {
		out, making, err := o.RequestReport(t.Context(), ReportQuery{}, trade.Portuguese, 10, "lia", true)
		if out != nil || *making != (ReportProgress{}) || err != nil {
			t.Errorf("%v, %+v, %v", out, making, err)
		}
		o.Close() // gives up what is being made
	}
}
