package sent

import "slices"

// The model of two transactions that lock rows of sent and entry before they change them.

// tx is a kind of transaction, with the rows that it locks, in its order.
type tx struct {
	name  string
	locks []string
}

// inOneOrder are the transactions that lock guard, sents by id, and entries by id.
var inOneOrder = []tx{
	{"a group", []string{"guard", "sent 1", "sent 2", "entry 1", "entry 2"}},
	{"a late answer", []string{"sent 2", "entry 2"}},
	{"a recovery", []string{"guard", "sent 1", "sent 2", "entry 1", "entry 2"}},
	{"an order to adopt", []string{"sent 1", "entry 1"}},
	{"a sweep", []string{"entry 1", "entry 2"}},
}

// asTheyCome are transactions that lock what they change, when they change it.
var asTheyCome = []tx{
	{"a group in the order of its answers", []string{"guard", "sent 2", "sent 1", "entry 2", "entry 1"}},
	{"an order to adopt that changes the entry first", []string{"entry 1", "sent 1"}},
	{"a sweep in the order of the ERP", []string{"entry 2", "entry 1"}},
}

// locking is how many locks each of two transactions has; one more means that it is committed.
type locking [2]int8

// lockSteps returns the steps of two transactions.
func lockSteps(both [2]tx) func(locking, push[locking]) {
	return func(w locking, add push[locking]) {
		for i, t := range both {
			n := w
			n[i]++
			switch {
			case int(w[i]) > len(t.locks):
			case int(w[i]) == len(t.locks):
				add(n, "%s commits", t.name)
			case !w.holds(both, 1-i, t.locks[w[i]]):
				add(n, "%s locks %s", t.name, t.locks[w[i]])
			}
		}
	}
}

// holds reports whether a transaction has a lock.
func (w locking) holds(both [2]tx, i int, lock string) bool {
	if int(w[i]) > len(both[i].locks) {
		return false
	}
	return slices.Contains(both[i].locks[:w[i]], lock)
}

// deadlock is the fault of two transactions that wait for each other.
const deadlock = "two transactions wait for each other"

// lockFault returns what is wrong with a world of two transactions.
func lockFault(both [2]tx) func(locking) string {
	return func(w locking) string {
		for i, t := range both {
			at := int(w[i])
			if at >= len(t.locks) || !w.holds(both, 1-i, t.locks[at]) {
				return ""
			}
		}
		return deadlock
	}
}
