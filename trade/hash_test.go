package trade_test

import (
	"testing"

	"github.com/safrasync/safrasync/trade"
)

func TestAHashIsStoredAsItsBytes(t *testing.T) {
	h := trade.HashOf("a")
	if h != "ca978112ca1bbdcafac231b39a23dc4d" {
		t.Errorf("HashOf = %q", h)
	}
	stored, err := h.Value()
	bytes, ok := stored.([]byte)
	if err != nil || !ok || len(bytes) != 16 {
		t.Errorf("Value = %v, %v", stored, err)
	}
	var read trade.Hash
	if err := read.Scan(bytes); err != nil || read != h {
		t.Errorf("Scan = %q, %v", read, err)
	}
	if err := read.Scan("text"); err == nil {
		t.Error("a text is taken for the bytes of a hash")
	}
	if _, err := trade.Hash("no hash").Value(); err == nil {
		t.Error("what is not hexadecimal is stored")
	}
}
