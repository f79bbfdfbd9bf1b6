// Package outcome decides what an answer of the API proves (I2): created, certainly not created, or
// unknown; and what follows for the entry and for the job.
//
// It is pure: no storage, no clock, no network. [Decide] is the table; its test has a case for
// every row of it. stop.go has the reasons why a job ends early.
package outcome
