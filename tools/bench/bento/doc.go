// Bento is a yardstick of `make bench`: Bento reads the rows of the ERP that were not sent yet,
// POSTs each, and writes the platform's id back.
//
// It is a separate module, so that nothing of it gets into the program. The components are selected
// by hand, because all of Bento is some hundred megabytes.
package main
