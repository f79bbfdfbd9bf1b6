// Package outcome says what an answer of the API proves (I2): created, certainly not created, or
// unknown; and what follows for the entry and for the job.
//
// It is pure: no storage, no clock, no network. [Decide] is the table; its test names every row of
// it. stop.go has the reasons for which a job ends early.
package outcome
