package office

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/safrasync/safrasync/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m, func() error { return goleak.Find() }) }
