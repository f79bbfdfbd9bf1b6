// River is a yardstick of `make bench`: a job in River's queue for each row of the ERP that was not
// sent yet, and a worker that POSTs it and writes the platform's id down.
//
// It is a module of its own, so that nothing of it gets into the program. River's driver for
// database/sql is used with lib/pq, which polls; the worker is written as River's documentation has
// it, with unique jobs, and polls as often as River lets it.
package main
