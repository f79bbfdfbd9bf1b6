package trade

import (
	"hash/crc32"
	"time"
)

// Hash tells whether two contents are the same, and stands near the hashes of what is of the same time. Two contents are the same by [Hash.Same], and not by ==: a hash
// that was written before hashes had a neighbourhood, or that comes from the journal, has none.
type Hash struct {
	_    [0]func()
	Sum  string // hex of a cryptographic hash; "" = there is no content
	Near int64  // [NearOf] the content, of a payload [PayloadNear]; 0 = unknown, or it has none. Who looks for a hash without one finds only those without one
}

// Same tells whether both are of the same content.
func (h Hash) Same(other Hash) bool { return h.Sum == other.Sum }

// PayloadNear is the neighbourhood of a payload's hash. The records of one order commitment go together where they have no date of their own.
func PayloadNear(target string, payload []byte) int64 {
	near := NearOf(payload)
	if near == 0 && target != "" {
		near = int64(crc32.ChecksumIEEE([]byte(target)) >> 16)
	}
	return near
}

// A date counts in these years: other numbers look like one too.
const datedFrom, datedTo = 1990, 2099

// NearOf is a number that equal contents share, and that grows as the seasons go for contents with as many dates: the sum of the days since 1970 of all dates in a text, whether they
// are written 2026-01-31, 31/01/2026 or 20260131. Hashes are as good as random, so that an index of them alone reads and writes a page for each row of a large ledger; in the order of
// this number and then of the hash, rows of the same days share their pages. It is part of what ledgers keep: it must give the same for the same text for ever.
func NearOf[T ~string | ~[]byte](text T) int64 {
	var sum int64
	for i := 0; i < len(text); {
		if !isDigit(text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(text) && (isDigit(text[end]) || (text[end] == '-' || text[end] == '/') && end+1 < len(text) && isDigit(text[end+1])) {
			end++
		}
		if (i == 0 || !isWord(text[i-1])) && (end == len(text) || !isWord(text[end]) || text[end] == 'T') {
			sum += dayOf(text[i:end])
		}
		i = end
	}
	return sum
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord tells whether a character makes a number beside it part of something longer, as of an id.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '/' || c == '_'
}

// dayOf gives the day that a text of digits and separators names, in days since 1970; 0 when it names none.
func dayOf[T ~string | ~[]byte](text T) int64 {
	var year, month, day int
	switch {
	case len(text) == 8:
		year, month, day = number(text[:4]), number(text[4:6]), number(text[6:])
	case len(text) == 10 && text[4] == '-' && text[7] == '-':
		year, month, day = number(text[:4]), number(text[5:7]), number(text[8:])
	case len(text) == 10 && text[2] == '/' && text[5] == '/':
		day, month, year = number(text[:2]), number(text[3:5]), number(text[6:])
	}
	if year < datedFrom || year > datedTo || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// number reads digits; -1 where there is something else.
func number[T ~string | ~[]byte](text T) int {
	n := 0
	for i := range len(text) {
		c := text[i]
		if !isDigit(c) {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
