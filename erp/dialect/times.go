package dialect

import (
	"strconv"
	"strings"
	"time"
)

// ISOMicro is the layout of a timestamp without zone that all these databases accept.
const ISOMicro = "2006-01-02 15:04:05.000000"

// Epoch formats an instant as seconds since 1970 with microseconds.
func Epoch(t time.Time) string {
	micro := t.UnixMicro()
	sign := ""
	if micro < 0 {
		sign, micro = "-", -micro
	}
	return sign + strconv.FormatInt(micro/1e6, 10) + "." + strconv.FormatInt(1e6+micro%1e6, 10)[1:]
}

// ParseEpoch parses what Epoch writes, also with fewer digits.
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

// PlainNumber reports whether a text is an ordinary decimal, so that a database can compare it with
// a number.
func PlainNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	digits := strings.Replace(s, ".", "", 1)
	return digits != "" && len(digits) <= 38 && strings.Trim(digits, "0123456789") == ""
}

// NoDateBefore is a day. An earlier date is how programs write "none": 1899-12-30 (Delphi),
// 1900-01-01 and 1900-12-31.
const NoDateBefore = "1901-01-02"

// ZeroDate is a date that programs write for "none".
const ZeroDate = "0000-00-00"
