package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/safrasync/safrasync/sync/dryrun"
	"github.com/safrasync/safrasync/trade"
)

// UnseenCancelled returns the warning that no row has some of the values of `cancelled`, with the
// values that occur.
func UnseenCancelled(v Voice, c dryrun.CancelledColumn, column string) string {
	there := ValueCounts(c.Values)
	for _, value := range c.Values {
		if value.Value == "" {
			there = strings.TrimPrefix(there+", "+v.Text("empty × %d", value.Rows), ", ")
		}
	}
	return v.Text("cancelled: no row has %s in column %s, which contains %s", strings.Join(c.Unseen, ", "), column, there)
}

// RequiredWhen returns the condition under which a field is required. A need other than always or
// optional is the order type that has it.
func RequiredWhen(rule trade.FieldRule) string {
	switch rule.Need {
	case trade.Always:
		return "always"
	case trade.Optional:
		if rule.With != "" {
			return rule.With
		}
		return "never"
	}
	if slices.Contains(OrderTypes(), string(rule.Need)) {
		return "order_type = " + string(rule.Need)
	}
	return string(rule.Need)
}

// OrderTypes returns the types of order, each once.
func OrderTypes() []string {
	for _, rule := range trade.Rules(trade.OrderCommitments) {
		if rule.Field == "order_type" {
			return rule.Values
		}
	}
	return nil
}

// ValueCounts lists values with their numbers of rows. It omits the blank value, which the
// sentence mentions already.
func ValueCounts(values []dryrun.ValueCount) string {
	var out []string
	for _, c := range values {
		if c.Value != "" {
			out = append(out, fmt.Sprintf("“%s” × %d", c.Value, c.Rows))
		}
	}
	return strings.Join(out, ", ")
}
