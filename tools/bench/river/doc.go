// River is a yardstick of `make bench`: a job in River's queue for each row of the ERP that was not
// sent yet, and a worker that POSTs it and stores the platform's id.
//
// It is a separate module, so that nothing of it gets into the program. River's driver for
// database/sql is used with lib/pq, which polls; the worker follows River's documentation, with
// unique jobs, and polls as often as River allows.
package main
