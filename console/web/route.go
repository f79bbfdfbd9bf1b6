package web

import (
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Route is one thing that a browser can ask for. Who may use it stands here and nowhere else.
type Route struct {
	Method string
	Path   string        // as net/http has it
	Needs  trade.Role    // the least role; "" = nobody, unless open
	Open   bool          // without having logged in
	Free   bool          // also before the first administrator is there: what the page that says so is made of
	Body   int64         // of a form, at most; 0: that of every form
	Takes  time.Duration // at most, where that is longer than AnswerWithin
	Stream bool          // the answer goes on until the browser goes away
	Handle func(*Request) error
}

// AnswerWithin is how long a page may take, unless its route says more.
const AnswerWithin = 20 * time.Second
