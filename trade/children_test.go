package trade

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	aCAR     = "MT-5107925-B5C72DC4EE60CAEA63367C29A80B21EA"
	parentID = "3fa0c0de-0000-4000-8000-000000000001"
)

// verdicts returns the problems of a draft as field:rule, remarks with a w.
func verdicts(problems []Problem) []string {
	out := []string{}
	for _, p := range problems {
		text := p.Field + ":" + p.Rule
		if p.Severity == Warning {
			text += " w"
		}
		out = append(out, text)
	}
	return out
}

func changed(kind Kind, base, set map[string]string) Draft {
	d := Draft{Sends: kind, Fields: map[string]DraftField{}}
	for _, texts := range []map[string]string{base, set} {
		for field, text := range texts {
			d.Fields[field] = DraftField{Text: text, Origin: Origin{Value: text}}
		}
	}
	return d
}

func TestTheRulesOfChapter22(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"contract_id": parentID, "delivered_volume": "27480", "delivered_volume_unit_of_measure": "kg",
		"delivery_date": "2026-05-10", "car": aCAR,
	}
	for i, c := range []struct {
		set    map[string]string
		checks Checks
		want   []string
		car    string
	}{
		{nil, Checks{}, nil, aCAR},
		{map[string]string{"contract_id": "any text of the ERP"}, Checks{}, nil, aCAR},
		{map[string]string{"contract_id": ""}, Checks{}, []string{"contract_id:required"}, aCAR},
		{
			map[string]string{"delivered_volume_unit_of_measure": "KG"},
			Checks{},
			[]string{"delivered_volume_unit_of_measure:one_of"},
			aCAR,
		},
		{map[string]string{"delivered_volume": "0"}, Checks{}, []string{"delivered_volume:positive"}, aCAR},
		{
			map[string]string{"delivered_volume": "-5"},
			Checks{Volume: Warning},
			[]string{"delivered_volume:positive w"},
			aCAR,
		},
		{map[string]string{"delivered_volume": "-5"}, Checks{Volume: Off}, nil, aCAR},
		{map[string]string{"car": ""}, Checks{}, nil, ""},
		{map[string]string{"car": "mt-5107925-b5c7.2dc4.ee60.caea.6336.7c29.a80b.21ea"}, Checks{}, nil, aCAR},
		{map[string]string{"car": "MT-5107925-B5C7"}, Checks{}, []string{"car:car"}, ""},
		{map[string]string{"car": "MT-5107925-B5C7"}, Checks{CAR: Shape}, nil, "MT-5107925-B5C7"},
		{map[string]string{"car": "MT5107925"}, Checks{CAR: Shape}, []string{"car:car"}, ""},
		{map[string]string{"car": "MT5107925"}, Checks{CAR: Warning}, []string{"car:car w"}, "MT5107925"},
		{map[string]string{"car": "mt 51.07"}, Checks{CAR: Off}, nil, "MT5107"},
		{map[string]string{"car": "XX" + aCAR[2:]}, Checks{}, []string{"car:car"}, ""},
		{map[string]string{"car": "RS" + aCAR[2:]}, Checks{}, []string{"car:car_place w"}, "RS" + aCAR[2:]},
		{map[string]string{"car": "RS" + aCAR[2:]}, Checks{CAR: Off}, nil, "RS" + aCAR[2:]},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			got, problems := Check(changed(Deliveries, base, c.set), c.checks, Date{2026, 7, 1})
			if diff := cmp.Diff(append([]string{}, c.want...), verdicts(problems)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", c.set, diff)
			}
			if !Refused(problems) && got["car"] != c.car {
				t.Errorf("%v leaves with the CAR %q, want %q", c.set, got["car"], c.car)
			}
		})
	}
}

func TestTheRulesOfChapter23(t *testing.T) {
	t.Parallel()
	base := map[string]string{"order_commitment_id": parentID, "producer_id": parentID, "user_id": parentID}
	for i, c := range []struct {
		set    map[string]string
		checks Checks
		want   []string
	}{
		{nil, Checks{}, nil},
		{
			map[string]string{"user_id": "", "producer_id": "17"},
			Checks{},
			[]string{"producer_id:uuid", "user_id:required"},
		},
		{
			map[string]string{"allocated_volume": "10"},
			Checks{},
			[]string{"unit_of_measurement:required_with_allocated_volume"},
		},
		{map[string]string{"allocated_volume": "10", "unit_of_measurement": "TON"}, Checks{}, nil},
		{
			map[string]string{"allocated_volume": "10", "unit_of_measurement": "ton"},
			Checks{},
			[]string{"unit_of_measurement:one_of"},
		},
		{
			map[string]string{"allocated_volume": "-1"},
			Checks{Volume: Off},
			[]string{"unit_of_measurement:required_with_allocated_volume"},
		},
		{map[string]string{"farm_id": "none"}, Checks{}, []string{"farm_id:uuid"}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			_, problems := Check(changed(Traceability, base, c.set), c.checks, Date{2026, 7, 1})
			if diff := cmp.Diff(append([]string{}, c.want...), verdicts(problems)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", c.set, diff)
			}
		})
	}
}
