// Package sending submits the due entries of one job: choose, store the intents, let the requests
// leave, take up the answers, settle.
//
// # What is written in which order
//
//  1. sender.go chooses rows that were rechecked a moment ago. A crash here changes nothing.
//  2. commit.go hands the group to the ledger, which makes the intents durable (I1): entry pending
//     → sending, attempt open. A crash before the commit changes nothing; one after it leaves
//     entries in sending, which the next run settles before it sends anything.
//  3. flight.go: the gate checks the send window (I13), the lease (I12) and that nothing
//     stopped, and notes that the request leaves. A crash before the note: the row certainly did
//     not go. A crash after it: in doubt.
//  4. The request leaves, and its answer is noted. A crash after that note settles the row as
//     noted.
//  5. flight.go takes the answer, as package outcome has judged it; commit.go hands the settlement
//     to the next group. Where the ledger does not take it, the answer is kept for a while, then
//     the row is in doubt.
//
// judge.go says which answers stop the job. Intents are ahead of the free slots by one group at
// most, and by none at a rate (flight.go, I11).
package sending
