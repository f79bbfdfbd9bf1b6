package trade

import (
	"errors"
	"fmt"
	"time"
)

// Date is a calendar day without a time and without a zone (I7). The zero value is "no date".
type Date struct {
	year  int
	month time.Month
	day   int
}

// NewDate returns a date; a day that does not exist in the calendar is an error.
func NewDate(year int, month time.Month, day int) (Date, error) {
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if t.Year() != year || t.Month() != month || t.Day() != day || year < 1 || year > 9999 {
		return Date{}, errors.New("is not a day of the calendar")
	}
	return Date{year, month, day}, nil
}

// ParseDate parses YYYY-MM-DD, the only form in which dates are sent (chapter 2).
func ParseDate(text string) (Date, error) {
	if len(text) != len("2006-01-02") {
		return Date{}, errors.New("is not written YYYY-MM-DD")
	}
	t, err := time.Parse("2006-01-02", text)
	if err != nil {
		return Date{}, errors.New("is not a day of the calendar written YYYY-MM-DD")
	}
	return NewDate(t.Date())
}

// DateOf returns the calendar day of a time, in that time's own zone.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// IsZero reports whether there is no date.
func (d Date) IsZero() bool { return d == Date{} }

// Equal reports whether two dates are the same day.
func (d Date) Equal(other Date) bool { return d == other }

// String returns YYYY-MM-DD, or "" for no date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day)
}

// In returns the first moment of the day in a zone; the zero time for no date.
func (d Date) In(zone *time.Location) time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	return time.Date(d.year, d.month, d.day, 0, 0, 0, 0, zone)
}

// MarshalText returns the text of String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the text of MarshalText.
func (d *Date) UnmarshalText(text []byte) (err error) {
	*d = (Date{})
	if len(text) > 0 {
		*d, err = ParseDate(string(text))
	}
	return err
}

// Before reports whether d is an earlier day than other.
func (d Date) Before(other Date) bool { return d.Compare(other) < 0 }

// Compare returns a negative number if d is earlier than other, 0 if it is the same day, a positive
// number if it is later.
func (d Date) Compare(other Date) int {
	switch {
	case d.year != other.year:
		return d.year - other.year
	case d.month != other.month:
		return int(d.month - other.month)
	}
	return d.day - other.day
}

// AddYears adds whole years; 29 February becomes 1 March in a year without it.
func (d Date) AddYears(years int) Date {
	return DateOf(time.Date(d.year+years, d.month, d.day, 0, 0, 0, 0, time.UTC))
}
