package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strconv"

	"github.com/safrasync/safrasync/internal/phrase"
)

// firstPrev is the prev of the first line.
const firstPrev = "00000000"

// crcLength is the number of hex digits with which a line begins.
const crcLength = 8

// maxLine is more than a group of 256 rows needs; a longer line is damage.
const maxLine = 16 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crcOf(text []byte) string {
	sum := crc32.Checksum(text, castagnoli)
	return hex.EncodeToString([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}

// Seal returns a text as a line that begins with its CRC, and the CRC.
func Seal(text []byte) (line []byte, crc string) {
	crc = crcOf(text)
	line = make([]byte, 0, len(text)+len(crc)+2)
	line = append(append(line, crc...), ' ')
	return append(append(line, text...), '\n'), crc
}

// Unseal returns the text of a line without its line feed, and its CRC. ok is false if the line is
// damaged.
func Unseal(line []byte) (text []byte, crc string, ok bool) {
	sum, text, found := bytes.Cut(line, []byte{' '})
	return text, string(sum), found && len(sum) == crcLength && string(sum) == crcOf(text)
}

// encode returns a record's line and its CRC.
func encode(r Record) (line []byte, crc string, err error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, "", phrase.Errorf("journal: record %d: %w", r.Seq, err)
	}
	line, crc = Seal(text)
	return line, crc, nil
}

// entry is a sound line, of which only the beginning was parsed.
type entry struct {
	seq  int64
	prev string
	crc  string
	kind Kind
	text []byte // the JSON
}

var (
	seqMark  = []byte(`{"seq":`)
	prevMark = []byte(`"prev":"`)
	kindMark = []byte(`"kind":"`)
	headMark = []byte(`,"head":{`)
	baseMark = []byte(`,"base":`)
)

// parse parses a line without its line feed. ok is false if the line is damaged.
func parse(line []byte) (e entry, ok bool) {
	text, crc, ok := Unseal(line)
	if !ok {
		return e, false
	}
	rest, found := bytes.CutPrefix(text, seqMark)
	number, rest, more := bytes.Cut(rest, []byte{','})
	if !found || !more {
		return e, false
	}
	seq, err := strconv.ParseInt(string(number), 10, 64)
	rest, found = bytes.CutPrefix(rest, prevMark)
	if err != nil || seq < 0 || !found || len(rest) < 10 || rest[8] != '"' || rest[9] != ',' {
		return e, false
	}
	kind, found := bytes.CutPrefix(rest[10:], kindMark)
	kind, _, more = bytes.Cut(kind, []byte{'"'})
	return entry{seq: seq, prev: string(rest[:8]), crc: crc, kind: Kind(kind), text: text}, found && more
}

// record parses the whole line.
func (e entry) record() (Record, error) {
	var r Record
	if err := json.Unmarshal(e.text, &r); err != nil {
		return r, err
	}
	if r.Kind == Head && r.Head == nil {
		return r, errors.New("a head without its content")
	}
	return r, nil
}
