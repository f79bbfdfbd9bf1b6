package office

import (
	"github.com/safrasync/safrasync/sync/acts"
)

// Doubt is what is known of a row that may be on the platform.
type Doubt struct {
	acts.Doubt
	Phase string // how far the last request got; "" = not recorded
}
