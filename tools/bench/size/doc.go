// Package size makes large ledgers and measures what a pass over them costs.
//
// [World] is one trial: an ERP table of contracts, a ledger, and the configuration that joins them.
// It is filled in three steps, so that what is measured is what the program itself makes:
//
//	rows      the ERP's table, by one statement of the database
//	discover  the program's own first pass over it, outside its hours, so that nothing is sent:
//	          entries, sums and cursor are the engine's
//	send      attempts and ids, by statements over the whole ledger, with its indexes and triggers
//	          put aside meanwhile and made again from their own text
//
// With Stuck some of the rows did not go, and [World.Serve] and [Console.Pages] measure what each
// page of the console takes then; [World.ReportFile] and [Console.Export] measure a report of all
// rows.
//
// After that `safrasync doctor` finds nothing, and a sweep finds every row unchanged. Nothing here
// imports the program: it is run as people run it, and judged by its exit code, its JSON, and the
// memory that the kernel says it used at most.
//
// The trials of any size are tests with flags, since they need throwaway servers:
//
//	go test -C tools ./bench/size -count=1 -v -timeout 3h -rows 1000000
package size
