// Package size creates large ledgers and measures the cost of a pass over them.
//
// [World] is one trial: an ERP table of contracts, a ledger, and the configuration that joins them.
// It is filled in three steps, so that the measured data is as the program itself creates it:
//
//	rows      the ERP's table, by one statement of the database
//	discover  the program's own first pass over it, outside its hours, so that nothing is sent:
//	          entries, sums and cursor are the engine's
//	send      attempts and ids, by statements over the whole ledger; its indexes and triggers are
//	          dropped in the meantime and created again from their own text
//
// With Stuck, some of the rows were not sent. [World.Serve] and [Console.Pages] then measure the
// cost of each page of the console; [World.ReportFile] and [Console.Export] measure a report of all
// rows.
//
// After that, `safrasync doctor` finds nothing, and a sweep finds every row unchanged. Nothing here
// imports the program: it is run as people run it, and judged by its exit code, its JSON, and its
// peak memory according to the kernel.
//
// The trials of any size are tests with flags, because they need throwaway servers:
//
//	go test -C tools ./bench/size -count=1 -v -timeout 3h -rows 1000000
package size
