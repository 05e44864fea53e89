package arch_test

import (
	"os"
	"testing"

	"github.com/backstay-go/backstay/internal/arch"
)

func TestTheModuleKeepsItsLayers(t *testing.T) {
	faults, err := arch.Check(os.DirFS("../.."), arch.Layers)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}
