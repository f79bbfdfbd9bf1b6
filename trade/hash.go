package trade

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"strconv"
	"time"
)

// Hash tells whether two texts are the same, and where near it others stand. Compare with
// [Hash.Same], not with ==: a hash that comes from the journal has no number beside it.
type Hash struct {
	_   [0]func()
	Sum string // hex of a cryptographic hash; "" = there is no content
	// Near is, of a row of the ERP, [NearOf] its values; of a payload it is its [ContentNumber]. 0
	// = unknown. Who looks for a hash without one finds only those without one.
	Near int64
}

// Same reports whether both are of the same text.
func (h Hash) Same(other Hash) bool { return h.Sum == other.Sum }

// SameContent reports whether two payloads ask for the same business: see [ContentNumber]. Where
// that is not known of both, only the same payload is the same content.
func (h Hash) SameContent(other Hash) bool {
	return h.Sum != "" && h.Sum == other.Sum || h.Near != 0 && h.Near == other.Near
}

// contentBits is how many bits of a content number come from the hash; the day, or the parent,
// stands above them.
const contentBits = 40

// ContentNumber is equal for two payloads of one kind that ask for the same business: the same
// values in the fields that the API always requires (chapters 2.1 and 2.2). A contract that is
// typed again with another price, or with a field that was not mapped before, has the same number.
// Of a traceability record every field counts, with the order commitment in the path (chapter 2.3):
// its required fields alone tell no two records apart. parent is the content number of the record
// that it hangs on, and counts instead of that record's id: a contract may stand under another
// number, beside an equal one. 0: it is not known, and the id counts. The number grows with the
// record's day. 0: the payload has none of these fields. It is part of what ledgers keep: it must
// be the same for the same payload for ever.
func ContentNumber(sends Kind, parent int64, target string, payload []byte) int64 {
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) != nil {
		return 0
	}
	var day int64
	text := make([]byte, 0, 256)
	for _, rule := range Rules(sends) {
		raw, ok := fields[rule.Field]
		if !ok || sends != Traceability && rule.Need != Always || rule.Parent != "" && parent != 0 {
			continue
		}
		if rule.Type == Day && day == 0 {
			day = NearOf(raw)
		}
		text = append(append(append(append(text, rule.Field...), '='), raw...), 0)
	}
	if len(text) == 0 {
		return 0
	}
	if parent != 0 {
		target = strconv.FormatInt(parent, 10)
	}
	if day == 0 {
		day = int64(crc32.ChecksumIEEE([]byte(target)) >> 16)
	}
	sum := sha256.Sum256(append(text, target...))
	return day<<contentBits | int64(binary.BigEndian.Uint64(sum[:])>>(64-contentBits)) | 1
}

// A date counts in these years: other numbers look like one too.
const datedFrom, datedTo = 1990, 2099

// NearOf is a number that equal contents share, and that grows as the seasons go for contents with
// as many dates: the sum of the days since 1970 of all dates in a text, whether they are written
// 2026-01-31, 31/01/2026 or 20260131. Hashes are as good as random, so that an index of them alone
// reads and writes a page for each row of a large ledger; in the order of this number and then of
// the hash, rows of the same days share their pages. It is part of what ledgers keep: it must give
// the same for the same text for ever.
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

// dayOf gives the day that a text of digits and separators names, in days since 1970; 0 when it
// names none.
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
