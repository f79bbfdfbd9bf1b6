// Package trade is the business: what an order commitment is, which rules a row of the ERP must
// meet before it may be sent, in which states an entry of the ledger can be, and the words in which
// people are told about all that.
//
// It knows neither a database nor HTTP, and of our packages it imports only i18n, so that every
// rule can be read, tested and explained on its own. The types follow the path of the data, one
// type per step:
//
//	erp.Row → [Draft] → [OrderCommitment] or []Problem → [Attempt] → [Entry] → [RunReport]
//
// # What it guarantees
//
//   - Amounts and prices are decimals from the first text to the JSON number that is sent (I6): see
//     [Decimal].
//   - Dates are calendar days and never meet a time zone (I7): see [Date].
//   - The rules of a record are data ([FieldRule]), so that the same table checks a row, explains a
//     refusal in words and documents itself.
//   - All problems of a row are found at once.
//   - The allowed changes of state are one table ([Moves]); the database has the same table and
//     refuses everything else. An entry changes by methods, which clear what must not stay.
//
// # Where to read on
//
// order_commitment.go has the rules of the record, check.go applies them, status.go has the states,
// moves.go how they change, entry.go and attempt.go what the ledger stores, words.go the sentences
// for people in Portuguese and English.
package trade
