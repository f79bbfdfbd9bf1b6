package oracle

import "testing"

func TestTypesHaveTheNamesThatPeopleKnow(t *testing.T) {
	t.Parallel()
	for driver, want := range map[string]string{
		"NCHAR": "varchar2", "NUMBER": "number", "DATE": "date",
		"TimeStampDTY": "timestamp", "TimeStampTZ_DTY": "timestamp with time zone", "OCIClobLocator": "clob",
		"IBDouble": "binary_double", "RAW": "raw",
	} {
		if got := typeName(driver); got != want {
			t.Errorf("the driver's %s is %s, want %s", driver, got, want)
		}
	}
}
