// Package failover lets a real Patroni cluster fail over under the program, and judges from outside
// what became of each row (`make failovers`).
//
// The cluster is three nodes with PostgreSQL and Patroni, and etcd, all on loopback (patroni.go).
// Two machines run `safrasync run` under load (hosts.go). Between each two of them is a valve, which
// can hold back what passes (valve.go): so a node loses etcd or its replicas, and a machine sees
// another part of the cluster than the other one. faults.go has what happens to them, operator.go a
// person who does what the program tells, and nothing else, trial.go the order of events.
//
// What must be zero is what package rack says (tools/torture/rack): lost, doubled, falsely accepted
// and orphaned rows.
package failover
