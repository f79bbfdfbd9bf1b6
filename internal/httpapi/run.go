package httpapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"time"

	"go.uber.org/zap"
)

// Order is a request of a program for a run.
type Order struct {
	Job   string
	Sweep bool   // compare everything with the ERP
	By    string // the token's name
	From  string // the address
}

// The codes of a Refusal with a status of its own; the others are states of a job.
const (
	UnknownJob    = "unknown_job"
	UnknownRow    = "unknown_row"
	WrongCursor   = "bad_request"
	CursorExpired = "cursor_expired"
	NotReady      = "unavailable"
)

// Refusal is why an order cannot be accepted, or a question not answered, now.
type Refusal struct {
	Code string
	Text string // for people, English
}

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }

// refusalStatus is the HTTP status of a refusal; that of others is 409.
var refusalStatus = map[string]int{
	UnknownJob: http.StatusNotFound, UnknownRow: http.StatusNotFound, WrongCursor: http.StatusBadRequest,
	CursorExpired: http.StatusGone, NotReady: http.StatusServiceUnavailable,
}

// ordered is the answer to an accepted order.
type ordered struct {
	Job       string    `json:"job"`
	Sweep     bool      `json:"sweep"`
	State     string    `json:"state"`
	OrderedBy string    `json:"ordered_by"`
	OrderedAt time.Time `json:"ordered_at"`
	Status    string    `json:"status"` // path at which the result can be seen
}

// bodyMost is the maximum size of an order, in bytes.
const bodyMost = 4 << 10

func (a *API) run(w http.ResponseWriter, r *http.Request, token Token) {
	order, err := readOrder(w, r)
	if err != nil {
		a.fail(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	order.By = token.Name
	order.From, _, _ = net.SplitHostPort(r.RemoteAddr)
	at := a.Now().UTC()
	if err := a.Engine.Run(r.Context(), order); err != nil {
		a.refuse(w, r, err)
		return
	}
	a.Log.Info("http_api: a run was ordered", zap.String("token", order.By), zap.String("job", order.Job),
		zap.Bool("sweep", order.Sweep), zap.String("from", order.From))
	a.answer(w, http.StatusAccepted, ordered{
		Job: order.Job, Sweep: order.Sweep, State: "ordered", OrderedBy: order.By, OrderedAt: at,
		Status: "/api/v1/status",
	})
}

// refuse answers with the refusal of the engine, or that something went wrong.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var refused *Refusal
	if !errors.As(err, &refused) {
		a.broken(w, r, err)
		return
	}
	if refused.Code == NotReady {
		w.Header().Set("Retry-After", "5")
	}
	a.fail(w, cmp.Or(refusalStatus[refused.Code], http.StatusConflict), refused.Code, refused.Text)
}

// readOrder reads the body of an order: one object without unknown members.
func readOrder(w http.ResponseWriter, r *http.Request) (Order, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return Order{}, errors.New("the Content-Type must be application/json")
	}
	var body struct {
		Job   *string `json:"job"`
		Sweep bool    `json:"sweep"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyMost))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return Order{}, fmt.Errorf(`the body must be as {"job": "contracts", "sweep": false}: %w`, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Order{}, errors.New("the body must be one object")
	}
	if body.Job == nil || *body.Job == "" {
		return Order{}, errors.New("job is required")
	}
	return Order{Job: *body.Job, Sweep: body.Sweep}, nil
}

func (a *API) status(w http.ResponseWriter, r *http.Request, _ Token) {
	jobs, err := a.Engine.Status(r.Context())
	if err != nil {
		a.broken(w, r, err)
		return
	}
	if jobs == nil {
		jobs = []json.RawMessage{}
	}
	a.answer(w, http.StatusOK, struct {
		Jobs []json.RawMessage `json:"jobs"`
	}{jobs})
}
