package erp

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"
)

// passedRows keeps the hashes of the rows that were passed to the caller, for a salvage: the newest
// in memory, those before in a temporary file. Where there can be no such file, all stay in memory.
type passedRows struct {
	newest []uint64
	file   *os.File
	filed  int64 // hashes in the file
	noFile bool
}

// passedInMemory is how many hashes go to the file together.
const passedInMemory = 1 << 10

func (p *passedRows) add(hash uint64) {
	p.newest = append(p.newest, hash)
	if len(p.newest) >= passedInMemory && !p.noFile {
		p.noFile = p.spill() != nil
	}
}

func (p *passedRows) spill() (err error) {
	if p.file == nil {
		p.file, err = os.CreateTemp("", "safrasync-read-*")
		if err != nil {
			return err
		}
		_ = os.Remove(p.file.Name()) // where an open file can be removed; else close does it
	}
	text := make([]byte, 0, 8*passedInMemory)
	for _, hash := range p.newest {
		text = binary.LittleEndian.AppendUint64(text, hash)
	}
	if _, err := p.file.WriteAt(text, 8*p.filed); err != nil {
		return err
	}
	p.filed += int64(len(p.newest))
	p.newest = p.newest[:0]
	return nil
}

// counts returns how often each hash was added.
func (p *passedRows) counts() (map[uint64]int, error) {
	out := make(map[uint64]int, p.filed+int64(len(p.newest)))
	for _, hash := range p.newest {
		out[hash]++
	}
	in := bufio.NewReader(io.NewSectionReader(p.file, 0, 8*p.filed))
	for range p.filed {
		var text [8]byte
		if _, err := io.ReadFull(in, text[:]); err != nil {
			return nil, err
		}
		out[binary.LittleEndian.Uint64(text[:])]++
	}
	return out, nil
}

func (p *passedRows) close() {
	if p.file != nil {
		_ = p.file.Close()
		_ = os.Remove(p.file.Name())
	}
}
