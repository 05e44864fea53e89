package kafka_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka"
	"github.com/backstay-go/backstay/e2e/brokers"
)

// The environment of a process of its own.
const (
	memberOf = "BACKSTAY_E2E_MEMBER_OF" // addresses, application
	hostOf   = "BACKSTAY_E2E_HOST_OF"
	callerOf = "BACKSTAY_E2E_CALLER_OF"
	crierOf  = "BACKSTAY_E2E_CRIER_OF"

	directAt = "BACKSTAY_E2E_DIRECT_AT" // where to listen, where clients connect
)

const shared = 12 // partitions

// fleet is an application whose members are processes of their own, which can
// be killed and stopped.
type fleet struct {
	testing.TB
	addrs []string
	app   string
	size  int
}

func newFleet(tb testing.TB, addrs []string, app string) *fleet {
	tb.Helper()
	f := &fleet{TB: tb, addrs: addrs, app: app}
	if err := kafka.Setup(tb.Context(), f.config(), "account"); err != nil {
		tb.Fatal(err)
	}
	return f
}

func (f *fleet) config() kafka.Config {
	c := config(f.addrs, f.app)
	c.Partitions, c.ExactlyOnce = shared, []string{criersTopic}
	return c
}

// member is one of the processes, and what it says it is assigned.
type member struct {
	*fleet
	name  string
	cmd   *exec.Cmd
	ended chan struct{}

	mu       sync.Mutex
	assigned []string
	changes  int
	since    time.Time
	owned    []takeover
}

// takeover is one that a host tells of.
type takeover struct {
	at   time.Time // when it was over
	took time.Duration
}

// start starts a process that does what the environment says.
func (f *fleet) start(what string) *member {
	f.Helper()
	f.size++
	m := &member{fleet: f, name: "member-" + strconv.Itoa(f.size), ended: make(chan struct{})}
	m.cmd = exec.Command(os.Args[0], "-test.run=^TestAProcessOfTheFleet$") //nolint:gosec // ourselves
	m.cmd.Env = append(os.Environ(), what+"="+strings.Join(append(f.addrs, f.app, m.name), " "))
	m.cmd.Stderr = os.Stderr
	out, err := m.cmd.StdoutPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	go func() {
		defer close(m.ended)
		m.listen(out)
		_ = m.cmd.Wait()
	}()
	f.Cleanup(func() { m.kill(); <-m.ended })
	return m
}

func (f *fleet) join() *member { f.Helper(); return f.start(memberOf) }

// listen takes in what a process tells: a word, a time, and more.
func (m *member) listen(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) < 2 {
			continue
		}
		ns, _ := strconv.ParseInt(words[1], 10, 64)
		at := time.Unix(0, ns)
		m.mu.Lock()
		switch words[0] {
		case "assigned":
			m.assigned, m.since = words[2:], at
			m.changes++
		case "owned":
			took, _ := time.ParseDuration(words[2])
			m.owned = append(m.owned, takeover{at, took})
		}
		m.mu.Unlock()
	}
}

func (m *member) kill()                   { _ = m.cmd.Process.Kill() }
func (m *member) signal(s syscall.Signal) { _ = m.cmd.Process.Signal(s) }

// changed is how often what is assigned to a member has changed.
func (m *member) changed() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

func (m *member) ownedSince(start time.Time) []takeover {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.owned, func(x takeover) bool { return x.at.After(start) })
	if i < 0 {
		return nil
	}
	return slices.Clone(m.owned[i:])
}

// owning waits until each of the hosts has taken something over.
func (f *fleet) owning(hosts ...*member) {
	f.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if !slices.ContainsFunc(hosts, func(m *member) bool { return len(m.ownedSince(time.Time{})) == 0 }) {
			return
		}
		if time.Now().After(deadline) {
			f.Fatal("a host owns nothing")
		}
	}
}

