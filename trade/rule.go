package trade

import "github.com/safrasync/safrasync/internal/phrase"

// FieldType is the form of a field's value.
type FieldType string

// The field types of chapter 2.
const (
	Number  FieldType = "number"  // exact decimal
	UUID    FieldType = "uuid"    // an id of the platform
	Enum    FieldType = "enum"    // one of FieldRule.Values, strict in spelling and case
	Day     FieldType = "date"    // YYYY-MM-DD
	Harvest FieldType = "harvest" // <year>/<year>: the second is the first or one more
	Text    FieldType = "text"    // any text
	CAR     FieldType = "car"     // registration of a rural property
)

// Need is when a field is required.
type Need string

// The needs of chapter 2.1: the seven conditional fields are required only for COMPRA; for A_FIXAR
// and the two fixations, what the ERP has is sent.
const (
	Always    Need = "always"
	ForCompra Need = "COMPRA"
	Optional  Need = "optional"
)

// FieldRule is one line of a table of chapter 2, as data: by it a value is mapped, checked, sent, read
// in an answer, compared and explained.
type FieldRule struct {
	Field     string    // the API's name of the field
	Type      FieldType // form of the value
	Need      Need      // when it is required
	Values    []string  // allowed values of an Enum
	Positive  string    // the name under `checks:` that refuses zero or less; "" = any sign
	NotBefore string    // field whose date must not be later (`checks: date_order`)
	// the kind of record on the platform whose id it is: a de-para kind, or order_commitments; "" =
	// none
	RefersTo string
	With     string // field with which this optional one is required; "" = none
	Parent   Kind   // the kind of record whose id it is, from `sent_by`; "" = none
	InPath   bool   // it is in the path of the request, not in its body
	Unit     string // of the quantity of a record: the field with its unit; "" = it is no quantity
	// 1 to 3: the group of the identifying fields to which it belongs; 0 = a document is not known by
	// it, and it is corrected in passing. A quantity identifies by its kilograms.
	IdentityGroup int
}

// rules are the tables of chapters 2.1 to 2.3 in their order, which is also the order in which
// fields are sent and problems are reported. All that depends on a field is determined by its rule.
var rules = map[Kind][]FieldRule{
	OrderCommitments: {
		{Field: "amount", Type: Number, Need: Always, Positive: "amount", Unit: "unit_of_measurement", IdentityGroup: 3},
		{Field: "producer_id", Type: UUID, Need: Always, RefersTo: "producers", IdentityGroup: 1},
		{Field: "issuer_id", Type: UUID, Need: Always, RefersTo: "users"},
		{Field: "product", Type: Enum, Need: Always, Values: []string{"SOJA", "TRIGO", "MILHO"}, IdentityGroup: 1},
		{Field: "delivery_place_id", Type: UUID, Need: Always, RefersTo: "delivery_places", IdentityGroup: 3},
		{Field: "haverst", Type: Harvest, Need: Always, IdentityGroup: 2}, // the document's own spelling
		{Field: "unit_of_measurement", Type: Enum, Need: Always, Values: []string{"SC", "KG", "TON"}},
		{
			Field: "order_type", Type: Enum, Need: Always,
			Values: []string{"COMPRA", "FIXACAO_COMPRA", "FIXACAO_DEPOSITO", "A_FIXAR"},
		},
		{Field: "order_date", Type: Day, Need: Always, IdentityGroup: 2},
		{Field: "wallet_id", Type: UUID, Need: Always, RefersTo: "wallets"},
		{Field: "currency", Type: Enum, Need: ForCompra, Values: []string{"BRL", "USD", "EUR"}},
		{Field: "price", Type: Number, Need: ForCompra, Positive: "price"},
		{Field: "initial_delivery_date", Type: Day, Need: ForCompra},
		{Field: "end_delivery_date", Type: Day, Need: ForCompra, NotBefore: "initial_delivery_date"},
		{
			Field: "modality", Type: Enum, Need: ForCompra,
			Values: []string{"BALCAO", "DISPONIVEL", "FUTURO", "EXPORTACAO"},
		},
		{Field: "payday", Type: Day, Need: ForCompra},
		{Field: "payment_type", Type: Enum, Need: ForCompra, Values: []string{"DINHEIRO", "TROCA"}},
	},
	Deliveries: {
		// the platform's id of the order commitment, or the ERP's own text if so configured
		{
			Field: "contract_id", Type: Text, Need: Always, Parent: OrderCommitments,
			RefersTo: "order_commitments", IdentityGroup: 1,
		},
		{
			Field: "delivered_volume", Type: Number, Need: Always, Positive: "volume",
			Unit: "delivered_volume_unit_of_measure", IdentityGroup: 3,
		},
		{Field: "delivered_volume_unit_of_measure", Type: Enum, Need: Always, Values: []string{"kg", "sc", "ton"}},
		{Field: "delivery_date", Type: Day, Need: Always, IdentityGroup: 2},
		{Field: "car", Type: CAR, Need: Optional},
	},
	Traceability: {
		{
			Field: "order_commitment_id", Type: UUID, Need: Always, Parent: OrderCommitments,
			RefersTo: "order_commitments", InPath: true, IdentityGroup: 1,
		},
		{Field: "producer_id", Type: UUID, Need: Always, RefersTo: "producers", IdentityGroup: 2},
		{Field: "user_id", Type: UUID, Need: Always, RefersTo: "users", IdentityGroup: 2},
		{Field: "farm_id", Type: UUID, Need: Optional, RefersTo: "farms"},
		{
			Field: "allocated_volume", Type: Number, Need: Optional, Positive: "volume",
			Unit: "unit_of_measurement", IdentityGroup: 3,
		},
		{ // the API would take a volume without it for tonnes, which overstates sacks nearly 17 times
			Field: "unit_of_measurement", Type: Enum, Need: Optional, With: "allocated_volume",
			Values: []string{"SC", "KG", "TON"},
		},
	},
}

