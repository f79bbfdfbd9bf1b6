package alert

import (
	"testing"
	"time"

	"github.com/safrasync/safrasync/internal/must"
)

func TestWorkingTimeLeavesOutWeekendsAndNationalHolidays(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		return must.Get(time.ParseInLocation("2006-01-02 15:04", text, saoPaulo))(t)
	}
	for name, c := range map[string]struct {
		from, to string
		want     time.Duration
	}{
		"a weekend":                      {"2026-08-07 18:00", "2026-08-10 09:00", 15 * time.Hour},
		"within a Saturday":              {"2026-08-08 08:00", "2026-08-08 17:00", 0},
		"two days":                       {"2026-08-11 09:00", "2026-08-13 09:00", 48 * time.Hour},
		"a year's turn":                  {"2025-12-31 12:00", "2026-01-02 12:00", 24 * time.Hour},
		"carnival of 2026":               {"2026-02-13 12:00", "2026-02-18 12:00", 24 * time.Hour},
		"Good Friday of 2026":            {"2026-04-02 12:00", "2026-04-06 12:00", 24 * time.Hour},
		"Corpus Christi of 2026":         {"2026-06-03 12:00", "2026-06-05 12:00", 24 * time.Hour},
		"Consciência Negra, on a Friday": {"2026-11-19 12:00", "2026-11-23 12:00", 24 * time.Hour},
		"backwards":                      {"2026-08-13 09:00", "2026-08-11 09:00", 0},
	} {
		if got := workingTime(at(c.from), at(c.to), saoPaulo); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		if c.want == 0 {
			continue
		}
		if got := workingTime(at(c.from), afterWorkingTime(at(c.from), c.want, saoPaulo), saoPaulo); got != c.want {
			t.Errorf("%s: after so much working time it is %v", name, got)
		}
	}
	for year, want := range map[int]string{
		2024: "2024-03-31", 2026: "2026-04-05", 2038: "2038-04-25",
		2285: "2285-03-22",
	} {
		month, day := easter(year)
		if got := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly); got != want {
			t.Errorf("Easter of %d is %s, want %s", year, got, want)
		}
	}
}

// A day without midnight: summer time began at midnight in Brazil until 2018.
func TestWorkingTimeCountsDaysThatHaveNoMidnight(t *testing.T) {
	t.Parallel()
	from := time.Date(2018, 11, 1, 12, 0, 0, 0, saoPaulo) // Thursday; Friday was a holiday, Sunday the change
	to := time.Date(2018, 11, 5, 12, 0, 0, 0, saoPaulo)
	if got := workingTime(from, to, saoPaulo); got != 24*time.Hour {
		t.Errorf("%v, want 24 h", got)
	}
}
