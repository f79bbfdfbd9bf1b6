// Bento is a yardstick of `make bench`: Bento reads the rows of the ERP that were not sent yet,
// POSTs each, and writes the platform's id back.
//
// It is a module of its own, so that nothing of it gets into the program. The components are picked
// by hand: all that Bento can do is some hundred megabytes.
package main
