// Package fault has the errors of the ERP reader: what kind of trouble it is, and a text that says
// what to do next. It stands below the reader, its engines and the tokenizer, which all make them.
//
// No text holds a password, a connection string or row data.
package fault
