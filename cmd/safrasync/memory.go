package main

import (
	"runtime/debug"
	gosync "sync"
)

// How much of its memory the program lets lie before it collects. It often runs beside the ERP's own server, and what it does alternates between a handful of rows in
// memory and waiting: the garbage of one page of rows is most of what it would hold otherwise. What is no garbage takes some 8 MiB, and what a reading keeps of each key raises the
// first figure, above which the collector works more often, and never more than half of the time. At 50 percent it took a quarter of the CPU of a first pass; 100 cost 7 MiB.
const (
	softMemory = 32 << 20 // bytes; a limit that is passed where the work needs more
	gcPercent  = 100
	// A report holds a line of totals for each producer, place and season: of 5,000 producers alone some 20 MiB. Under the first figure the collector would take half of the time.
	reportMemory = 128 << 20
)

// limitMemory sets both, where the environment does not say otherwise (GOMEMLIMIT, GOGC).
func limitMemory(env func(string) (string, bool)) {
	if _, set := env("GOMEMLIMIT"); !set {
		memory.limit(debug.SetMemoryLimit)
	}
	if _, set := env("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
}

// memory is the limit of this process.
var memory memoryLimit

// memoryLimit is softMemory and what is held for long beside the work: what a reading keeps of each key, the console's view of what is stuck, and the keys that people search in.
// Where those came near the limit, the collector worked half of the time although there was nothing to collect, and a page took four times the CPU.
type memoryLimit struct {
	mu   gosync.Mutex
	set  func(int64) int64 // nil: the environment says what the limit is
	held map[string]int64

	reports int // that are being made
}

func (m *memoryLimit) limit(set func(int64) int64) {
	m.mu.Lock()
	m.set, m.held = set, map[string]int64{}
	m.mu.Unlock()
	set(softMemory)
}

// hold says how many bytes a part of the program holds from now on, about.
func (m *memoryLimit) hold(part string, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.set == nil || m.held[part] == bytes {
		return
	}
	m.held[part] = bytes
	m.change()
}

// report lets a report have more memory until back is called, beside what is held then.
func (m *memoryLimit) report() (back func()) {
	m.reporting(1)
	return func() { m.reporting(-1) }
}

func (m *memoryLimit) reporting(more int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reports += more
	if m.set != nil {
		m.change()
	}
}

// change sets the limit. The caller holds the lock.
func (m *memoryLimit) change() {
	limit := int64(softMemory)
	if m.reports > 0 {
		limit = reportMemory
	}
	for _, n := range m.held {
		limit += n
	}
	m.set(limit)
}
