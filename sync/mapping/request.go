// Paths of requests, for people.

package mapping

import (
	"github.com/safrasync/safrasync/apiclient"
	"github.com/safrasync/safrasync/trade"
)

// PathOf returns the path of an entry's request, for people; "" if the entry has no payload.
func PathOf(e trade.Entry) string {
	if e.Payload == nil {
		return ""
	}
	return apiclient.PathOf(e.Sends, e.Target)
}
