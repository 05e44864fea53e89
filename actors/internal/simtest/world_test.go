package simtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/backstay-go/backstay/actors/internal/record"
	"github.com/backstay-go/backstay/actors/internal/runtime"
	"github.com/backstay-go/backstay/actors/internal/simtest"
)

// world is a cluster that runs a random program.
type world struct {
	seed    uint64
	rng     *rand.Rand
	cluster *simtest.Cluster
	judge   *simtest.Judge
	fleet   *simtest.Fleet
	client  *runtime.Node
	config  runtime.Config
	setting runtime.Settings
	stored  bool     // cells are in a store, not in snapshots
	hosts   []string // of each process: its types, a letter each; of those without: p, q and s
	shop    *simtest.View

	mu     sync.Mutex
	faults []string
	most   int // the highest count that was answered
}

const (
	processes = 3
	span      = 3 * time.Second
	settling  = 8 * time.Minute
)

func newWorld(seed uint64, faults []simtest.Fault) *world {
	w := &world{seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), judge: simtest.NewJudge()} //nolint:gosec // to be repeatable
	w.cluster = simtest.New(simtest.Options{Seed: seed, Partitions: 1 + uint32(w.rng.IntN(3)), Faults: faults, Judge: w.judge, Credulous: seed%2 == 0})
	w.config = runtime.Config{
		DeadTopic: "dead", Window: []time.Duration{5 * time.Second, 5 * time.Minute}[w.rng.IntN(2)],
		Patience:        []time.Duration{2 * time.Second, 30 * time.Second}[w.rng.IntN(2)],
		SnapshotRecords: []int{1, 3, 7, 40, 10_000}[w.rng.IntN(5)], ChunkSize: []int{1, 60, 1000}[w.rng.IntN(3)],
		IdleBytes: []int64{1, 64 << 20}[w.rng.IntN(2)],
	}
	w.stored = w.rng.IntN(2) == 0
	w.setting = runtime.Settings{
		MaxAttempts: uint64(3 + w.rng.IntN(6)), BusyAfter: 2 * time.Second, StepTimeout: 20 * time.Second,
		IdleAfter:     []time.Duration{0, 30 * time.Millisecond}[w.rng.IntN(2)],
		CancelOrphans: w.rng.IntN(2) == 0, StrictBegin: w.rng.IntN(3) == 0,
		Backoff: func(n uint64) time.Duration { return time.Duration(n) * 20 * time.Millisecond },
	}
	w.fleet = simtest.NewFleet(w.cluster, w.start)
	w.shop = w.cluster.Log("shop", -1)
	return w
}

func (w *world) start(ctx context.Context, v *simtest.View) (simtest.Node, error) {
	c := w.config
	c.Name = v.Name()
	if w.stored {
		c.State = v.Store()
	}
	for _, name := range w.hosted(v) {
		if name == "s" {
			c.Types = append(c.Types, w.hearing())
			continue
		}
		c.Types = append(c.Types, runtime.Type{Name: name, Settings: w.setting, Methods: map[string]runtime.Method{
			"do": {Run: w.do}, "count": {Run: w.count}, "counted": {Run: w.counted}, "look": {Read: look},
		}})
	}
	return runtime.Open(ctx, v, c)
}

// hosted are the types of a process, which is named after its number.
func (w *world) hosted(v *simtest.View) []string {
	if process := int(v.Name()[0] - 'a'); process < len(w.hosts) {
		return strings.Split(w.hosts[process], "")
	}
	return []string{"p", "q", "s"}
}

func (w *world) fail(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// bad is what went wrong, the judge's first.
func (w *world) bad() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(w.judge.Faults(), w.faults...)
}

