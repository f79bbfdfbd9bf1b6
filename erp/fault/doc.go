// Package fault has the errors of the ERP reader: what kind of error it is, and a text that states
// what to do next. The reader, its engines and the tokenizer all import it.
//
// No text contains a password, a connection string or row data.
package fault
