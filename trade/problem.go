package trade

// Problem is one thing that is wrong with one field of one row, in a form that machines can group and people can read ([Problem.Sentence]).
type Problem struct {
	Field    string   `json:"field"`            // the API's name
	Rule     string   `json:"rule"`             // one of the Rule constants, required_for_<order type> or required_with_<field>
	Column   string   `json:"column"`           // column(s) of the query, joined with a comma; "" when the field is not mapped
	Value    string   `json:"value"`            // what the ERP has there, trimmed
	Detail   string   `json:"detail,omitempty"` // what would be right: allowed values, the map's name, the format
	Severity Severity `json:"severity,omitempty"`
	Mapping  bool     `json:"-"` // found while mapping (error.kind "mapping"), not by the rules of the API ("validation")
}

// The rules that a problem can name. required_for_COMPRA is RequiredFor followed by the order type, required_with_allocated_volume is
// RequiredWith followed by the field that needs it.
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
