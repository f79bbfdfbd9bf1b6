package auth

import (
	"strings"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// How logins that fail are slowed down (C4). A name is slowed down for strangers only: a browser
// that the person has used before is counted apart, so that nobody can lock somebody else out. An
// address is slowed down later, because a whole office may have one.
const (
	freeTriesName    = 5
	freeTriesAddress = 20
	longestDelay     = 15 * time.Minute
	triesKept        = 24 * time.Hour // a try in vain counts so long
)

// buckets are what a try to log in counts in: the browser that the person has used before, or else
// the name and the address. A stranger behind the same address keeps nobody out who is known.
func buckets(name, device, from string) []string {
	if device != "" {
		return []string{"device:" + device}
	}
	return []string{"name:" + hashOf(name), "address:" + from}
}

// issuerBucket is what answers of an issuer count in: apart from passwords, so that an issuer that
// is down or wrong keeps nobody out who has one.
func issuerBucket(from string) string { return "openid:" + from }

// slower is what becomes of a bucket with one more try: after the free ones each makes the next
// wait twice as long. A day without any forgets them.
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
