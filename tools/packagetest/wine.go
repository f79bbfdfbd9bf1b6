package packagetest

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// forwardingDLL returns a library for 64-bit Windows, of at most a page, whose one function is that of
// another library (LIBRARY.FUNCTION). It has no code, only the table that says so.
func forwardingDLL(name, function, to string) []byte {
	const (
		align   = 0x200  // of a section in the file
		page    = 0x1000 // of a section in memory: where ours begins
		headers = align
	)
	le := binary.LittleEndian
	// The export directory, the addresses of its three tables of one entry each, then the texts.
	const directory, tables = 40, 4 + 4 + 2
	texts := []string{name, function, to}
	at := make([]uint32, len(texts))
	var table bytes.Buffer
	for i, text := range texts {
		at[i] = page + directory + tables + uint32(table.Len())
		table.WriteString(text + "\x00")
	}
	var section []byte
	for _, v := range []uint32{0, 0, 0, at[0], 1, 1, 1, page + directory, page + directory + 4, page + directory + 8} {
		section = le.AppendUint32(section, v)
	}
	section = le.AppendUint32(section, at[2]) // within the directory: a forwarder
	section = le.AppendUint32(section, at[1])
	section = le.AppendUint16(section, 0)
	size := uint32(directory + tables + table.Len())
	section = slices.Concat(section, table.Bytes(), make([]byte, align-int(size)))

	file := make([]byte, 64)
	copy(file, "MZ")
	le.PutUint32(file[60:], 64)
	file = append(file, "PE\x00\x00"...)
	add := func(values ...any) {
		for _, v := range values {
			file, _ = binary.Append(file, le, v) // numbers of fixed size
		}
	}
	// x64, one section, the size of what follows, a library for executable use
	add(uint16(0x8664), uint16(1), uint32(0), uint32(0), uint32(0), uint16(240), uint16(0x2022))
	// PE32+, sizes of code and data, no entry, base
	add(uint16(0x20b), uint16(0), uint32(0), uint32(align), uint32(0), uint32(0), uint32(page))
	add(uint64(0x180000000), uint32(page), uint32(align), uint16(6), uint16(0), uint32(0), uint16(6), uint16(0), uint32(0))
	// size in memory and of the headers, a console's subsystem, stack and heap, 16 directories
	add(uint32(2*page), uint32(headers), uint32(0), uint16(3), uint16(0x100))
	add(uint64(0x100000), uint64(0x1000), uint64(0x100000), uint64(0x1000), uint32(0), uint32(16))
	add(uint32(page), size, [15 * 2]uint32{}) // the first directory is that of the exports
	add([8]byte([]byte(".edata\x00\x00")), size, uint32(page), uint32(align), uint32(headers))
	add(uint32(0), uint32(0), uint32(0), uint32(0x40000040)) // initialised data that can be read
	return append(append(file, make([]byte, headers-len(file))...), section...)
}
