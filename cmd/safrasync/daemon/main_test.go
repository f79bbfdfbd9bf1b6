package daemon

import (
	"testing"

	"github.com/safrasync/safrasync/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
