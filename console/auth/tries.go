package auth

import (
	"strings"
	"time"

	"github.com/safrasync/safrasync/internal/connlimit"
	"github.com/safrasync/safrasync/trade"
)

// How failed logins are slowed down. A name is slowed down for unknown browsers only; a
// browser that the person has used before is counted separately, so that nobody can lock out
// another person. An address is slowed down later, because a whole office may share it.
const (
	freeTriesName    = 5
	freeTriesAddress = 20
	longestDelay     = 15 * time.Minute
	triesKept        = 24 * time.Hour // how long a failed try counts
)

// buckets returns the buckets in which a try to log in counts: the browser if the person has used
// it before, or else the name and the address. So a stranger at the same address does not lock out
// known browsers. An IPv6 host counts as one address, whatever address it chooses.
func buckets(name, device, from string) []string {
	if device != "" {
		return []string{"device:" + device}
	}
	return []string{"name:" + hashOf(name), "address:" + connlimit.Key(from)}
}

// issuerBucket returns the bucket for answers of an issuer. It is separate from passwords, so that
// a faulty issuer does not lock out people who have a password.
func issuerBucket(from string) string { return "openid:" + connlimit.Key(from) }

// slower returns the change of a bucket by one more try. After the free tries each doubles the next
// wait. A day without any resets the bucket.
func slower(now time.Time) func(trade.Tries) trade.Tries {
	return func(t trade.Tries) trade.Tries {
		if now.Sub(t.At) > triesKept {
			t.Failures = 0
		}
		t.Failures++
		t.At, t.Until = now, now
		free := freeTriesName
		if strings.HasPrefix(t.Bucket, "address:") || strings.HasPrefix(t.Bucket, "openid:") {
			free = freeTriesAddress
		}
		if over := t.Failures - free; over > 0 {
			delay := longestDelay
			if over <= 10 {
				delay = min(longestDelay, time.Second<<over)
			}
			t.Until = now.Add(delay)
		}
		return t
	}
}
