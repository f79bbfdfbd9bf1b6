// River is a yardstick of `make bench`: a job in River's queue for each row of the ERP that has none
// yet, and a worker that POSTs it and records the platform's id.
//
// It is a separate module, so that nothing of it gets into the program. It is as River's documentation
// recommends: with pgx, which is notified of new jobs, unique jobs, and completions in batches with the
// id as the output of the job. With -each the id and the end of each job are one transaction instead.
package main
