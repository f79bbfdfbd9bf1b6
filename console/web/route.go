package web

import (
	"net/http"
	"time"

	"github.com/safrasync/safrasync/trade"
)

// Route is one thing that a browser can request. Who may use it is defined here and nowhere else.
type Route struct {
	Method string
	Path   string        // in the form of net/http
	Needs  trade.Role    // the lowest role; "" = nobody, unless Open
	Open   bool          // usable without a login
	First  bool          // usable before a first password was changed
	Free   bool          // usable before there is an administrator: files of the setup page
	Body   int64         // most bytes of a form; 0: the limit of every form
	Takes  time.Duration // time limit, if longer than AnswerWithin
	Stream bool          // the answer continues until the browser disconnects
	Handle func(*Request) error
}

// AtFirst makes a route usable before a first password was changed.
func (r Route) AtFirst() Route {
	r.First = true
	return r
}

// Get returns a route for a page that needs a role.
func Get(path string, needs trade.Role, handle func(*Request) error) Route {
	return Route{Method: http.MethodGet, Path: path, Needs: needs, Handle: handle}
}

// Post returns a route for an act that needs a role.
func Post(path string, needs trade.Role, handle func(*Request) error) Route {
	return Route{Method: http.MethodPost, Path: path, Needs: needs, Handle: handle}
}

// WithBody sets the most bytes of the form.
func (r Route) WithBody(most int64) Route {
	r.Body = most
	return r
}

// Within sets the time limit of the answer.
func (r Route) Within(most time.Duration) Route {
	r.Takes = most
	return r
}

// AnswerWithin is how long a page may take, unless its route has another limit.
const AnswerWithin = 20 * time.Second
