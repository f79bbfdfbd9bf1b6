package state

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

// PostgreSQL stores no NUL in a text; a request may name a contract with one, as JSON escapes it.
func TestAContractWithANULDoesNotKeepOtherRowsFromBeingStored(t *testing.T) {
	both(t, func(t *testing.T, s *Store) {
		bad, good := newEntry("a"), newEntry("b")
		bad.Sends, good.Sends = trade.Deliveries, trade.Deliveries
		bad.Payload = []byte(`{"contract_id":"A\u0000B","quantity":1}`)
		mustRecord(t, s, mustLease(t, s, "contracts"), bad, good)
		mustEntry(t, s, "contracts", "a")
		mustEntry(t, s, "contracts", "b")
	})
}
