package alert

import (
	"slices"
	"time"
)

// workingTime returns the time between two moments in the cooperative's zone, without Saturdays,
// Sundays and the national holidays of Brazil. Nights count: "3d" is three working days of 24
// hours.
func workingTime(from, to time.Time, zone *time.Location) time.Duration {
	if !from.Before(to) {
		return 0
	}
	from, to = from.In(zone), to.In(zone)
	var total time.Duration
	for from.Before(to) {
		next := dayAfter(from)
		if next.After(to) {
			next = to
		}
		if isWorkday(from) {
			total += next.Sub(from)
		}
		from = next
	}
	return total
}

// afterWorkingTime returns the moment at which the working time d has passed since from.
func afterWorkingTime(from time.Time, d time.Duration, zone *time.Location) time.Time {
	from = from.In(zone)
	for {
		next := dayAfter(from)
		if isWorkday(from) {
			if left := next.Sub(from); left >= d {
				return from.Add(d).UTC()
			}
			d -= next.Sub(from)
		}
		from = next
	}
}

// dayAfter returns the beginning of the next day. A day need not have 24 hours or begin at
// midnight: if there is no midnight, Go may return the hour before it.
func dayAfter(t time.Time) time.Time {
	for hour := 0; ; hour++ {
		if next := time.Date(t.Year(), t.Month(), t.Day()+1, hour, 0, 0, 0, t.Location()); next.After(t) &&
			next.Day() != t.Day() {
			return next
		}
	}
}

func isWorkday(t time.Time) bool {
	if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday ||
		slices.Contains(fixedHolidays[t.Month()], t.Day()) {
		return false
	}
	easterMonth, easterDay := easter(t.Year())
	for _, days := range movableHolidays {
		if _, m, d := time.Date(t.Year(), easterMonth, easterDay+days, 12, 0, 0, 0, time.UTC).Date(); m == t.Month() &&
			d == t.Day() {
			return false
		}
	}
	return true
}

// fixedHolidays are those of Lei 662/1949, 6.802/1980, 14.759/2023 (20 November since 2024) and
// custom.
var fixedHolidays = map[time.Month][]int{
	time.January: {1}, time.April: {21}, time.May: {1}, time.September: {7}, time.October: {12},
	time.November: {2, 15, 20}, time.December: {25},
}

// movableHolidays are days relative to Easter Sunday: Monday and Tuesday of carnival, Good Friday,
// Corpus Christi.
var movableHolidays = []int{-48, -47, -2, 60}

// easter returns Easter Sunday of the Gregorian calendar, by the rule of Meeus, Jones and Butcher.
func easter(year int) (time.Month, int) {
	a, b, c := year%19, year/100, year%100
	d, e, f := b/4, b%4, (b+8)/25
	g := (b - f + 1) / 3
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Month(n / 31), n%31 + 1
}
