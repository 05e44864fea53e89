package otelmw

import "testing"

func TestATableHoldsNoMoreThanItsLimit(t *testing.T) {
	var all table[string, int]
	if v, ok := all.add("a", 1, func() int { return 7 }); v != 7 || !ok {
		t.Errorf("the first: got %d, %v", v, ok)
	}
	if _, ok := all.add("b", 1, func() int { return 8 }); ok {
		t.Error("a second one was taken")
	}
	if v, ok := all.add("a", 1, func() int { return 9 }); v != 7 || !ok {
		t.Errorf("the first is now %d, %v", v, ok)
	}
	if v, ok := all.add("b", 0, func() int { return 8 }); v != 8 || !ok {
		t.Errorf("without a limit: got %d, %v", v, ok)
	}
}

// Attributes are appended to the base by many at once, so it must have no room.
func TestTheBaseHasNoRoomForWhoAppends(t *testing.T) {
	if b := base("policy", "key", ""); len(b) != 2 || cap(b) != 2 {
		t.Errorf("it holds %d of %d", len(b), cap(b))
	}
}
