package membership

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const ms = time.Millisecond

// script plays beats to the detector of "me". A line is who beats, and when.
type line struct {
	id string
	at int64
}

func playing(lines ...line) *detector {
	d := newDetector("me", 600*ms)
	for _, l := range lines {
		d.hear(beatOf(l.id, 200), l.at)
	}
	return d
}

func beatOf(id string, every int64) *beat { return &beat{Version: 1, ID: id, Name: id, Every: every} }

// every is who beats every 200 ms, from and until when.
func every(from, until int64, ids ...string) (all []line) {
	for at := from; at <= until; at += 200 {
		for i, id := range ids {
			all = append(all, line{id, at + int64(i)})
		}
	}
	return all
}

func TestSuspicion(t *testing.T) {
	for name, c := range map[string]struct {
		lines []line
		want  []string
	}{
		"a member that beats is not suspect":          {every(1000, 5000, "me", "a"), nil},
		"600 ms of silence are allowed":               {append(every(1000, 2000, "me", "a"), every(2200, 2601, "me")...), nil},
		"more are not":                                {append(every(1000, 2000, "me", "a"), every(2200, 2800, "me")...), []string{"a"}},
		"this node is never suspect":                  {append(every(1000, 2000, "me", "a"), every(2200, 9000, "a")...), nil},
		"nobody is before this node hears itself":     {append(every(1000, 2000, "a"), every(2200, 9000, "b")...), nil},
		"a silence of the log makes nobody late":      {append(every(1000, 2000, "me", "a"), every(62000, 62300, "me")...), nil},
		"nor does a clock that is set forward":        {append(every(1000, 2000, "me", "a"), every(3602000, 3602200, "me")...), nil},
		"a clock that is set back stops nothing":      {append(every(100000, 101000, "me", "a"), every(200, 1000, "me")...), []string{"a"}},
		"who says goodbye is not suspect, but gone":   {append(every(1000, 2000, "me", "a"), every(2200, 2400, "me")...), nil},
		"a stall that ends with others' beats counts": {append(every(1000, 2000, "me", "a", "b"), every(9000, 9600, "me", "b")...), []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := playing(c.lines...).suspects(); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestALongIntervalAllowsThreeOfIt(t *testing.T) {
	d := playing(every(1000, 2000, "me")...)
	d.hear(beatOf("slow", 1000), 2000)
	for at := int64(2200); at <= 5000; at += 200 {
		d.hear(beatOf("me", 200), at)
	}
	if got := d.suspects(); got != nil {
		t.Errorf("%q after 3 s of intervals of 1 s", got)
	}
	d.hear(beatOf("me", 200), 5200)
	if got := d.suspects(); !slices.Equal(got, []string{"slow"}) {
		t.Errorf("got %q", got)
	}
}

func TestAFarewellIsForgottenAtOnce(t *testing.T) {
	d := playing(every(1000, 2000, "me", "a")...)
	d.hear(&beat{Version: 1, ID: "a", Every: 200, Gone: true}, 2010)
	if got := d.others(); len(got) > 0 {
		t.Errorf("%v is there still", got[0])
	}
}

func TestWhoIsToBeRemoved(t *testing.T) {
	silent := func(n int) []string { return []string{"a", "b", "c", "d", "e"}[:n] }
	after := func(dead []string, alive ...string) *detector {
		ids := append([]string{"me"}, alive...)
		return playing(append(every(1000, 2000, append(ids, dead...)...), every(2200, 3000, ids...)...)...)
	}
	for name, c := range map[string]struct {
		d     *detector
		group []string
		stale bool
		want  []string
	}{
		"a suspect that is in the group":                {d: after(silent(1), "z"), group: []string{"me", "z", "a"}, want: silent(1)},
		"one that is not need not be":                   {d: after(silent(1), "z"), group: []string{"me", "z"}},
		"not by a node that has not heard itself":       {d: after(silent(1), "z"), group: []string{"me", "z", "a"}, stale: true},
		"two of three":                                  {d: after(silent(2)), group: []string{"me", "a", "b"}, want: silent(2)},
		"not three of four":                             {d: after(silent(3)), group: []string{"me", "a", "b", "c"}},
		"three of four, of which one is out already":    {d: after(silent(3)), group: []string{"me", "a", "b"}, want: silent(2)},
		"this node counts before it has joined":         {d: after(silent(2)), group: silent(2), want: silent(2)},
		"never this node":                               {d: after(nil), group: []string{"me"}},
		"not who was never heard, when first listed":    {d: playing(every(60000, 61000, "me")...), group: silent(5)},
		"nor are those trusted":                         {d: after(silent(1)), group: silent(5)},
		"those of a restart of all, in a good while":    {d: playing(append(every(1000, 2000, silent(3)...), every(2500, 5200, "me")...)...), group: silent(3), want: silent(3)},
		"not sooner":                                    {d: playing(append(every(1000, 2000, silent(3)...), every(2500, 4800, "me")...)...), group: silent(3)},
		"those of a restart of all, after a good while": {d: playing(append(every(1000, 2000, silent(3)...), every(5100, 6000, "me")...)...), group: silent(3), want: silent(3)},
		"not those of a stall that has just ended":      {d: playing(append(every(1000, 2000, silent(3)...), every(4000, 5000, "me")...)...), group: silent(3)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.d.condemned(c.group, !c.stale); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWhoWasNeverHeardIsAGhostSomeTimeAfterItIsListed(t *testing.T) {
	group := []string{"me", "dead", "young"}
	d := playing(every(60000, 70000, "me")...)
	judge := func(at int64, fresh bool, want ...string) {
		t.Helper()
		d.hear(beatOf("me", 200), at)
		if got := d.condemned(group, fresh); !slices.Equal(got, want) {
			t.Errorf("at %d: got %q, want %q", at, got, want)
		}
	}
	judge(70200, false) // which tells nothing
	judge(71000, true)
	d.hear(beatOf("young", 200), 71050) // it had joined before it could be read
	judge(71200, true)
	judge(71400, true)
	judge(71600, true)
	d.hear(beatOf("young", 200), 71650)
	judge(71800, true, "dead")
	group = group[:1] // it is out, and comes again
	judge(72000, true)
	group = group[:2]
	judge(72200, true)
	judge(72800, true)
}

func TestWhoWasNeverHeardHasThreeIntervalsOfALargeGroup(t *testing.T) {
	var group []string
	for i := range 100 {
		group = append(group, fmt.Sprint("n", i))
	}
	d := playing(every(60000, 61000, "me")...)
	d.condemned(group, true)
	for at := int64(61200); at <= 64000; at += 200 {
		d.hear(beatOf("me", 200), at)
	}
	if got := d.condemned(group, true); len(got) > 0 {
		t.Errorf("%d within three intervals of 1 s", len(got))
	}
	d.hear(beatOf("me", 200), 64200)
	if got := d.condemned(group, true); len(got) != 100 {
		t.Errorf("%d after them", len(got))
	}
}

func TestSuspectsThatHaveLeftTheGroupAreForgotten(t *testing.T) {
	d := playing(append(every(1000, 2000, "me", "a", "b"), every(2200, 3000, "me")...)...)
	if d.forget([]string{"me", "a"}); !slices.Equal(d.suspects(), []string{"a"}) {
		t.Errorf("got %q", d.suspects())
	}
}

func TestAnotherInstanceOfThisNodeLeavesTheFormerBehind(t *testing.T) {
	d := playing(every(1000, 2000, "me", "a")...)
	d.rename("me2")
	for at := int64(2200); at < 4000; at += 200 {
		d.hear(beatOf("me2", 200), at)
	}
	if got := d.suspects(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("got %q", got)
	}
}

// longhand is the detector as it is said: it goes over everything each time.
type longhand struct {
	heard []line
	every map[int]int64
}

func (l *longhand) suspects(after int64) (all []string) {
	clock := make([]int64, len(l.heard))
	last := make(map[string]int)
	own := false
	for i, h := range l.heard {
		if i > 0 {
			clock[i] = clock[i-1] + min(max(h.at-l.heard[i-1].at, 0), l.every[i])
		}
		last[h.id] = i
		own = own || h.id == "me"
	}
	for id, i := range last {
		if own && id != "me" && clock[len(clock)-1]-clock[i] > max(after, 3*l.every[i]) {
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

func TestTheDetectorDoesWhatItSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, l := newDetector("me", 600*ms), &longhand{every: make(map[int]int64)}
		at := rapid.Int64Range(1, 1e12).Draw(t, "start")
		for i := range rapid.IntRange(1, 60).Draw(t, "beats") {
			id := rapid.SampledFrom([]string{"me", "a", "b", "c"}).Draw(t, "id")
			every := rapid.SampledFrom([]int64{50, 200, 200, 1000}).Draw(t, "every")
			at = max(at+rapid.SampledFrom([]int64{0, 1, 60, 200, 201, 5000, -3000}).Draw(t, "later"), 1)
			l.heard, l.every[i] = append(l.heard, line{id, at}), every
			d.hear(beatOf(id, every), at)
			if got, want := d.suspects(), l.suspects(600); !slices.Equal(got, want) {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
	})
}

func FuzzDecodeBeat(f *testing.F) {
	f.Add((&beat{Version: 1, ID: "a-1", Name: "a", Every: 200, Methods: map[string][]string{"t": {"m"}}}).encode())
	f.Add([]byte(`{"v":7,"id":"b-2","every":-1,"tomorrow":true}`))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := decodeBeat(data)
		if err != nil {
			return
		}
		if again, err := decodeBeat(b.encode()); err != nil || again.ID != b.ID || fmt.Sprint(again) != fmt.Sprint(b) {
			t.Errorf("%q became %v, then %v, %v", data, b, again, err)
		}
		if e := b.interval(); e < shortest || e > longest {
			t.Errorf("an interval of %v", e)
		}
	})
}

func TestBeats(t *testing.T) {
	for name, data := range map[string]string{"no JSON": "x", "no id": `{"v":1}`, "no version": `{"id":"a"}`} {
		if _, err := decodeBeat([]byte(data)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if b, err := decodeBeat([]byte(`{"v":2,"id":"a","every":300,"more":1}`)); err != nil || b.interval() != 300*ms {
		t.Errorf("a beat of a newer program: %v, %v", b, err)
	}
	for n, want := range map[int]time.Duration{1: 200 * ms, 20: 200 * ms, 50: 500 * ms, 1e6: longest} {
		if got := pace(200*ms, n); got != want {
			t.Errorf("%d members beat every %v, want %v", n, got, want)
		}
	}
}
