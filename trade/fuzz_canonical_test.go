package trade

import "testing"

// FuzzCanonical: the canonical form of a text is canonical itself, whatever a field's type; an id
// and a CAR that can be parsed have the form that is required.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		"{1B98FBE4-6680-4A11-9BA1-192EC42B7170}", " 1b98fbe4-6680-4a11-9ba1-192ec42b7170 ",
		"pr-4109401-C4B2.DF9C.0A71.4F3E.9D2B.6E5A.8B1C.7F40", "ǅ ß İ", "\xff", "{}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, kind := range []FieldType{Number, UUID, Enum, Day, Harvest, Text, CAR} {
			rule := FieldRule{Field: "x", Type: kind}
			once := rule.Canonical(s)
			if twice := rule.Canonical(once); twice != once {
				t.Errorf("%s: %q becomes %q, and that %q", kind, s, once, twice)
			}
		}
		if id, err := ParseID(s); err == nil {
			if again, err := ParseID(id); len(id) != 36 || err != nil || again != id {
				t.Errorf("%q is the id %q, which reads back as %q, %v", s, id, again, err)
			}
		}
		if car, err := ParseCAR(s); err == nil && (len(car) != 43 || !carShape.MatchString(car)) {
			t.Errorf("%q is the CAR %q", s, car)
		}
	})
}
