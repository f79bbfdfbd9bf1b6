// Package sending submits the due entries of one job.
//
// loop.go tells it on one page: rows are made ready, intents and settlements are stored, requests
// leave, answers are judged; what a crash leaves stands at each step. An intent is made durable only
// for a free slot (I11), and nothing leaves before the answers that have come are judged.
//
//	queue.go             which rows are next, and how a batch of them is made ready
//	recheck.go           reads them again in the ERP (I8), and asks package identity what they are (I3)
//	compare.go, hold.go  the records that they may be, with what stands under their keys in the ERP; and
//	                     what becomes of a row that may not go
//	judge.go             which answers stop the job, and how many of them in a row
//	pace.go              how many requests may be in flight, and when
//	settle.go            what an answer makes of its attempt and its entry
package sending
