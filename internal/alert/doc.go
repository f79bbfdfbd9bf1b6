// Package alert sends people messages about what they must know without checking: one message when
// something begins, one when it is over, and a digest every day.
//
// In the order of the data:
//
//	look     read the facts of ledger, disk and connection   facts.go
//	judge    what holds now, what is certainly over          topic.go, judge.go
//	keep     open alerts in the ledger, and their messages   keep.go
//	deliver  each message to each address, until it arrives  deliver.go, email.go, webhook.go
//	digest   what was sent, what was not, why, what to do    digest.go
//	texts    in both languages                               say.go, digest_say.go;
//	         message.go and render*.go are the forms of a message
//
// What it guarantees:
//
//   - There is one message for a change of state, however many rows it concerns. What ends and
//     comes back within [Settling] is one alert.
//   - Alerts are stored in the ledger, with compare-and-set, so a restart or a second instance
//     repeats nothing.
//   - Delivery is at least once: a message and the change that it reports are stored in one
//     transaction, and delivery is attempted for [GiveUp], with growing pauses. A crash between
//     delivery and its record repeats one message, under the same id.
//   - Nothing waits for a delivery: it runs in parallel with the passes, every attempt has a time
//     limit, and an address that fails does not delay the others.
//   - No message contains a document, a name, a price, a value of the ERP or a text of another
//     server (I10): only counts, sums, and words of our own; and who takes care of a cause, with
//     that person's note.
//   - What is not known is not judged: an alert is over only if the facts show that it is.
package alert
