// The hours of the week in which a job may send.

package clock

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/phrase"
)

// Hours are the times of the week in which a job may send (`hours:`); none means always. They are
// local times of a zone: on a day that is an hour shorter or longer, they may be too.
type Hours []span

// span is a time of day on some weekdays, in minutes since midnight. If it ends before it begins,
// it continues into the next day.
type span struct {
	days     [7]bool // by time.Weekday
	from, to int
}

var (
	dayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	spanForm = regexp.MustCompile(`^(?:([a-z,-]+) )?([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})$`)
)

// ParseHours parses spans such as "mon-fri 07:00-19:00", "sat,sun 08:00-12:00" or "22:00-05:00",
// which continues into the next day.
func ParseHours(texts []string) (Hours, error) {
	var out Hours
	for _, text := range texts {
		m := spanForm.FindStringSubmatch(strings.ToLower(strings.Join(strings.Fields(text), " ")))
		if m == nil {
			return nil,
				phrase.Errorf(
					"%q is not a time range: write it as in \"mon-fri 07:00-19:00\", \"sat,sun 08:00-12:00\" or \"22:00-05:00\"",
					text)
		}
		s := span{days: [7]bool{true, true, true, true, true, true, true}}
		if m[1] != "" {
			s.days = [7]bool{}
			for _, part := range strings.Split(m[1], ",") {
				first, last, isRange := strings.Cut(part, "-")
				if !isRange {
					last = first
				}
				from, to := slices.Index(dayNames, first), slices.Index(dayNames, last)
				if from < 0 || to < 0 {
					return nil, phrase.Errorf("%q names a day that is none: they are mon, tue, wed, thu, fri, sat and sun",
						text)
				}
				for day := from; ; day = (day + 1) % 7 {
					s.days[day] = true
					if day == to {
						break
					}
				}
			}
		}
		clock := func(hours, minutes string) int {
			return int(hours[0]-'0')*600 + int(hours[1]-'0')*60 + int(minutes[0]-'0')*10 + int(minutes[1]-'0')
		}
		s.from, s.to = clock(m[2], m[3]), clock(m[4], m[5])
		const day = 24 * 60
		switch {
		case s.from >= day || s.to > day || m[3] > "59" || m[5] > "59":
			return nil, phrase.Errorf("%q has a time that does not exist: times go from 00:00 to 24:00", text)
		case s.from == s.to:
			return nil, phrase.Errorf("%q is an empty time range; write 00:00-24:00 for the whole day", text)
		}
		out = append(out, s)
	}
	return out, nil
}

// Open reports whether a job may send at a time, which must be in the zone of the hours.
func (h Hours) Open(at time.Time) bool {
	minute, today := at.Hour()*60+at.Minute(), at.Weekday()
	yesterday := (today + 6) % 7
	return len(h) == 0 || slices.ContainsFunc(h, func(s span) bool {
		if s.from < s.to {
			return s.days[today] && minute >= s.from && minute < s.to
		}
		return s.days[today] && minute >= s.from || s.days[yesterday] && minute < s.to
	})
}

// Next returns when a job that may not send at that time may send again, at the start of a minute.
func (h Hours) Next(at time.Time) time.Time {
	var next time.Time
	for day := range 8 {
		for _, s := range h {
			start := time.Date(at.Year(), at.Month(), at.Day()+day, s.from/60, s.from%60, 0, 0, at.Location())
			if s.days[start.Weekday()] && start.After(at) && (next.IsZero() || start.Before(next)) {
				next = start
			}
		}
	}
	return next
}
