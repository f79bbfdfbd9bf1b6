package web

import (
	"net/http"
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

// Get is a page for who has a role.
func Get(path string, needs trade.Role, handle func(*Request) error) Route {
	return Route{Method: http.MethodGet, Path: path, Needs: needs, Handle: handle}
}

// Post is an order of who has a role.
func Post(path string, needs trade.Role, handle func(*Request) error) Route {
	return Route{Method: http.MethodPost, Path: path, Needs: needs, Handle: handle}
}

// WithBody lets the form have so many bytes.
func (r Route) WithBody(most int64) Route {
	r.Body = most
	return r
}

// Within lets the answer take so long.
func (r Route) Within(most time.Duration) Route {
	r.Takes = most
	return r
}

// AnswerWithin is how long a page may take, unless its route says more.
const AnswerWithin = 20 * time.Second
