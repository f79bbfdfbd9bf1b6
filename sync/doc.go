// Package sync is the engine: it discovers rows of the ERP, maps and checks them, submits what may
// go, and settles what came back. Importers name it engine; inside this folder "sync" is only its
// name.
//
// A pass reads for all its jobs, parents first (order.go), then lets them send in turns (pass.go
// has its stops and its end). The way of a row stands on one page, pipeline.go, and by function in
// docs/concepts.md. Each step is a package, which knows those before it and none after it:
//
//	mapping    row → draft → record → request, or what is wrong; pure
//	discovery  reads the ERP and records what is news; sweeps
//	brakes     pauses a job before anything of it leaves
//	recheck    reads rows once more before they go; what was sent already does not go again
//	sending    intents, requests in flight, answers, settlement
//	outcome    what an answer proves; pure
//
// Beside a pass: rehearse says what a run would do, and stores and sends nothing; acts is what
// people do to rows and jobs; events acts on what the platform tells; cluster shares jobs among
// instances; reconcile is the report; pending is what waits for people. run is what the stages
// share: the run of one job, and the interfaces through which storage, ERP and API are reached
// (run/ports.go).
//
// The service: scheduler.go is its loop, due.go says which jobs run now, circuit.go knows what
// waits after a stop and what ends it, task.go does the housekeeping, progress_clock.go detects a
// pass that hangs, follow.go takes up jobs as they become due, takeover.go takes over what dead
// instances held.
//
// # Invariants
//
// The numbers are cited in comments and tests.
//
//   - I1 Intent before bytes. No byte of a POST leaves before its intent (payload, hash, attempt,
//     owner) is durable on disk.
//   - I2 Outcome by evidence. After a POST an entry is accepted, rejected, held, pending again
//     (only on proof that nothing was created), or in doubt. Never a guess. The status decides; a
//     refusal that only the API can give proves something in a form of the API alone (package
//     outcome). What something on the road may have answered is in doubt.
//   - I3 Never twice without a person. At most one POST for each entry and generation may have an
//     outcome other than "certainly not created".
//   - I4 Discovered, not delivered. The read cursor moves in the transaction that records the rows
//     found; it says nothing about sending.
//   - I5 No row is lost. Rows that commit late, with old, equal, future or missing timestamps are
//     still found; the sweep proves it.
//   - I6 Money is exact. Decimals from the database to the JSON text; no float, no exponent, no
//     rounding unless configured.
//   - I7 Dates are dates. order_date and its like never pass through a time zone.
//   - I8 The ERP is read-only, with a statement timeout; no transaction of the reading is open
//     while an entry of the run is sending. Before their intents the keys are read again in one
//     short query: changed rows are mapped again, gone ones are held.
//   - I9 It adds up. After a sweep: keys in the ERP = sum of all states − gone, in counts and
//     quantities; a run that does not add up is an error.
//   - I10 Secrets and persons stay in. No key, document, name, price or body in a log line or error
//     text.
//   - I11 Doubt is bounded. kill -9 leaves at most max_in_flight entries in doubt: what leaves is
//     noted just before (run.Intents.Mark), on a tmpfs. Where it is not, a group of intents is
//     never larger than the free slots. The loss of the host leaves at most one window in doubt.
//   - I12 One reader and sender per job. Discovery, sweep, cursors and intents run under the job's
//     lease, fenced by its epoch; the result of an attempt is fenced only by the attempt itself, so
//     that a former owner's definite answer counts. Several instances share the jobs, and take over
//     a dead one's.
//   - I13 A send window. If more than 10 s pass between an intent and its first byte, on a clock
//     that counts suspended time, the attempt is given up unsent. The 10 s start before the commit.
//   - I14 A quarantine. Nobody can order a second sending before every time-out involved is over;
//     no wall clock shortens it, and no clock of another boot or time namespace counts.
//
// # What is the same
//
// A row is its kind of record and its key; what was sent under a key never goes again under it. A
// content that was sent, or is in doubt, goes under another key only when a further row with it
// stands in the ERP at that moment (package recheck): for each content there are never more records
// than rows that stood at once. The key under which something was sent says nothing about its
// content: another row may stand there by now.
//
// # What is written in which order
//
// Around one POST: see package sending. Around a reading: see package discovery. In one transaction
// of the ledger: see state/ledger, commit.go.
package sync
