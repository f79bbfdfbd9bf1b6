// Package jobs stores which process may do what, and what was done: leases with their epochs (I12),
// the instances that are alive, the status of a job, its cursor (I4), its runs, since when a doubt
// is known (I14), and the platform that the ledger belongs to.
package jobs
