// Package jobs keeps who may do what, and what was done: leases with their epochs (I12), the
// instances that are alive, where a job stands, its cursor (I4), its runs, since when a doubt is
// known (I14), and the platform that the ledger belongs to.
package jobs