// run runs the whole program, and returns what went wrong.
func (w *world) run() {
	for p := range processes {
		if err := w.fleet.Launch(p); err != nil {
			w.fail("%v", err)
		}
	}
	var err error
	if w.client, err = runtime.Open(context.Background(), w.cluster.Log("client", -1), runtime.Config{Window: w.config.Window, DeadTopic: "dead"}); err != nil {
		w.fail("%v", err)
		return
	}
	roots := w.roots()
	time.Sleep(span - time.Second)
	w.cluster.Heal()
	w.settle("after the faults")
	roots.Wait()
	if len(w.bad()) == 0 {
		w.cluster.Echo(40)
		w.settle("after copies of everything")
		w.total()
		w.heard()
	}
	for _, err := range w.fleet.Stop() {
		w.fail("%v", err)
	}
	_ = w.client.Stop(context.Background()) // a client has nothing to hand over
	w.cluster.Close()
}

// settle waits until everything has ended.
func (w *world) settle(when string) {
	if left := w.cluster.Wait(settling); left != "" {
		w.fail("P4: %s this is left:\n%s", when, left)
	}
	time.Sleep(time.Minute) // reminders, also by an owner who must give up first, and the last Forwarded
	if late := w.judge.Overdue(time.Now().Add(-50 * time.Second).UnixMilli()); late != "" && len(w.judge.Faults()) == 0 {
		w.fail("P10: %s: %s", when, late)
	}
}

// total: what was counted is what was answered.
func (w *world) total() {
	want := 0
	for key, r := range w.judge.Answers() {
		if strings.HasPrefix(key, "count") && r.Failure == nil {
			want++
		}
	}
	if got, _ := strconv.Atoi(w.judge.Cell("p", "counter", "n")); got != want {
		w.fail("P5: %d were counted, and %d were answered so", got, want)
	}
}

// roots sends requests, as clients do: each until it is answered.
func (w *world) roots() *sync.WaitGroup {
	var wg sync.WaitGroup
	write := author{w.rng}
	for i := range 4 + w.rng.IntN(6) {
		at := time.Duration(w.rng.IntN(1500)) * time.Millisecond
		to, script := write.root()
		call := runtime.ClientCall{Target: address(to), Method: "do", Args: (&op{Script: script}).args(), Key: "root " + strconv.Itoa(i)}
		if w.rng.IntN(5) == 0 {
			call.TTL = int64(1 + w.rng.IntN(2000))
		}
		wg.Go(func() { w.ask(at, call) })
	}
	for n := range w.rng.IntN(30) {
		at := time.Duration(w.rng.IntN(1500)) * time.Millisecond
		wg.Go(func() {
			time.Sleep(at)
			w.order(n)
		})
	}
	for i := range 2 + w.rng.IntN(4) {
		at := time.Duration(w.rng.IntN(1500)) * time.Millisecond
		wg.Go(func() {
			w.ask(at, runtime.ClientCall{Target: address("p/counter"), Method: "count", Key: "count " + strconv.Itoa(i)})
			w.read()
		})
	}
	return &wg
}

// ask asks until it is answered, and compares the answer with the log's.
func (w *world) ask(at time.Duration, call runtime.ClientCall) {
	time.Sleep(at)
	call.Baggage = []byte(call.Key)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		if call.TTL == 0 {
			call.TTL = -1
		}
		r, err := w.client.Call(ctx, call)
		cancel()
		switch {
		case err == nil:
			w.answered(call.Key, r)
			return
		case !errors.Is(err, context.DeadlineExceeded):
			w.fail("%s: %v", call.Key, err)
			return
		case len(w.bad()) > 0:
			return
		}
	}
}

func (w *world) answered(key string, r record.Result) {
	want, ok := w.judge.Answers()[key]
	if !ok || (want.Failure == nil) != (r.Failure == nil) || !bytes.Equal(want.Value, r.Value) {
		w.fail("H21: %s was answered %q, in the log it is %q (%v)", key, r.Value, want.Value, ok)
	}
	if n, err := strconv.Atoi(string(r.Value)); err == nil && strings.HasPrefix(key, "count") {
		w.mu.Lock()
		w.most = max(w.most, n)
		w.mu.Unlock()
	}
}

