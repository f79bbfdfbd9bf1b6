package sync

import (
	"testing"

	"github.com/safrasync/safrasync/erp"
	"github.com/safrasync/safrasync/trade"
)

// An answer to a delivery that is no JSON says nothing of what was stored: the record exists, and nobody is troubled.
func TestAnEchoThatIsNone(t *testing.T) {
	t.Parallel()
	for _, body := range []string{``, `{`, `[]`, `"x"`} {
		if echoDiffers(trade.Deliveries, []byte(`{"contract_id":"a","delivered_volume":1}`), []byte(body)) {
			t.Errorf("%q differs", body)
		}
	}
}

// A row without the column of its key has none, and says which.
func TestARowWithoutTheColumnOfItsKey(t *testing.T) {
	t.Parallel()
	if _, _, err := rowKey(erp.NewRow([]string{"a"}, []erp.Value{{}}), []string{"b"}); err == nil || err.Error() != "key column b is not in the query" {
		t.Errorf("%v", err)
	}
}
