// Package torture kills the real program on both ledgers, and exposes several machines on one
// ledger to every fault (`make torture`). The code that starts the program and judges it is in
// the folder rack; tools/failover uses it too.
//
// Several machines (machines.go, host.go, network.go): each is a network namespace with one cable
// to the database and one to the platform and the ERP. In it the program has its own host name,
// machine id, process ids and wall clock.
package torture
