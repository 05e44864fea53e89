package actorstest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/backstay-go/backstay/actors/journal"
)

func fixedPartitions(r *rig) {
	for range 2 {
		n, err := r.Count(r.Context(), LogType)
		if err != nil || n < 2 {
			r.Fatalf("Count: %d, %v; want 2 or more", n, err)
		}
		beyond := journal.Partition{Type: LogType, Index: n}
		if a := r.await(r.post(beyond, "x")); !errors.Is(a.err, journal.ErrNoType) {
			r.Errorf("an append to partition %d of %d: %v, want ErrNoType", n, n, a.err)
		}
	}
}

func appendOrder(r *rig) {
	const n = 500
	var want []string
	var acked []<-chan ack
	for i := range n {
		want = append(want, fmt.Sprint("entry ", i))
		acked = append(acked, r.post(r.p, want[i]))
	}
	last := int64(-1)
	for i, c := range acked {
		a := r.await(c)
		if a.err != nil || a.Offset <= last {
			r.Fatalf("append %d: offset %d after %d, %v", i, a.Offset, last, a.err)
		}
		last = a.Offset
	}
	c := r.open(r.p, 0)
	defer c.Close()
	if got := texts(c.take(n)); !slices.Equal(got, want) {
		r.Errorf("read %v", got)
	}
	for i, ch := range acked {
		if len(ch) > 0 {
			r.Errorf("append %d was acknowledged twice", i)
		}
	}
}

func acknowledgedPlace(r *rig) {
	places := r.add(r.p, "a", "", strings.Repeat("long ", 10_000))
	c := r.open(r.p, places[0].Offset)
	defer c.Close()
	for i, e := range c.take(len(places)) {
		if e.Offset != places[i].Offset {
			r.Errorf("entry %d has offset %d, was acknowledged at %d", i, e.Offset, places[i].Offset)
		}
		if at := places[i].At; at != 0 && (e.At != at || time.Since(time.UnixMilli(at)).Abs() > time.Hour) {
			r.Errorf("entry %d has time %d, was acknowledged with %d", i, e.At, at)
		}
	}
}

func oneOrder(r *rig) {
	const appenders, each = 4, 100
	var wg sync.WaitGroup
	early := r.open(r.p, 0)
	defer early.Close()
	for a := range appenders {
		wg.Go(func() {
			for i := range each {
				r.Append(r.p, fmt.Appendf(nil, "%d %d", a, i), func(journal.Place, error) {})
			}
		})
	}
	seen := early.take(appenders * each)
	wg.Wait()
	late := r.open(r.p, 0)
	defer late.Close()
	if !slices.EqualFunc(seen, late.take(appenders*each), sameEntry) {
		r.Error("two readers saw different sequences")
	}
	next := make([]int, appenders)
	for _, text := range texts(seen) {
		var a, i int
		if _, err := fmt.Sscan(text, &a, &i); err != nil || i != next[a] {
			r.Fatalf("%q where number %d of that appender was due: %v", text, next[a], err)
		}
		next[a]++
	}
}

func sameEntry(a, b journal.Entry) bool { return a.Place == b.Place && bytes.Equal(a.Data, b.Data) }

func readFrom(r *rig) {
	places := r.add(r.p, "a", "b", "c")
	for i := range places {
		c := r.open(r.p, places[i].Offset)
		if got := c.take(1); got[0].Offset != places[i].Offset {
			r.Errorf("from %d: %d", places[i].Offset, got[0].Offset)
		}
		c.Close()
	}
	_, next, err := r.Bounds(r.Context(), r.p)
	if err != nil || next <= places[2].Offset {
		r.Fatalf("the log ends at %d, %v; want above %d", next, err, places[2].Offset)
	}
	end := r.open(r.p, next)
	defer end.Close()
	r.add(r.p, "d")
	if got := texts(end.take(1)); got[0] != "d" {
		r.Errorf("from the end: %q", got)
	}
}

