package reconcile

import (
	"encoding/json"

	engine "github.com/safrasync/safrasync/sync"
	"github.com/safrasync/safrasync/trade"
)

// row makes the row of an entry. sent are the fields of its request.
func (t *taker) row(job JobHead, e trade.Entry, attempts []trade.Attempt, sent map[string]string) (Row, error) {
	r := Row{
		Job: e.Job, Sends: e.Sends, Key: e.Key, State: e.State, Cause: e.Cause, Flags: e.Flags, Error: e.Error, WaitingFor: e.WaitingFor, RemoteID: e.RemoteID,
		Moved: e.MovedID != "", Gone: e.GoneSweeps > 0, Reduced: !e.ReducedAt.IsZero(), Version: e.Version,
		Acknowledged: e.Acknowledged,
		Cancelled:    e.Flags.Has(trade.Cancelled) || e.Acknowledged.Has(trade.Cancelled),
		Since:        job.SweptAt != nil && e.FirstSeenAt.After(*job.SweptAt),
	}
	if parts := engine.KeyParts(e.Key); len(parts) > 1 {
		r.Branch = parts[0]
	}
	acts := t.acts[e.Job+" "+e.Key]
	if t.cut.Derived {
		stand := stateAt(e, attempts, acts, t.end)
		if r.Basis = stand.basis; r.Basis != Exact {
			r.State, r.Cause, r.Error, r.WaitingFor, r.Flags, r.RemoteID, r.Moved, r.Gone = stand.state, "", nil, nil, nil, stand.remoteID, false, false
			r.Acknowledged, r.Cancelled = nil, false
		}
	}
	if err := t.facts(&r, e, sent); err != nil {
		return r, err
	}
	r.sent(e, attempts, sent)
	r.by(acts, e)
	if t.head.Day != "" && r.Day > t.head.Day {
		r.After = true
	}
	if r.Sends == trade.OrderCommitments {
		return r, t.contract.add(e, &r)
	}
	return r, nil
}

// facts fills in what the row is about: as the ERP has it, and where it is no longer known what the ERP has, as it was sent.
func (t *taker) facts(r *Row, e trade.Entry, sent map[string]string) error {
	values := e.Values
	if e.Now != nil {
		values = e.Now
	}
	var fields map[string]engine.RowField
	job := t.specs[e.Job]
	if job != nil {
		fields = job.RowFields(values, t.refs)
	}
	text := func(field string) string {
		if f := fields[field].Text; f != "" {
			return f
		}
		return sent[field]
	}
	label := func(field string) string { // the ERP's own code says more to people than the platform's id
		if f := fields[field].ERP; f != "" {
			return f
		}
		return sent[field]
	}
	number := func(field string) *trade.Decimal { return decimalOf(text(field)) }
	switch e.Sends {
	case trade.OrderCommitments:
		r.OrderType, r.Product, r.Harvest, r.Day = text("order_type"), text("product"), text("haverst"), text("order_date")
		r.Producer, r.Place, r.Wallet = label("producer_id"), label("delivery_place_id"), label("wallet_id")
		r.ERP = Figures{Amount: number("amount"), Unit: unitOf(text("unit_of_measurement")), Price: number("price"), Currency: text("currency")}
	case trade.Deliveries:
		r.Day, r.CAR = text("delivery_date"), text("car")
		r.ERP = Figures{Amount: number("delivered_volume"), Unit: unitOf(text("delivered_volume_unit_of_measure"))}
	case trade.Traceability:
		r.Producer = label("producer_id")
		r.ERP = Figures{Amount: number("allocated_volume"), Unit: unitOf(text("unit_of_measurement"))}
	}
	if r.ERP.Amount == nil && e.Quantity.Unit != "" { // kept for the sums, also where the values are not
		amount := e.Quantity.Amount
		r.ERP.Amount, r.ERP.Unit = &amount, e.Quantity.Unit
	}
	if e.Sends != trade.OrderCommitments {
		id := sent["contract_id"]
		if e.Sends == trade.Traceability {
			id = e.Target
		}
		var parents []trade.ParentKey
		if job != nil {
			parents = job.ParentOf(values)
		}
		return t.contract.inherit(r, parents, id)
	}
	return nil
}

// sent fills in what left, when, for a row that is on the platform or may be.
func (r *Row) sent(e trade.Entry, attempts []trade.Attempt, body map[string]string) {
	if !r.State.Created() {
		return
	}
	for _, a := range attempts {
		if a.Outcome == trade.OutcomeCreated && !a.FinishedAt.IsZero() && (r.RemoteID == "" || a.RemoteID == r.RemoteID) {
			at := a.FinishedAt
			r.SentAt = &at
		}
	}
	names := figureFields[e.Sends]
	f := Figures{Amount: decimalOf(body[names[0]]), Unit: unitOf(body[names[1]]), Price: decimalOf(body["price"]), Currency: body["currency"]}
	if f.Amount == nil && r.Reduced && e.Quantity.Unit != "" { // without the flag `changed` what was sent and what the ERP has are the same
		amount := e.Quantity.Amount
		f.Amount, f.Unit = &amount, e.Quantity.Unit
	}
	r.Sent = &f
}

// figureFields are the fields with the amount and its unit (chapter 2).
var figureFields = map[trade.Kind][2]string{
	trade.OrderCommitments: {"amount", "unit_of_measurement"},
	trade.Deliveries:       {"delivered_volume", "delivered_volume_unit_of_measure"},
	trade.Traceability:     {"allocated_volume", "unit_of_measurement"},
}

// sentFields are the fields of the request's body as text.
func sentFields(e trade.Entry) map[string]string {
	var body map[string]json.RawMessage
	if len(e.Payload) == 0 || json.Unmarshal(e.Payload, &body) != nil {
		return nil
	}
	out := make(map[string]string, len(body))
	for field, raw := range body {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		out[field] = text
	}
	return out
}

func decimalOf(text string) *trade.Decimal {
	d, err := trade.ParseDecimal(text)
	if err != nil {
		return nil
	}
	return &d
}
