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

	"github.com/safrasync/safrasync/internal/office"
)

// refusalStatus is the HTTP status of a refusal; that of others is 409.
var refusalStatus = map[string]int{
	office.UnknownJob: http.StatusNotFound, office.UnknownRow: http.StatusNotFound,
	office.WrongCursor: http.StatusBadRequest, office.CursorExpired: http.StatusGone,
	office.NotReady: http.StatusServiceUnavailable,
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
	job, sweep, err := readOrder(w, r)
	if err != nil {
		a.fail(w, http.StatusBadRequest, "bad_request", err.Error())
		return
	}
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	at := a.Now().UTC()
	if err := a.Office.OrderRun(r.Context(), job, sweep, token.Name, from); err != nil {
		a.refuse(w, r, err)
		return
	}
	a.Log.Info("http_api: a run was ordered", zap.String("token", token.Name), zap.String("job", job),
		zap.Bool("sweep", sweep), zap.String("from", from))
	a.answer(w, http.StatusAccepted, ordered{
		Job: job, Sweep: sweep, State: "ordered", OrderedBy: token.Name, OrderedAt: at,
		Status: "/api/v1/status",
	})
}

// refuse answers with the refusal of the office, or that something went wrong.
func (a *API) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var refused *office.Refusal
	if !errors.As(err, &refused) {
		a.broken(w, r, err)
		return
	}
	if refused.Code == office.NotReady {
		w.Header().Set("Retry-After", "5")
	}
	a.fail(w, cmp.Or(refusalStatus[refused.Code], http.StatusConflict), refused.Code, refused.Text)
}

// readOrder reads the body of an order: one object without unknown members.
func readOrder(w http.ResponseWriter, r *http.Request) (job string, sweep bool, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return "", false, errors.New("the Content-Type must be application/json")
	}
	var body struct {
		Job   *string `json:"job"`
		Sweep bool    `json:"sweep"`
	}
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyMost))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return "", false, fmt.Errorf(`the body must be as {"job": "contracts", "sweep": false}: %w`, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", false, errors.New("the body must be one object")
	}
	if body.Job == nil || *body.Job == "" {
		return "", false, errors.New("job is required")
	}
	return *body.Job, body.Sweep, nil
}

func (a *API) status(w http.ResponseWriter, r *http.Request, _ Token) {
	jobs, err := a.Office.Status(r.Context())
	a.show(w, r, struct {
		Jobs []office.JobStatus `json:"jobs"`
	}{jobs}, err)
}
