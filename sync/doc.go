// Package sync is the engine: it discovers rows of the ERP, maps and checks them, submits what may go, and settles what came back.
// Importers name it engine; inside this folder "sync" is only its name.
//
// A pass (pass.go) reads for all its jobs, parents first (order.go), then lets them send in turns. One job, in the order of the data:
//
//	discover  erp.Row → trade.Draft → entry of the ledger   discover.go, mapping.go, evaluate.go, request.go, decide.go
//	lookup    documents that rows wait for, off by default  lookup.go, document.go
//	sweep     what is gone, and what windows had missed     sweep.go, roll.go, late.go
//	wait      rows whose parent has no id yet               parent.go
//	brake     too much that is new, too much at once, or a  brake.go, most.go, canary.go
//	          mapping that nobody has confirmed pauses the job
//	hours     a job may send only at some times             hours.go
//	look      the rows about to go are read once more       look.go
//	same      what was sent already does not go again       twins.go, other_job.go
//	submit    intent on disk → bytes leave → answer          submit.go, queue.go,
//	                                                         store.go, wire.go, flight.go
//	settle    answer → outcome → entry                       outcome.go, settle.go
//	report    what was done, and that it adds up             report.go
//
// Beside a pass, and without storing or sending anything: one row or one case (explain.go, case.go), all rows of the ERP against the rules
// (audit.go), and what was sent against the present configuration (compare.go). They judge rows through judge.go.
//
// The service: scheduler.go is its loop, due.go says which jobs run now, civil.go reads schedules, circuit.go knows what waits after a stop and what ends it, task.go
// does the housekeeping, pulse.go feels whether the engine gets on. Its passes take up jobs as they become due: follow.go.
//
// Several machines (docs/scale.md) share the jobs: crew.go says that this instance lives and what its share of the pace is, others.go leaves alone what others hold, and takes over what
// the dead held.
//
// What people do to rows and jobs, from the command line or a browser, is planned, shown, and done only to what was shown: act.go is the frame, act_again.go
// retries, dismisses and reopens, act_resend.go and act_adopt.go decide about doubts, act_job.go is for jobs. resync.go reads again what an administrator asks for.
//
// Storage, ERP and API are reached only through the interfaces in ports.go.
//
// # Invariants
//
// The numbers are cited in comments and tests.
//
//   - I1 Intent before bytes. No byte of a POST leaves before its intent (payload, hash, attempt, owner) is durable on disk.
//   - I2 Outcome by evidence. After a POST an entry is accepted, rejected, held, pending again (only on proof that nothing was created), or
//     in doubt. Never a guess.
//     The status decides; a refusal that only the API can give proves something in a form of the API alone (outcome.go). What something on the road may have answered is in doubt.
//   - I3 Never twice without a person. At most one POST for each entry and generation may have an outcome other than "certainly not created".
//   - I4 Discovered, not delivered. The read cursor moves in the transaction that records the rows found; it says nothing about sending.
//   - I5 No row is lost. Rows that commit late, with old, equal, future or missing timestamps are still found; the sweep proves it.
//   - I6 Money is exact. Decimals from the database to the JSON text; no float, no exponent, no rounding unless configured.
//   - I7 Dates are dates. order_date and its like never pass through a time zone.
//   - I8 The ERP is read-only, with a statement timeout; no transaction of the reading is open while an entry of the run is sending. Before
//     their intents the keys are read again in one short query: changed rows are mapped again, gone ones are held.
//   - I9 It adds up. After a sweep: keys in the ERP = sum of all states − gone, in counts and quantities; a run that does not add up is an error.
//   - I10 Secrets and persons stay in. No key, document, name, price or body in a log line or error text.
//   - I11 Doubt is bounded. kill -9 leaves at most max_in_flight entries in doubt: what leaves is noted just before (Submission.Mark), on a tmpfs. Where it is not, a group of
//     intents is never larger than the free slots. The loss of the host leaves at most one window in doubt.
//   - I12 One reader and sender per job. Discovery, sweep, cursors and intents run under the job's lease, fenced by its epoch; the result of an attempt is fenced
//     only by the attempt itself, so that a former owner's definite answer counts. Several instances share the jobs, and take over a dead one's.
//   - I13 A send window. If more than 10 s pass between an intent and its first byte, on a clock that counts suspended time, the attempt is
//     given up unsent. The 10 s start before the commit.
//   - I14 A quarantine. Nobody can order a second sending before every time-out involved is over; no wall clock shortens it, and no clock of another
//     boot or time namespace counts.
//
// # What is the same
//
// A row is its kind of record and its key; what was sent under a key never goes again under it. A content that was sent, or is in doubt, goes under another key only
// when a further row with it stands in the ERP at that moment (twins.go): for each content there are never more records than rows that stood at once. The
// key under which something was sent says nothing about its content: another row may stand there by now.
//
// # What is written in which order
//
// Around one POST: the group commit makes the intent durable (entry pending → sending, attempt open); the gate checks the send window and notes that the request leaves; the
// bytes leave; the answer is noted; a later group commit settles the attempt and moves the entry. A crash before the commit changes nothing. A crash between
// the commit and the settlement leaves the entry in sending, and the next run settles it before it sends anything: as noted, or as in doubt.
//
// Groups are stored beside the flights (store.go): while one is on its way to the disk, the rows of the one before leave (wire.go) and those of the next one are looked at. Intents
// are ahead of the free slots by one group at most, and by none at a rate.
package sync
