// Package sending submits the due entries of one job: it chooses rows, stores their intents, sends
// the requests, receives the answers and settles.
//
// # The order of writes
//
//  1. sender.go chooses rows that were rechecked just before. A crash here changes nothing.
//  2. commit.go passes the group to the ledger, which makes the intents durable (I1): entry pending
//     → sending, attempt open. A crash before the commit changes nothing; one after it leaves
//     entries in sending, which the next run settles before it sends anything.
//  3. flight.go: the gate checks the send window (I13), the lease (I12) and that nothing has
//     stopped. A crash from here until the settlement is stored: in doubt.
//  4. The request leaves.
//  5. flight.go takes the answer, as package outcome has judged it; commit.go passes the settlement
//     on with the next group. If the ledger cannot store it, the answer is kept for a while, then
//     the row is in doubt.
//
// judge.go decides which answers stop the job. An intent is made durable only for a free slot (I11).
package sending
