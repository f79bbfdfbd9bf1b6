// Package alert tells people what they must know without looking: one message when something
// begins, one when it is over, and a digest a day.
//
// In the order of the data:
//
//	look     facts of ledger, disk and connection           facts.go, track.go
//	judge    what holds now, what is certainly over          topic.go, judge.go, workdays.go
//	keep     open alerts in the ledger, and their messages   keep.go
//	deliver  each message to each address, until it is there deliver.go, email.go, webhook.go
//	digest   what went, what did not, why, what to do        digest.go, digest_sum.go
//	words    both languages                                  words*.go, say*.go; message.go and
//	         render*.go are the forms of a message
//
// What it promises:
//
//   - One message for a change of state, however many rows it concerns. What ends and comes back
//     within [Settling] is one alert.
//   - Alerts are kept in the ledger, under compare-and-set: a restart or a second instance repeats
//     nothing.
//   - At least once: a message and the change that it tells of are stored in one transaction; it is
//     tried again until it is delivered, with growing pauses, for [GiveUp]. A crash between
//     delivery and its record repeats one message, under the same id.
//   - Nothing waits for a delivery: it runs beside the passes, every try has a time limit, and an
//     address that fails does not hold up the others.
//   - No message has a document, a name, a price, a value of the ERP or a text of another server in
//     it (I10): counts, sums, and words of our own.
//   - What is not known is not judged: an alert is over only when somebody could see that it is.
package alert