// Rules returns the rules of a kind of record; nil for an unknown kind.
func Rules(kind Kind) []FieldRule { return rules[kind] }

// Rule returns the rule of one field of a kind.
func Rule(kind Kind, field string) (FieldRule, bool) {
	for _, rule := range rules[kind] {
		if rule.Field == field {
			return rule, true
		}
	}
	return FieldRule{}, false
}

// Canonical returns a field's text as it is sent: an id without braces and capitals, a CAR without
// dots and lower-case letters. A text that it cannot parse is returned unchanged.
func (r FieldRule) Canonical(text string) string {
	switch r.Type {
	case UUID:
		if id, err := ParseID(text); err == nil {
			return id
		}
	case CAR:
		return canonicalCAR(text)
	}
	return text
}

// Same reports whether two texts of the field mean the same to the API: numbers are compared by
// value, ids without regard to case.
func (r FieldRule) Same(a, b string) bool {
	if r.Type == Number {
		x, err := ParseDecimal(a)
		y, other := ParseDecimal(b)
		return err == nil && other == nil && x.Equal(y)
	}
	return a == b || r.Canonical(a) == r.Canonical(b)
}

// Severity is the effect of a problem on a row.
type Severity string

// The severities that `checks:` knows.
const (
	Refuse  Severity = "error" // the row is invalid
	Warning Severity = "warn"  // the row is sent, with a remark
	Off     Severity = "off"   // not checked
	Shape   Severity = "shape" // only CAR: <state code>-<number>-<code> is enough
)

// Checks are the plausibility checks of `checks:`, for points on which the API's document is
// silent. An empty severity is Refuse.
type Checks struct {
	Amount     Severity // amount not above zero
	Price      Severity // price not above zero
	Volume     Severity // delivered_volume or allocated_volume not above zero
	DateOrder  Severity // end_delivery_date before initial_delivery_date
	DateWindow Severity // a date before 2000-01-01 or more than five years ahead
	CAR        Severity // car not in canonical form or, with Shape, not even in that of chapter 2.2
}

// Severity returns the severity of the check with a name under `checks:`; Refuse if it is unset.
func (c Checks) Severity(name string) Severity {
	s := map[string]Severity{
		"amount": c.Amount, "price": c.Price, "volume": c.Volume, "date_order": c.DateOrder,
		"date_window": c.DateWindow, "car": c.CAR,
	}[name]
	if s == "" {
		return Refuse
	}
	return s
}

// Problem is one thing that is wrong with one field of one row, in a form that programs can group
// and people can read ([Problem.Sentence]).
type Problem struct {
	Field string `json:"field"` // the API's name
	// one of the Rule constants, required_for_<order type> or required_with_<field>
	Rule string `json:"rule"`
	// column(s) of the query, joined with a comma; "" if the field is not mapped
	Column string `json:"column"`
	Value  string `json:"value"` // what the ERP has there, trimmed
	// what would be right: allowed values, the map's name, the format; or why it cannot be read
	Detail   phrase.Packed `json:"detail,omitempty"`
	Severity Severity      `json:"severity,omitempty"`
	// found by the mapping (error.kind "mapping"), not by the rules of the API ("validation")
	Mapping bool `json:"-"`
}

// The rules of problems. RuleRequiredFor is followed by the order type, as in required_for_COMPRA;
// RuleRequiredWith by the field that needs it, as in required_with_allocated_volume.
const (
	RuleRequired     = "required"
	RuleRequiredFor  = "required_for_"
	RuleRequiredWith = "required_with_"
	RuleNumber       = "number"      // not a number in the configured form
	RuleDate         = "date"        // not a date in the configured form
	RuleUUID         = "uuid"        // not a UUID
	RuleHarvest      = "harvest"     // not <year>/<year>
	RuleCAR          = "car"         // not the registration of a rural property
	RuleCARPlace     = "car_place"   // its municipality is in another state: a remark
	RuleOneOf        = "one_of"      // not one of the API's values
	RuleUnmapped     = "unmapped"    // not in the value map
	RulePositive     = "positive"    // zero or less
	RuleDateOrder    = "date_order"  // earlier than the field named in Detail
	RuleDateWindow   = "date_window" // before 2000 or more than five years ahead
	RuleUnreadable   = "unreadable"  // bytes or a value that cannot be read
	RuleTooLong      = "too_long"    // longer than any value of this field can be
	RuleDocument     = "document"    // not a CPF or CNPJ; the value is not shown
	RuleInexact      = "inexact"     // cannot be expressed exactly in another unit
	RuleDeclared     = "declared"    // the job's query itself states what is wrong, in Detail
	RuleInternal     = "internal"    // the program failed on this row; the others went on
)

// Cause returns the `cause` of an invalid row: rule:FIELD of its first problem.
func Cause(problems []Problem) string {
	for _, p := range problems {
		if p.Severity != Warning {
			return "rule:" + p.Field
		}
	}
	return ""
}

// IsParent reports whether a field can be the id of a record that another job sends.
func IsParent(field string) bool {
	for _, kind := range Kinds {
		if rule, ok := Rule(kind, field); ok {
			return rule.Parent != ""
		}
	}
	return false
}
