// Parsing of cron expressions.

package clock

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/safrasync/safrasync/internal/phrase"
)

// anyTime is a time from which to check whether a schedule ever comes. Any other would do: the
// library looks five years ahead, which finds a 29 February.
var anyTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// ParseSchedule parses a schedule in the syntax of robfig/cron ("*/10 * * * *", "@every 1h",
// "CRON_TZ=America/Cuiaba 0 3 * * *"). Without a zone of its own it is in the given zone. It
// refuses schedules that the library accepts but never runs, or panics on. Fixed hours come once on
// each day, also on days when the clock is set.
func ParseSchedule(text string, zone *time.Location) (schedule cron.Schedule, err error) {
	defer func() {
		if recover() != nil { // the library slices out of bounds on a zone without a schedule
			schedule, err = nil, phrase.Errorf("%q is not a schedule: write five fields, as in \"*/10 * * * *\"", text)
		}
	}()
	if every, ok := strings.CutPrefix(text, "@every "); ok {
		// the library would round these up to one second
		if d, err := time.ParseDuration(strings.TrimSpace(every)); err == nil && d < time.Second {
			return nil, phrase.Errorf("%q is too often: one second is the least", text)
		}
	}
	plain, err := plainFields(text)
	if err != nil {
		return nil, phrase.Errorf("%q is not a schedule: %w", text, err)
	}
	parsed, err := cron.ParseStandard(plain)
	if err != nil { // what is left: the zone, or the words with @
		return nil, phrase.Errorf("%q is not a schedule: write five fields, as in \"*/10 * * * *\", or @every 15m, "+
			"after CRON_TZ=ZONE in another zone", text)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if ok && spec.Location == time.Local {
		spec.Location = zone
	}
	if parsed.Next(anyTime).IsZero() {
		return nil, phrase.Errorf("%q never comes: there is no such day", text)
	}
	if !ok || spec.Hour&starBit != 0 { // for every hour, or with an interval: it counts elapsed time
		return parsed, nil
	}
	c := civil{*spec, spec.Location}
	c.spec.Location = time.UTC
	return c, nil
}

// field is one of the five fields of a schedule.
type field struct {
	name        string
	least, most int
	words       []string // for the numbers from least on
}

var fields = []field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")},
	{"weekday", 0, 7, strings.Fields("sun mon tue wed thu fri sat sun")},
}

// plainFields checks the fields of a schedule, and returns it with numbers only and without the
// weekday 7, which is Sunday as 0 is. A schedule with @ is returned as it is.
func plainFields(text string) (string, error) {
	parts := strings.Fields(text)
	zone := ""
	if len(parts) > 0 && strings.Contains(parts[0], "TZ=") {
		zone, parts = parts[0]+" ", parts[1:]
	}
	if len(parts) > 0 && strings.HasPrefix(parts[0], "@") {
		return text, nil
	}
	if len(parts) != len(fields) {
		return "", phrase.Errorf("it needs 5 fields (minute, hour, day, month, weekday), and has %d", len(parts))
	}
	for i, f := range fields {
		var items []string
		for item := range strings.SplitSeq(parts[i], ",") {
			plain, err := f.plain(item)
			if err != nil {
				return "", err
			}
			items = append(items, plain)
		}
		parts[i] = strings.Join(items, ",")
	}
	return zone + strings.Join(parts, " "), nil
}

// plain checks one item of a field: *, 5, 1-5, mon-fri, each with or without a step as in */10.
func (f field) plain(item string) (string, error) {
	span, step, stepped := strings.Cut(item, "/")
	if n, err := strconv.Atoi(step); stepped && (err != nil || n < 1 || n > f.most) {
		return "", phrase.Errorf("the step of the %w is %q, and must be a number from 1 to %d", phrase.Fixed(f.name), step, f.most)
	}
	if span == "*" || span == "?" {
		return item, nil
	}
	from, to, ranged := strings.Cut(span, "-")
	first, err := f.number(from)
	if err != nil {
		return "", err
	}
	last := first
	switch {
	case ranged:
		last, err = f.number(to)
		if err != nil {
			return "", err
		}
	case stepped:
		last = f.most
		if f.most == 7 {
			last = 6 // Sunday is at the beginning already
		}
	}
	if ranged && last == 0 && f.most == 7 {
		last = 7 // as in sat-sun
	}
	if last < first {
		return "", phrase.Errorf("the %w %s ends before it begins", phrase.Fixed(f.name), span)
	}
	if f.most != 7 {
		out := strconv.Itoa(first)
		if last > first {
			out += "-" + strconv.Itoa(last)
		}
		if stepped {
			out += "/" + step
		}
		return out, nil
	}
	by := 1
	if stepped {
		by, _ = strconv.Atoi(step) // checked above
	}
	var days []string
	for day := first; day <= last; day += by {
		days = append(days, strconv.Itoa(day%7))
	}
	return strings.Join(days, ","), nil
}

// number returns the number of a text or word.
func (f field) number(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if at := slices.Index(f.words, strings.ToLower(text)); err != nil && at >= 0 {
		n, err = f.least+at, nil
	}
	if err != nil || n < f.least || n > f.most {
		wrong := phrase.New("the %w is %q, and must be a number from %d to %d", phrase.Fixed(f.name), text, f.least, f.most)
		if f.words != nil {
			wrong = phrase.New("%w, or %s …", wrong, strings.Join(f.words[:3], ", "))
		}
		return 0, wrong
	}
	return n, nil
}

// EveryMinuteOf reports whether a schedule runs every minute of certain hours, usually because the
// minutes were left at *. It returns how often it runs in each such hour, and the hours as written;
// 0 and "" for any other schedule.
func EveryMinuteOf(text string) (times int, hours string) {
	fields := strings.Fields(text)
	if len(fields) == 6 && strings.Contains(fields[0], "TZ=") {
		fields = fields[1:]
	}
	if len(fields) != 5 || fields[0] != "*" && fields[0] != "*/1" || fields[1] == "*" || fields[1] == "*/1" {
		return 0, ""
	}
	return 60, fields[1]
}
