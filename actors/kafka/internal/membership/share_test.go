package membership

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/backstay-go/backstay/actors/journal"
)

func parts(t string, indices ...uint32) (all []journal.Partition) {
	for _, i := range indices {
		all = append(all, journal.Partition{Type: t, Index: i})
	}
	return all
}

func TestShare(t *testing.T) {
	four, one := map[string]uint32{"t": 4}, map[string]uint32{"a": 1, "b": 1, "c": 1, "d": 1}
	for name, c := range map[string]struct {
		members []subscriber
		want    map[string]string
	}{
		"one has all":                         {[]subscriber{{id: "x", counts: four}}, map[string]string{"x": "[t/0 t/1 t/2 t/3]"}},
		"two have half":                       {[]subscriber{{id: "x", counts: four}, {id: "y", counts: four}}, map[string]string{"x": "[t/0 t/1]", "y": "[t/2 t/3]"}},
		"who has some keeps them":             {[]subscriber{{id: "x", counts: four, owned: parts("t", 1, 3)}, {id: "y", counts: four}}, map[string]string{"x": "[t/1 t/3]", "y": "[t/0 t/2]"}},
		"a type goes to its hosts only":       {[]subscriber{{id: "x", counts: four}, {id: "y", counts: map[string]uint32{"u": 2}}}, map[string]string{"x": "[t/0 t/1 t/2 t/3]", "y": "[u/0 u/1]"}},
		"the newer owner is believed":         {[]subscriber{{id: "x", counts: four, owned: parts("t", 0, 1), generation: 3}, {id: "y", counts: four, owned: parts("t", 0, 2), generation: 4}}, map[string]string{"x": "[t/1 t/3]", "y": "[t/0 t/2]"}},
		"small types are spread":              {[]subscriber{{id: "x", counts: one}, {id: "y", counts: one}}, map[string]string{"x": "[a/0 c/0]", "y": "[b/0 d/0]"}},
		"and move to who comes":               {[]subscriber{{id: "x", counts: one, owned: append(parts("a", 0), append(parts("b", 0), append(parts("c", 0), parts("d", 0)...)...)...)}, {id: "y", counts: one}}, map[string]string{"x": "[c/0 d/0]", "y": "[a/0 b/0]"}},
		"what nobody can have is passed over": {[]subscriber{{id: "x", counts: four, owned: parts("v", 9)}, {id: "y"}}, map[string]string{"x": "[t/0 t/1 t/2 t/3]"}},
		"more hosts than partitions":          {[]subscriber{{id: "x", counts: map[string]uint32{"t": 1}}, {id: "y", counts: map[string]uint32{"t": 1}, owned: parts("t", 0)}}, map[string]string{"y": "[t/0]"}},
		"nobody":                              {nil, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(map[string]string)
			for id, all := range share(c.members) {
				got[id] = fmt.Sprint(all)
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// group draws members with types of their own, and something that they may own.
func drawMembers(t *rapid.T) []subscriber {
	counts := map[string]uint32{"t": 16, "u": 5, "v": 1, "w": 1}
	var all []subscriber
	for i := range rapid.IntRange(1, 6).Draw(t, "members") {
		m := subscriber{id: string(rune('a' + i)), counts: make(map[string]uint32), generation: rapid.Int32Range(0, 2).Draw(t, "generation")}
		for _, typ := range []string{"t", "u", "v", "w"} {
			if rapid.IntRange(0, 3).Draw(t, "hosts") == 0 {
				continue
			}
			m.counts[typ] = counts[typ]
			for p := range counts[typ] {
				if rapid.IntRange(0, 3).Draw(t, "owns") == 0 {
					m.owned = append(m.owned, journal.Partition{Type: typ, Index: p})
				}
			}
		}
		all = append(all, m)
	}
	return all
}

func TestSharesAreWholeFairAndStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := drawMembers(t)
		got := share(members)
		whole(t, members, got)
		fair(t, members, got)
		shuffled := rapid.Permutation(members).Draw(t, "order")
		if again := share(shuffled); !reflect.DeepEqual(got, again) {
			t.Fatalf("another order of the members gives %v, not %v", again, got)
		}
		for i := range members {
			members[i].owned, members[i].generation = got[members[i].id], 7
		}
		if again := share(members); !reflect.DeepEqual(got, again) {
			t.Fatalf("sharing out again gives %v, not %v", again, got)
		}
	})
}

// whole checks that each partition of each hosted type has one owner, a host.
func whole(t *rapid.T, members []subscriber, got map[string][]journal.Partition) {
	owners := make(map[journal.Partition]int)
	want := make(map[journal.Partition]int)
	for _, m := range members {
		for _, p := range got[m.id] {
			if owners[p]++; p.Index >= m.counts[p.Type] {
				t.Fatalf("%s got %v, whose type it does not host", m.id, p)
			}
		}
		for typ, n := range m.counts {
			for i := range n {
				want[journal.Partition{Type: typ, Index: i}] = 1
			}
		}
	}
	if !maps.Equal(owners, want) {
		t.Fatalf("owners %v, want one of each of %v", owners, want)
	}
}

// fair checks that the shares of a type differ by one at most, and that no
// single move between two hosts of a type would make the sums more equal.
func fair(t *rapid.T, members []subscriber, got map[string][]journal.Partition) {
	of := func(m subscriber, typ string) (n int) {
		for _, p := range got[m.id] {
			if p.Type == typ {
				n++
			}
		}
		return n
	}
	for _, a := range members {
		for _, b := range members {
			for typ := range a.counts {
				if b.counts[typ] == 0 {
					continue
				}
				x, y := of(a, typ), of(b, typ)
				if x > y+1 || x > y && len(got[a.id]) > len(got[b.id])+1 {
					t.Fatalf("%s has %d of %s and %d in all, %s has %d and %d", a.id, x, typ, len(got[a.id]), b.id, y, len(got[b.id]))
				}
			}
		}
	}
}

func TestNothingMovesBetweenThoseWhoStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "members")
		counts := map[string]uint32{"t": rapid.Uint32Range(1, 40).Draw(t, "partitions")}
		var members []subscriber
		for i := range n {
			members = append(members, subscriber{id: string(rune('a' + i)), counts: counts})
		}
		before := share(members)
		for i := range members {
			members[i].owned = before[members[i].id]
		}
		gone := rapid.IntRange(0, n).Draw(t, "gone") // n: one comes instead
		if gone < n {
			members = slices.Delete(members, gone, gone+1)
		} else {
			members = append(members, subscriber{id: "z", counts: counts})
		}
		after := share(members)
		for _, m := range members {
			for _, p := range after[m.id] {
				if m.id != "z" && !slices.Contains(m.owned, p) && slices.ContainsFunc(members, func(o subscriber) bool { return slices.Contains(o.owned, p) }) {
					t.Fatalf("%v moved to %s from one who stays", p, m.id)
				}
			}
		}
	})
}
