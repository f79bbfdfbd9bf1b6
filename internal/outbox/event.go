package outbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/safrasync/safrasync/trade"
)

// Event is the body of a request. Docs: docs/events.md and openapi.json of internal/httpapi.
type Event struct {
	ID         string          `json:"id"` // the same each time that it is sent
	Type       trade.EventKind `json:"type"`
	At         time.Time       `json:"at"`
	Seq        int64           `json:"seq"`
	Job        string          `json:"job"`
	Sends      *string         `json:"sends"` // null: it is about a job
	Key        *string         `json:"key"`
	State      string          `json:"state"`
	Cause      *string         `json:"cause"` // of a job the code of the stop
	RemoteID   *string         `json:"remote_id"`
	Generation *int            `json:"generation"`
	Version    *int64          `json:"version"`
}

// Test is the type of the event that is sent to try an address.
const Test trade.EventKind = "test"

// eventSpace is the name space of the ids of events.
var eventSpace = uuid.MustParse("5a1c4f52-6f4e-5c8e-9d1b-7b3f0c2d9e61")

// IDOf returns the id of an event of a ledger, which no other one gets: a program that takes each id once
// must not lose what happened after the ledger was repaired. The number is one that a copy of the ledger,
// put in its place by hand, may give again; so what happened, and when, is in it, too.
func IDOf(ledger string, e trade.OutEvent) string {
	return uuid.NewSHA1(eventSpace, []byte(strings.Join([]string{
		ledger, strconv.FormatInt(e.Seq, 10), string(e.Kind), e.Job, e.Key, e.State, e.Cause, e.RemoteID,
		strconv.Itoa(e.Generation), strconv.FormatInt(e.Version, 10), strconv.FormatInt(e.At.UnixMilli(), 10),
	}, "\n"))).String()
}

// bodyOf returns the request's body.
func bodyOf(ledger string, e trade.OutEvent) ([]byte, error) {
	out := Event{
		ID: IDOf(ledger, e), Type: e.Kind, At: e.At, Seq: e.Seq, Job: e.Job, State: e.State,
		Cause: trade.OrNull(e.Cause), RemoteID: trade.OrNull(e.RemoteID),
	}
	if e.EntryID != 0 {
		sends := string(e.Sends)
		out.Sends, out.Key, out.Generation, out.Version = &sends, &e.Key, &e.Generation, &e.Version
	}
	return json.Marshal(out)
}

// Header is the name of the header with the signature.
const Header = "Safrasync-Signature"

// Sign returns the value of Header for a body that is sent at a time: t is the time in seconds since
// 1970, and v1 the HMAC-SHA256, in hexadecimal, of that number, a dot and the body.
func Sign(secret string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.", at.Unix())
	mac.Write(body)
	return fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil)))
}
