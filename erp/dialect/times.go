package dialect

import (
	"strconv"
	"strings"
	"time"
)

// ISOMicro is a timestamp without zone as all these databases take it.
const ISOMicro = "2006-01-02 15:04:05.000000"

// Epoch writes an instant as seconds since 1970 with microseconds.
func Epoch(t time.Time) string {
	micro := t.UnixMicro()
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	return sign + strconv.FormatInt(micro/1e6, 10) + "." + strconv.FormatInt(1e6+micro%1e6, 10)[1:]
}

// ParseEpoch reads what epoch writes, and databases with fewer digits.
func ParseEpoch(s string) (time.Time, bool) {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	nano, err2 := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	if err != nil || err2 != nil {
		return time.Time{}, false
	}
	if strings.HasPrefix(s, "-") {
		sec, nano = -sec, -nano
	}
	return time.Unix(sec, nano).UTC(), true
}

// PlainNumber reports whether a text is an ordinary decimal, so that a database
// may be asked to compare it with a number.
func PlainNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits := strings.Replace(s, ".", "", 1)
	return digits != "" && len(digits) <= 38 && strings.Trim(digits, "0123456789") == ""
}

// NoDateBefore is a day; what lies before it is a program's way to write "none", as
// 1899-12-30 (Delphi), 1900-01-01 and 1900-12-31.
const NoDateBefore = "1901-01-02"

// ZeroDate is a date that a program wrote for "none".
const ZeroDate = "0000-00-00"
