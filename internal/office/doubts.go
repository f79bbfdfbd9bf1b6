package office

import (
	"time"

	"github.com/safrasync/safrasync/sync/acts"
	"github.com/safrasync/safrasync/trade"
)

// Doubt is what is known of a row that may be on the platform.
type Doubt struct {
	Attempts  []trade.Attempt
	Phase     string // how far the last request got; "" = not recorded
	Remaining time.Duration
	Look      []acts.FieldReading
}
