package main

import "runtime/debug"

// How much of its memory the program lets lie before it collects. It often runs beside the ERP's own server, and what it does alternates between a handful of rows in
// memory and waiting: the garbage of one page of rows is most of what it would hold otherwise. A sweep of a million rows holds some 35 MiB that are not garbage; the
// first figure lets the collector work more often there, and never more than half of the time. At 50 percent the collector took a quarter of the CPU of a first pass; 100 cost 7 MiB.
const (
	softMemory = 48 << 20 // bytes; a limit that is passed where the work needs more
	gcPercent  = 100
	// A report holds a line of totals for each producer, place and season: of 5,000 producers alone some 20 MiB. Under the first figure the collector would take half of the time.
	reportMemory = 128 << 20
)

// moreMemory lets a report have more of it until back is called, where the environment does not say otherwise.
func moreMemory() (back func()) {
	before := debug.SetMemoryLimit(-1)
	if before != softMemory {
		return func() {}
	}
	debug.SetMemoryLimit(reportMemory)
	return func() { debug.SetMemoryLimit(before) }
}

// limitMemory sets both, where the environment does not say otherwise (GOMEMLIMIT, GOGC).
func limitMemory(env func(string) (string, bool)) {
	if _, set := env("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(softMemory)
	}
	if _, set := env("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
}
