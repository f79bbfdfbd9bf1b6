package alert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/safrasync/safrasync/trade"
)

// What is usual is learned from the days before: for each branch what came on the same weekday in
// the same weeks of the harvest, of this year and of those before.
const (
	learnedDays = 800 // how far back days are read
	learnedNear = 45  // days from the same day of a year that are of the same weeks
	learnedMany = 8   // samples from which on one at each end does not count
	learnedFew  = 6   // samples without which nothing is usual

	// fewerRows is how many rows a day must usually have at least for fewer to be told; moreRows how
	// many a day must have for more to be told. moreKg likewise.
	fewerRows = 4
	moreRows  = 20

	judgedHour = 19 // from then on a day is judged as a whole
)

// moreKg is the weight that a day must have for more than usual to be told.
var moreKg = trade.NewDecimal(100_000, 0)

// arrived is what came of a job day by day, as far as it was read.
type arrived struct {
	day  trade.Date // on which the days before were read
	days []trade.ArrivedDay
	at   time.Time // when today was read
	now  []trade.ArrivedDay
}

// arrivedEvery is the least time between two looks at what came today.
const arrivedEvery = 10 * time.Minute

// learn reads what came of a job: once a day the days before, and today now and then.
func (s *Service) learn(ctx context.Context, job string, now time.Time) (arrived, error) {
	a := s.learned[job]
	local := now.In(s.Zone)
	today := trade.DateOf(local)
	if a.day != today {
		days, err := s.Ledger.ArrivedDays(ctx, job, today.AddDays(-learnedDays).In(s.Zone))
		if err != nil {
			return a, err
		}
		days = slices.DeleteFunc(days, func(d trade.ArrivedDay) bool { return !d.Day.Before(today) })
		a = arrived{day: today, days: days}
	}
	if now.Sub(a.at).Abs() >= arrivedEvery {
		var err error
		a.now, err = s.Ledger.ArrivedDays(ctx, job, today.In(s.Zone))
		if err != nil {
			return a, err
		}
		a.at = now
	}
	if s.learned == nil {
		s.learned = map[string]arrived{}
	}
	s.learned[job] = a
	return a, nil
}

// usual is what a branch usually has on a day.
type usual struct {
	least, most     int
	leastKg, mostKg trade.Decimal
}

// usualOf returns what a branch usually has on a day, by the days before it; ok is false if too
// little is known. A working day without a row counts as one, from the first row of the branch on.
func usualOf(days []trade.ArrivedDay, branch string, day trade.Date) (u usual, ok bool) {
	came := map[trade.Date]trade.ArrivedDay{}
	first := day
	for _, d := range days {
		if d.Branch == branch && d.Day.Before(day) {
			came[d.Day] = d
			if d.Day.Before(first) {
				first = d.Day
			}
		}
	}
	var rows []int
	var kg []trade.Decimal
	for at := day.AddDays(-7); first.Before(at); at = at.AddDays(-7) { // the first day may be a go-live
		if near(at, day) && isWorkday(at.In(time.UTC)) {
			rows, kg = append(rows, came[at].Rows), append(kg, came[at].Kg)
		}
	}
	if len(rows) < learnedFew {
		return u, false
	}
	slices.Sort(rows)
	slices.SortFunc(kg, trade.Decimal.Cmp)
	if len(rows) >= learnedMany {
		rows, kg = rows[1:len(rows)-1], kg[1:len(kg)-1]
	}
	return usual{rows[0], rows[len(rows)-1], kg[0], kg[len(kg)-1]}, true
}

// near reports whether a day is in the same weeks of the year as another.
func near(a, b trade.Date) bool {
	const year = 365
	distance := b.In(time.UTC).YearDay() - a.In(time.UTC).YearDay()
	distance = max(distance, -distance)
	return min(distance, year-distance) <= learnedNear
}

// judgeUsual returns the branches of a job in which much less or much more came than is usual: less
// on the last working day at whose end somebody looked, more also today.
func judgeUsual(f facts, j jobFacts, zone *time.Location) []condition {
	today := trade.DateOf(f.at.In(zone))
	last := today // the last day that is judged as a whole
	for j.runs.good.Before(last.In(zone).Add(judgedHour*time.Hour)) || !isWorkday(last.In(zone)) {
		last = last.AddDays(-1)
		if j.runs.good.IsZero() || today.In(zone).Sub(last.In(zone)) > remembered+7*24*time.Hour {
			return nil
		}
	}
	days := slices.Concat(j.arrived.days, j.arrived.now)
	var branches []string
	for _, d := range days {
		if !slices.Contains(branches, d.Branch) {
			branches = append(branches, d.Branch)
		}
	}
	var out []condition
	for _, branch := range branches {
		for _, side := range []struct {
			more bool
			day  trade.Date
		}{{false, last}, {true, today}} {
			if u, ok := usualOf(days, branch, side.day); ok {
				of := dayOf(days, branch, side.day)
				if side.more && !u.more(of) && last != today { // yesterday, as long as today is usual
					side.day, of = last, dayOf(days, branch, last)
					u, ok = usualOf(days, branch, last)
				}
				if ok && (side.more && u.more(of) || !side.more && u.fewer(of)) {
					out = append(out, unusual(f, j, side.more, u, of))
				}
			}
		}
	}
	return out
}

// unusual returns the condition of a day out of the usual.
func unusual(f facts, j jobFacts, more bool, u usual, of trade.ArrivedDay) condition {
	sum := sha256.Sum256([]byte(of.Branch))
	subject := j.Name + " less " + hex.EncodeToString(sum[:4])
	if more {
		subject = j.Name + " more " + hex.EncodeToString(sum[:4])
	}
	return condition{topic: Unusual, subject: subject, since: f.at, detail: Detail{
		Jobs: []Job{j.Job}, Branch: codeOf(of.Branch), Day: of.Day, Rows: of.Rows, Kg: of.Kg, More: more,
		Least: u.least, Most: u.most, LeastKg: u.leastKg, MostKg: u.mostKg,
	}}
}

// fewer reports whether much less came than is usual.
func (u usual) fewer(of trade.ArrivedDay) bool {
	return u.least >= fewerRows && (2*of.Rows < u.least || half(u.leastKg).Cmp(of.Kg) > 0)
}

// more reports whether much more came than is usual.
func (u usual) more(of trade.ArrivedDay) bool {
	return of.Rows > 2*u.most && of.Rows >= moreRows || half(of.Kg).Cmp(u.mostKg) > 0 && of.Kg.Cmp(moreKg) >= 0
}

// half returns the half of a weight.
func half(d trade.Decimal) trade.Decimal { return d.Mul(trade.NewDecimal(5, 1)) }

func dayOf(days []trade.ArrivedDay, branch string, day trade.Date) trade.ArrivedDay {
	for _, d := range days {
		if d.Branch == branch && d.Day == day {
			return d
		}
	}
	return trade.ArrivedDay{Branch: branch, Day: day}
}

// codeForm is a text that is a code: what else a column of branches has may be the name of a farm or
// of a person, which no message, log or alert may have.
var codeForm = regexp.MustCompile(`^[\pL\pN._/-]*\pN[\pL\pN._/-]*$|^\pL{1,3}$`)

// codeOf returns the code of a branch, which may be a document; "" for what may be a name.
func codeOf(branch string) string {
	if utf8.RuneCountInString(branch) > 12 || !codeForm.MatchString(branch) {
		return ""
	}
	return trade.MaskDocuments(branch)
}

// branch returns how a message names a branch.
func (v voice) branch(code string) string {
	if code == "" {
		return ""
	}
	return v.text("usual.branch", code)
}
