package trade

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

// Need says when a field must be there.
type Need string

// The needs of chapter 2.1: the seven conditional fields are required for COMPRA only; A_FIXAR and
// the two fixations send what the ERP has.
const (
	Always    Need = "always"
	ForCompra Need = "COMPRA"
	Optional  Need = "optional"
)

// FieldRule is one line of a table of chapter 2, as data: it checks a value, explains a refusal and
// documents the field.
type FieldRule struct {
	Field     string    // the API's name
	Type      FieldType // form of the value
	Need      Need      // when it is required
	Values    []string  // allowed values of an Enum
	Positive  string    // the name under `checks:` that refuses zero and less; "" = any sign
	NotBefore string    // the field that must not be later (`checks: date_order`)
	// the kind of record that the id names on the platform: a de-para kind, or order_commitments;
	// "" = none
	Platform string
	With     string // the field beside which this one is required although it is optional; "" = none
	Parent   Kind   // the kind of record whose id it is: `sent_by` gives it; "" = none
}

// Canonical returns a field's text as it leaves: an id without braces and capitals, a CAR without
// dots and small letters. What it cannot read stays as it is.
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

// Severity says what a problem does to a row.
type Severity string

// The severities that `checks:` knows.
const (
	Refuse  Severity = "error" // the row is invalid
	Warning Severity = "warn"  // the row goes, with a remark
	Off     Severity = "off"   // not checked
	Shape   Severity = "shape" // of CAR only: <state code>-<number>-<code> is enough, anything else is refused
)

// Checks are the plausibility checks of `checks:` in the configuration (design: silent points of
// the API). An empty severity is Refuse.
type Checks struct {
	Amount     Severity // amount not above zero
	Price      Severity // price not above zero
	Volume     Severity // delivered_volume or allocated_volume not above zero
	DateOrder  Severity // end_delivery_date before initial_delivery_date
	DateWindow Severity // a date before 2000-01-01 or more than five years ahead
	CAR        Severity // car not in its canonical form, or, with Shape, not even in the shape of chapter 2.2
}

// Severity returns what the check of a name under `checks:` does to a row; an unset one refuses.
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

// Problem is one thing that is wrong with one field of one row, in a form that machines can group
// and people can read ([Problem.Sentence]).
type Problem struct {
	Field string `json:"field"` // the API's name
	// one of the Rule constants, required_for_<order type> or required_with_<field>
	Rule string `json:"rule"`
	// column(s) of the query, joined with a comma; "" when the field is not mapped
	Column   string   `json:"column"`
	Value    string   `json:"value"`            // what the ERP has there, trimmed
	Detail   string   `json:"detail,omitempty"` // what would be right: allowed values, the map's name, the format
	Severity Severity `json:"severity,omitempty"`
	// found while mapping (error.kind "mapping"), not by the rules of the API ("validation")
	Mapping bool `json:"-"`
}

// The rules that a problem can name. required_for_COMPRA is RequiredFor followed by the order type,
// required_with_allocated_volume is RequiredWith followed by the field that needs it.
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
	RuleDocument     = "document"    // not a CPF or CNPJ; the value is not told
	RuleInternal     = "internal"    // the program failed on this row; the others went on
)

// Cause is the `cause` of an invalid row: rule:FIELD of its first problem.
func Cause(problems []Problem) string {
	for _, p := range problems {
		if p.Severity != Warning {
			return "rule:" + p.Field
		}
	}
	return ""
}