// read: what is read is no older than what was answered (P12).
func (w *world) read() {
	w.mu.Lock()
	least := w.most
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := w.client.Read(ctx, runtime.ClientCall{Target: address("p/counter"), Method: "look", TTL: -1})
	if err != nil {
		return
	}
	if n, _ := strconv.Atoi(string(r.Value)); r.Failure == nil && n < least {
		w.fail("P12: read %d after %d was answered", n, least)
	}
}

func address(name string) record.Address {
	typ, id, _ := strings.Cut(name, "/")
	return record.Address{Type: typ, Actor: id}
}

func look(ctx context.Context, v *runtime.Reading) record.Result {
	b, _, _ := v.Cell(ctx, "n")
	return record.Result{Value: b}
}

// count is get, then a tail call to set.
func (w *world) count(ctx context.Context, a *runtime.Attempt) runtime.End {
	b, ok, err := a.Cell(ctx, "n")
	if err != nil {
		return again(err)
	}
	simtest.Saw(ctx, "n", b, ok)
	n, _ := strconv.Atoi(string(b))
	nap(ctx, 5*time.Millisecond)
	return runtime.End{Outcome: record.TailSelf, Tail: &record.Call{Method: "counted", Args: []byte(strconv.Itoa(n + 1))}}
}

func (w *world) counted(ctx context.Context, a *runtime.Attempt) runtime.End {
	nap(ctx, 5*time.Millisecond)
	if err := a.Set("n", a.Request().Args); err != nil {
		return again(err)
	}
	return runtime.End{Result: record.Result{Value: a.Request().Args}}
}

func again(err error) runtime.End { return runtime.End{Retry: &runtime.Retry{Reason: err.Error()}} }

