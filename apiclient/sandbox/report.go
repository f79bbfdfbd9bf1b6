package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// Request is what the report shows of a request. It has no body and no query, because a
// query of chapter 4 contains a document number.
type Request struct {
	At     time.Time `json:"at"`
	Method string    `json:"method"`
	Path   string    `json:"path"`        // a document number in it appears as {social_identity}
	N      int       `json:"n,omitempty"` // number among the creating POSTs, or among the GETs
	// Status is the status sent, or 0 if no answer was sent.
	Status  int      `json:"status"`
	Fault   string   `json:"fault,omitempty"` // text of the fault that acted, if any
	Made    []string `json:"made,omitempty"`  // ids of what was created
	Remarks []Remark `json:"remarks,omitempty"`
	Note    string   `json:"note,omitempty"`
}

// RemarkCount is a remark and the number of requests that got it.
type RemarkCount struct {
	Remark
	Count int `json:"count"`
}

// Report is what the sandbox has received, made and sent, without secrets.
type Report struct {
	Began         time.Time      `json:"began"`
	Seed          int64          `json:"seed"`
	Faults        []string       `json:"faults"`
	NotContracted []Module       `json:"not_contracted"`
	Counts        map[string]int `json:"counts"` // as [Server.Counts]
	Total         int            `json:"total"`  // number of all requests
	// Numbers is the last number of each sequence of requests since the start. Its keys are the
	// prefixes of a fault's action: "" for creating POSTs, "deliveries:", "get:". @N of a fault
	// that is switched on now continues from there.
	Numbers    map[string]int  `json:"numbers"`
	Made       map[string]int  `json:"made"` // records by resource
	MadeTwice  [][]ShownRecord `json:"made_twice"`
	Records    []ShownRecord   `json:"records"`
	Webhooks   []ShownWebhook  `json:"webhooks"`
	Deliveries []Delivery      `json:"deliveries"` // the newest 2,000, like the lists below
	Remarks    []RemarkCount   `json:"remarks"`
	Requests   []Request       `json:"requests"`
}

// ShownRecord is a record in the report. Its body has no secrets of a webhook, and only
// the last two characters of a CPF or CNPJ.
type ShownRecord struct {
	ID       string            `json:"id"`
	Resource string            `json:"resource"`
	At       time.Time         `json:"at"`
	Params   map[string]string `json:"params,omitempty"`
	Body     json.RawMessage   `json:"body"`
}

// ShownWebhook is a webhook in the report. It shows whether the webhook has secrets, but
// not the secrets.
type ShownWebhook struct {
	ID         string    `json:"id"`
	At         time.Time `json:"at"`
	Event      string    `json:"webhook_event"`
	URL        string    `json:"url"` // without user, query and fragment
	Basic      bool      `json:"has_basic_authentication"`
	HMACSecret bool      `json:"has_hmac_secret"`
}

func (s *Server) remember(rq *request, f *Disturbance, status int, note string) {
	path := rq.path
	if rq.route != nil && rq.route.resource == ResourceProducers {
		path = rq.route.pattern // it contains a document number
	}
	r := Request{
		At: s.opts.Now(), Method: rq.http.Method, Path: path, N: rq.n, Status: status, Fault: f.acted(),
		Remarks: rq.remarks, Note: note,
	}
	for _, rec := range rq.records {
		r.Made = append(r.Made, rec.ID)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.add(r)
	for _, remark := range rq.remarks {
		if _, again := s.remarked[remark]; again || len(s.remarked) < maxRecords {
			s.remarked[remark]++
		}
	}
}

// Report returns a snapshot.
func (s *Server) Report() Report {
	r := Report{
		Began: s.began, Seed: s.seed, Faults: faultTexts(s.Faults()),
		NotContracted: append([]Module{}, s.NotContracted()...),
		Counts:        s.Counts(), Total: s.Requests(), Made: map[string]int{},
		Deliveries: s.Deliveries(),
		MadeTwice:  [][]ShownRecord{}, Records: []ShownRecord{}, Webhooks: []ShownWebhook{}, Remarks: []RemarkCount{},
	}
	for _, rec := range s.CreatedOf() {
		r.Made[rec.Resource]++
		r.Records = append(r.Records, rec.shown())
	}
	for _, group := range s.MadeTwice() {
		shown := make([]ShownRecord, len(group))
		for i, rec := range group {
			shown[i] = rec.shown()
		}
		r.MadeTwice = append(r.MadeTwice, shown)
	}
	for _, w := range s.Webhooks() {
		r.Webhooks = append(r.Webhooks, ShownWebhook{
			w.ID, w.At, w.Event, shownURL(w.URL), w.BasicAuthentication != "",
			w.HMACSecret != "",
		})
	}
	s.mu.Lock()
	r.Requests, r.Numbers = append([]Request{}, s.seen.kept...), maps.Clone(s.numbers)
	for remark, n := range s.remarked {
		r.Remarks = append(r.Remarks, RemarkCount{remark, n})
	}
	s.mu.Unlock()
	slices.SortFunc(r.Remarks, func(a, b RemarkCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Field, b.Field))
	})
	return r
}

func (r *Record) shown() ShownRecord {
	out := ShownRecord{ID: r.ID, Resource: r.Resource, At: r.At, Params: r.Params, Body: r.Body}
	switch r.Resource {
	case ResourceCreditScore, ResourceCreditAnalysis:
		fields := r.clone().Fields
		for _, name := range []string{"social_id", "identity", "corporate_identity"} {
			if text, ok := fields[name].(string); ok {
				runes := []rune(text)
				n := max(0, len(runes)-2)
				fields[name] = strings.Repeat("•", n) + string(runes[n:])
			}
		}
		out.Body = encode(fields)
	case ResourceWebhooks:
		// Show only members that are known not to be secret: an unknown member may be a misspelled
		// secret.
		event, _ := r.Fields["webhook_event"].(string)
		address, _ := r.Fields["url"].(string)
		out.Body = encode(map[string]string{"webhook_event": event, "url": shownURL(address)})
	}
	var compact bytes.Buffer
	if json.Compact(&compact, out.Body) == nil {
		out.Body = compact.Bytes()
	}
	return out
}
