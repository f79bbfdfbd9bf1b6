package sqlite_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/erp/erptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestF005_F006_SQLitePassesTheBattery(t *testing.T) {
	erptest.Battery(t, erptest.Engine{
		Name: "sqlite", Start: erptest.SQLite, Timestamp: "TIMESTAMP", Float: "REAL", Folded: strings.Clone,
		Numbers: erptest.Recursive,
	})
}