// settled waits until the members have all partitions in equal shares, and
// returns when the last of them knew.
func (f *fleet) settled(members ...*member) (at time.Time) {
	f.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		var all []string
		least, most := shared, 0
		at = time.Time{}
		for _, m := range members {
			m.mu.Lock()
			all = append(all, m.assigned...)
			least, most = min(least, len(m.assigned)), max(most, len(m.assigned))
			if m.since.After(at) {
				at = m.since
			}
			m.mu.Unlock()
		}
		slices.Sort(all)
		if len(all) == shared && len(slices.Compact(all)) == shared && most-least <= 1 {
			return at
		}
		if time.Now().After(deadline) {
			f.Fatalf("the shares are not whole or not equal: %q", all)
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAProcessOfTheFleet runs only below the tests that start it.
func TestAProcessOfTheFleet(t *testing.T) {
	for what, be := range map[string]func(ctx context.Context, log journal.Log, name string) error{memberOf: beMember, hostOf: beHost, callerOf: beCaller, crierOf: beCrier} {
		if words := strings.Fields(os.Getenv(what)); len(words) > 2 {
			beOneOf(t, words, be)
		}
	}
}

func beOneOf(t *testing.T, words []string, be func(ctx context.Context, log journal.Log, name string) error) {
	last := len(words) - 1
	c := config(words[:last-1], words[last-1])
	c.Partitions, c.ExactlyOnce, c.Direct = shared, []string{criersTopic}, directOf(os.Getenv(directAt))
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	defer stop()
	log, err := kafka.Open(ctx, c)
	if err == nil {
		err = be(ctx, log, words[last])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, words[last], err)
	}
}

// beMember joins, says what it is assigned, and leaves when it is asked to.
func beMember(ctx context.Context, log journal.Log, name string) error {
	m, err := log.Join(ctx, journal.Member{Name: name, Methods: map[string][]string{"account": {"open"}}})
	if err != nil {
		return err
	}
	for {
		all, changed := m.Assigned()
		fmt.Println("assigned", time.Now().UnixNano(), strings.Trim(fmt.Sprint(all), "[]"))
		select {
		case <-changed:
		case <-ctx.Done():
			return m.Leave(context.WithoutCancel(ctx))
		}
	}
}

// beHost hosts the bank, and tells of takeovers.
func beHost(ctx context.Context, log journal.Log, name string) error {
	tell := backstay.ObserverFunc(func(_ context.Context, e backstay.Event) {
		if e.Kind == backstay.PartitionOwned {
			fmt.Println("owned", time.Now().UnixNano(), e.Elapsed)
		}
	})
	n, err := actors.Open(ctx, actors.Config{Name: name, Observer: tell}, log, hostBank())
	if err != nil {
		return err
	}
	<-ctx.Done()
	return n.Stop(context.WithoutCancel(ctx))
}

// onBoth runs a test on kfake and on Kafka.
func onBoth(t *testing.T, app string, test func(f *fleet)) {
	t.Run("kfake", func(t *testing.T) { test(newFleet(t, brokers.StartFake(t), app)) })
	t.Run("Kafka", func(t *testing.T) { test(newFleet(t, brokers.Shared(t), app)) })
}

// soon is how long the partitions of a dead process may take to be somebody
// else's: a suspicion, and a rebalance, on a machine that has other things to do.
const soon = 3 * time.Second

func TestPartitionsFollowTheMembers(t *testing.T) {
	onBoth(t, "follow", func(f *fleet) {
		a := f.join()
		f.settled(a)
		b := f.join()
		f.settled(a, b)
		c := f.join()
		f.settled(a, b, c)

		start := time.Now()
		b.signal(syscall.SIGTERM)
		f.Logf("a member left: others have its partitions after %v", f.settled(a, c).Sub(start))

		before := a.changed()
		start = time.Now()
		c.kill()
		took := f.settled(a).Sub(start)
		f.Logf("a member was killed: others have its partitions after %v", took)
		if took > soon {
			f.Errorf("that is too long")
		}
		if a.changed() != before+1 {
			f.Errorf("the survivor was interrupted: its share changed %d times", a.changed()-before)
		}
	})
}

func TestAMemberThatIsStoppedIsRemovedAndComesBack(t *testing.T) {
	onBoth(t, "stopped", func(f *fleet) {
		a, b := f.join(), f.join()
		f.settled(a, b)
		start := time.Now()
		b.signal(syscall.SIGSTOP)
		took := f.settled(a).Sub(start)
		f.Logf("a member was stopped: the other has its partitions after %v", took)
		if took > soon {
			f.Error("that is too long")
		}
		before, start := b.changed(), time.Now()
		b.signal(syscall.SIGCONT)
		f.Logf("it went on: it has its share after %v", f.settled(a, b).Sub(start))
		if b.changed() < before+2 {
			f.Error("it has not noticed that it had been removed")
		}
	})
}

// Acceptance case A84.
func TestA84_WhoeverIsLeftOrComesFindsTheDead(t *testing.T) {
	onBoth(t, "dead", func(f *fleet) {
		a, b, c := f.join(), f.join(), f.join()
		f.settled(a, b, c)
		start := time.Now()
		b.kill()
		c.kill()
		took := f.settled(a).Sub(start)
		f.Logf("two of three were killed: the third has all after %v", took)
		if took > soon {
			f.Error("that is too long")
		}
		b, c = f.join(), f.join()
		f.settled(a, b, c)
		for _, m := range []*member{a, b, c} {
			m.kill()
		}
		start = time.Now()
		took = f.settled(f.join()).Sub(start)
		f.Logf("all were killed: one that starts has all after %v", took)
		if took > 6*time.Second { // of silence 3 s, and less than the session
			f.Error("that is too long")
		}
	})
}

func TestAStallOfTheBrokerRemovesNobody(t *testing.T) {
	cluster := brokers.Start(t, brokers.WithRebalanceDelay(0))
	f := newFleet(t, cluster.Addrs(), "stall")
	members := []*member{f.join(), f.join(), f.join()}
	f.settled(members...)
	var before []int
	for _, m := range members {
		before = append(before, m.changed())
	}
	for _, stall := range []time.Duration{700 * time.Millisecond, 2 * time.Second, 4 * time.Second} {
		cluster.Pause(0)
		time.Sleep(stall)
		cluster.Resume(0)
		time.Sleep(2 * time.Second)
	}
	for i, m := range members {
		if n := m.changed() - before[i]; n > 0 {
			t.Errorf("what is assigned to %s changed %d times", m.name, n)
		}
	}
}

func TestAMereClientChangesNothing(t *testing.T) {
	f := newFleet(t, brokers.StartFake(t), "clients")
	log, err := kafka.Open(t.Context(), f.config())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	m, err := log.Join(t.Context(), journal.Member{Name: "host", Methods: map[string][]string{"account": {"open"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, changed := m.Assigned()
	start(t, f.config(), "client")
	select {
	case <-changed:
		t.Error("what is assigned has changed")
	case <-time.After(time.Second):
	}
	if known := m.Members(); len(known) != 1 || known[0].Name != "host" {
		t.Errorf("members %v", known)
	}
	if err := m.Leave(t.Context()); err != nil {
		t.Error(err)
	}
}

// From the kill of one of three processes to the first answers of those actors
// that it had: detection, reassignment and takeover together.
func TestActorsOfAKilledProcessAnswerSoonAgain(t *testing.T) {
	const rounds = 5
	f := newFleet(t, brokers.Shared(t), "takeover")
	hosts := []*member{f.start(hostOf), f.start(hostOf), f.start(hostOf)}
	ctx := start(t, f.config(), "client").Context(t.Context())
	var gaps, assigned, taken []time.Duration
	for range rounds {
		f.owning(hosts...)
		c := callAll(ctx, t)
		time.Sleep(2 * time.Second) // everything is warm
		killed := time.Now()
		hosts[0].kill()
		hosts = append(hosts[1:], nil)
		time.Sleep(soon + time.Second)
		gaps = append(gaps, c.end(killed))
		for _, h := range hosts[:2] {
			for _, x := range h.ownedSince(killed) {
				assigned, taken = append(assigned, x.at.Add(-x.took).Sub(killed)), append(taken, x.took)
			}
		}
		hosts[2] = f.start(hostOf)
	}
	slices.Sort(gaps)
	slices.Sort(assigned)
	slices.Sort(taken)
	t.Logf("from SIGKILL to the answer of the last actor: median %v, all %v", gaps[rounds/2], gaps)
	t.Logf("until a partition is assigned to another: median %v, worst %v", assigned[len(assigned)/2], assigned[len(assigned)-1])
	t.Logf("until that one owns it: median %v, worst %v more", taken[len(taken)/2], taken[len(taken)-1])
	if worst := gaps[rounds-1]; worst > 2*soon || gaps[0] < 200*time.Millisecond {
		t.Errorf("not within %v, or nobody was killed", 2*soon)
	}
}

// callers call actors without end, one each.
type callers struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
	mu     sync.Mutex
	ended  map[int][]time.Time
}

func callAll(ctx context.Context, tb testing.TB) *callers {
	c := &callers{ended: make(map[int][]time.Time)}
	ctx, c.cancel = context.WithCancel(ctx)
	for i := range 2 * shared {
		c.group.Go(func() {
			for ctx.Err() == nil {
				_, err := deposit.Call(ctx, bankAccount.Ref(strconv.Itoa(i)), 1)
				if err != nil && ctx.Err() == nil {
					tb.Error(err)
					return
				}
				c.mu.Lock()
				c.ended[i] = append(c.ended[i], time.Now())
				c.mu.Unlock()
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	return c
}

// end returns how long after a time the last of the actors answered first.
func (c *callers) end(after time.Time) (longest time.Duration) {
	c.cancel()
	c.group.Wait()
	for _, ended := range c.ended {
		i := slices.IndexFunc(ended, after.Before)
		if i < 0 {
			return time.Hour
		}
		longest = max(longest, ended[i].Sub(after))
	}
	return longest
}