func pollBytes(r *rig) {
	const size, n = 1000, 50
	for range n {
		r.add(r.p, strings.Repeat("x", size))
	}
	c := r.open(r.p, 0)
	defer c.Close()
	for got, began := 0, time.Now(); got < n; {
		entries, err := c.Poll(3 * size)
		if err != nil || len(entries) > 8 {
			r.Fatalf("%d entries of %d bytes where %d were asked for, %v", len(entries), size, 3*size, err)
		}
		got += len(entries)
		if time.Since(began) > patience {
			r.Fatalf("%d of %d entries came", got, n)
		}
		time.Sleep(time.Millisecond)
	}
	big := r.open(r.p, 0)
	defer big.Close()
	r.eventually("an entry larger than what was asked for comes", func() bool {
		entries, err := big.Poll(1)
		if err != nil {
			r.Fatal(err)
		}
		return len(entries) > 0
	})
}

func pollAndWake(r *rig) {
	c := r.open(r.p, 0)
	defer c.Close()
	if entries, err := c.Poll(1 << 20); err != nil || len(entries) > 0 {
		r.Fatalf("an empty log: %d entries, %v", len(entries), err)
	}
	for i := range 50 { // each time the reader has seen the end before
		r.add(r.p, fmt.Sprint(i))
		if got := texts(c.take(1)); got[0] != fmt.Sprint(i) {
			r.Fatalf("read %q, want %d", got, i)
		}
	}
}

func apartPartitions(r *rig) {
	other := journal.Partition{Type: OtherType, Index: 1}
	sibling := journal.Partition{Type: LogType, Index: 0}
	r.add(r.p, "mine")
	r.add(other, "other")
	r.add(sibling, "sibling")
	for p, want := range map[journal.Partition]string{r.p: "mine", other: "other", sibling: "sibling"} {
		c := r.open(p, 0)
		if got := texts(c.take(1)); got[0] != want {
			r.Errorf("%v has %q", p, got)
		}
		c.Close()
	}
}

func truncation(r *rig) {
	places := r.add(r.p, "a", "b", "c", "d")
	beyond := r.open(r.p, places[2].Offset)
	defer beyond.Close()
	if err := r.Truncate(r.Context(), r.p, places[2].Offset); err != nil {
		r.Fatal(err)
	}
	r.eventually("the log begins at the third entry", func() bool {
		first, next, err := r.Bounds(r.Context(), r.p)
		return err == nil && first == places[2].Offset && next > places[3].Offset
	})
	if err := r.pollError(places[0].Offset); !errors.Is(err, journal.ErrOutOfRange) {
		r.Errorf("reading what is gone: %v, want ErrOutOfRange", err)
	}
	if got := texts(beyond.take(2)); !slices.Equal(got, []string{"c", "d"}) {
		r.Errorf("what is left: %q", got)
	}
	if err := r.Truncate(r.Context(), r.p, places[0].Offset); err != nil {
		r.Errorf("truncating less: %v", err)
	}
	if first, _, err := r.Bounds(r.Context(), r.p); err != nil || first != places[2].Offset {
		r.Errorf("truncating less moved the beginning to %d, %v", first, err)
	}
}

// pollError opens a reader and returns its error.
func (r *rig) pollError(from int64) (err error) {
	reader, err := r.Read(r.p, from, func() {})
	if err != nil {
		return err
	}
	defer reader.Close()
	r.eventually("a reader of what is gone learns of it", func() bool {
		_, err = reader.Poll(1 << 20)
		return err != nil
	})
	return err
}

func truncationBeyond(r *rig) {
	places := r.add(r.p, "a", "b")
	if err := r.Truncate(r.Context(), r.p, places[1].Offset+1); err != nil {
		r.Fatal(err)
	}
	if again := r.add(r.p, "c"); again[0].Offset <= places[1].Offset {
		r.Fatalf("offset %d was used again", again[0].Offset)
	}
	c := r.open(r.p, places[1].Offset+1)
	defer c.Close()
	if got := texts(c.take(1)); got[0] != "c" {
		r.Errorf("read %q", got)
	}
}