func nap(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// play is a method that plays its script.
type play struct {
	*runtime.Attempt
	ctx     context.Context //nolint:containedctx // for as long as the method runs
	local   int
	pending []*runtime.Pending
}

func (w *world) do(ctx context.Context, a *runtime.Attempt) runtime.End {
	var script []op
	if err := json.Unmarshal(a.Request().Args, &script); err != nil {
		w.fail("a script does not decode: %v", err)
		return runtime.End{}
	}
	p := &play{Attempt: a, ctx: ctx}
	for i := range script {
		end, err := p.perform(&script[i])
		switch {
		case err != nil && ctx.Err() == nil:
			return runtime.End{Result: record.Result{Failure: &record.Failure{Code: "call", Message: err.Error()}}}
		case err != nil:
			return again(err)
		case end != nil:
			return *end
		}
	}
	return runtime.End{}
}

func (p *play) perform(o *op) (*runtime.End, error) {
	switch o.Do {
	case "get":
		b, ok, err := p.Cell(p.ctx, o.Cell)
		if err == nil {
			simtest.Saw(p.ctx, o.Cell, b, ok)
		}
		p.local, _ = strconv.Atoi(string(b))
		return nil, err
	case "assign": // what the link before has read
		p.local = o.Wait
		fallthrough
	case "set":
		simtest.Wrote(p.ctx, o.Cell)
		return nil, p.Set(o.Cell, []byte(strconv.Itoa(p.local+1)))
	case "call":
		if err := p.begin(o); err != nil {
			return nil, err
		}
		return nil, p.await(p.pending[len(p.pending)-1])
	case "go":
		return nil, p.begin(o)
	case "await", "await back", "await one":
		return nil, p.awaitAll(o.Do)
	case "await briefly":
		ctx, cancel := context.WithTimeout(p.ctx, 100*time.Millisecond)
		defer cancel()
		_ = p.awaitIn(ctx, p.pending[0]) // it is on record by then
		return nil, nil
	case "tell":
		return nil, p.tell(o)
	case "sleep":
		nap(p.ctx, time.Duration(o.Wait)*time.Millisecond+time.Microsecond)
		return nil, p.ctx.Err()
	case "ignore": // ctx, as a method must not
		time.Sleep(time.Duration(o.Wait) * time.Millisecond)
		return nil, nil
	case "note":
		return nil, p.note(o.Cell)
	case "remind":
		return nil, p.Remind(record.Reminder{Name: o.Cell, Next: p.Now() + int64(o.Wait), Method: "do", Args: o.args()})
	case "publish":
		return nil, p.Publish(record.Posted{Topic: "news", Key: "k", Value: []byte("v")})
	case "point":
		if !simtest.ViewOf(p.ctx).Point("body") {
			goruntime.Goexit()
		}
		return nil, nil
	case "leak":
		go func() {
			time.Sleep(time.Millisecond)
			_, _ = p.Go(record.Call{Target: address(o.To), Method: "do", Args: o.args()})
		}()
		return nil, nil
	}
	return p.finish(o), nil
}

// note adds a word to those that the actor has heard.
func (p *play) note(word string) error {
	heard, ok, err := p.Cell(p.ctx, "notes")
	if err != nil {
		return err
	}
	simtest.Saw(p.ctx, "notes", heard, ok)
	simtest.Wrote(p.ctx, "notes")
	return p.Set("notes", append(bytes.Clone(heard), word...))
}

func (p *play) finish(o *op) *runtime.End {
	switch o.Do {
	case "retry":
		if p.Number() == 1 {
			e := again(errors.New("on purpose"))
			return &e
		}
		return nil
	case "panic":
		if p.Number() == 1 {
			panic("on purpose")
		}
		return nil
	case "error":
		return &runtime.End{Result: record.Result{Failure: &record.Failure{Code: "error"}}}
	case "tail self":
		if len(o.Script) > 0 && o.Script[0].Do == "assign" {
			o.Script[0].Wait = p.local
		}
		return &runtime.End{Outcome: record.TailSelf, Tail: &record.Call{Method: "do", Args: o.args()}}
	case "tail release":
		return &runtime.End{Outcome: record.TailOther, Tail: &record.Call{Target: p.Request().Target, Method: "do", Args: o.args()}}
	case "tail to":
		return &runtime.End{Outcome: record.TailOther, Tail: &record.Call{Target: address(o.To), Method: "do", Args: o.args()}}
	default:
		return &runtime.End{Result: record.Result{Value: []byte("done")}}
	}
}

func (p *play) begin(o *op) error {
	pending, err := p.Go(record.Call{Target: address(o.To), Method: "do", Args: o.args(), TTL: int64(o.TTL)})
	if err == nil {
		p.pending = append(p.pending, pending)
	}
	return err
}

func (p *play) await(pending *runtime.Pending) error { return p.awaitIn(p.ctx, pending) }

func (p *play) awaitIn(ctx context.Context, pending *runtime.Pending) error {
	goesOn := simtest.Parked(p.ctx)
	_, err := pending.Await(ctx)
	goesOn(err)
	return err
}

func (p *play) awaitAll(how string) error {
	for len(p.pending) > 0 {
		i := 0
		if how == "await back" {
			i = len(p.pending) - 1
		}
		next := p.pending[i]
		p.pending = append(p.pending[:i:i], p.pending[i+1:]...)
		if err := p.await(next); err != nil || how == "await one" {
			return err
		}
	}
	return nil
}

func (p *play) tell(o *op) error {
	c := record.Call{Target: address(o.To), Method: "do", Args: o.args(), TTL: int64(o.TTL)}
	if o.Wait > 0 {
		c.NotBefore = p.Now() + int64(o.Wait)
	}
	return p.Tell(c)
}

// try runs the program of a seed with these faults.
func try(t *testing.T, seed uint64, faults []simtest.Fault) (bad []string, w *world) {
	synctest.Test(t, func(*testing.T) {
		w = newWorld(seed, faults)
		w.run()
		bad = w.bad()
	})
	return bad, w
}
