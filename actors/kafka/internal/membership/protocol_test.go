package membership

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay/actors/journal"
)

// configured is a client that only knows its configuration, and counts how often
// it is to look for the coordinator anew.
type configured struct {
	sarama.Client
	refreshed *int
}

func (c configured) RefreshCoordinator(string) error {
	*c.refreshed++
	return nil
}

func (configured) Config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V4_0_0_0
	return c
}

func hosting(t *testing.T, owned []journal.Partition, generation int32, counts map[string]uint32) (*group, []byte) {
	t.Helper()
	methods := make(map[string][]string)
	for typ := range counts {
		methods[typ] = []string{"m"}
	}
	c := Config{App: "app", Member: journal.Member{Methods: methods}, Partitions: counts}.withDefaults()
	g := &group{config: &c, client: configured{}, owned: owned, generation: generation}
	req, err := g.joinRequest("instance")
	if err != nil {
		t.Fatal(err)
	}
	return g, req.OrderedGroupProtocols[0].Metadata
}

// The one that shares out may host none of the types that it shares out.
func TestTheSharesReachTheirMembers(t *testing.T) {
	leader, a := hosting(t, nil, 0, map[string]uint32{"u": 2})
	_, b := hosting(t, parts("t", 0, 1, 2, 3), 4, map[string]uint32{"t": 4})
	_, c := hosting(t, parts("t", 3), 2, map[string]uint32{"t": 4})
	req := new(sarama.SyncGroupRequest)
	join := &sarama.JoinGroupResponse{Members: []sarama.GroupMember{{MemberId: "a", Metadata: a}, {MemberId: "b", Metadata: b}, {MemberId: "c", Metadata: c}}}
	if err := leader.shareOut(join, req); err != nil {
		t.Fatal(err)
	}
	want := map[string][]journal.Partition{"a": parts("u", 0, 1), "b": parts("t", 0, 1), "c": parts("t", 2, 3)}
	for _, x := range req.GroupAssignments {
		a, err := (&sarama.SyncGroupResponse{MemberAssignment: x.Assignment}).GetMemberAssignment()
		if err != nil {
			t.Fatal(err)
		}
		if got := leader.partitions(a.Topics); !slices.Equal(got, want[x.MemberId]) {
			t.Errorf("%s gets %v, want %v", x.MemberId, got, want[x.MemberId])
		}
		delete(want, x.MemberId)
	}
	if len(want) > 0 {
		t.Errorf("nothing was said to %v", want)
	}
}

func TestTopicsOfOthersAreNoPartitions(t *testing.T) {
	g, _ := hosting(t, nil, 0, map[string]uint32{"t": 1})
	if got := g.partitions(map[string][]int32{"app.t": {1}, "other.t": {2}}); !slices.Equal(got, parts("t", 1)) {
		t.Errorf("got %v", got)
	}
}

// admin answers as the group's coordinator would.
type admin struct {
	sarama.ClusterAdmin
	describe sarama.GroupDescription
	leave    sarama.LeaveGroupResponse
	err      error
	broken   int // removals that fail
}

func (a *admin) DescribeConsumerGroups([]string) ([]*sarama.GroupDescription, error) {
	return []*sarama.GroupDescription{&a.describe}, a.err
}

func (a *admin) RemoveMemberFromConsumerGroup(string, []string) (*sarama.LeaveGroupResponse, error) {
	if a.broken--; a.broken >= 0 {
		return nil, syscall.EPIPE
	}
	return &a.leave, a.err
}

func TestARemovalIsWhatTheMembersErrorSays(t *testing.T) {
	id := func(s string) *string { return &s }
	a := &admin{leave: sarama.LeaveGroupResponse{Members: []sarama.MemberResponse{
		{GroupInstanceId: id("a")}, {GroupInstanceId: id("b"), Err: sarama.ErrUnknownMemberId}, {GroupInstanceId: id("c"), Err: sarama.ErrGroupAuthorizationFailed},
	}}}
	gone, err := (&registry{group: "g", admin: a}).remove("a", "b", "c")
	if !slices.Equal(gone, []string{"a"}) || err == nil {
		t.Errorf("%q are gone, %v", gone, err)
	}
	a.err = sarama.ErrOutOfBrokers
	if _, err = (&registry{group: "g", admin: a}).remove("a"); err == nil {
		t.Error("no error")
	}
}

func TestWhoLeavesAsksAgainWhereTheConnectionWasBroken(t *testing.T) {
	m := unconnected(new([]Kind))
	for broken, want := range []error{nil, nil, nil, nil, syscall.EPIPE} {
		m.registry = &registry{group: "g", admin: &admin{broken: broken}}
		if err := m.remove(t.Context()); !errors.Is(err, want) {
			t.Errorf("after %d that were broken: %v, want %v", broken, err, want)
		}
	}
}

func TestTheGroupIsListedByItsStaticMembers(t *testing.T) {
	id := "a"
	a := &admin{describe: sarama.GroupDescription{Members: map[string]*sarama.GroupMemberDescription{"1": {GroupInstanceId: &id}, "2": {}}}}
	refreshed := 0
	r := &registry{group: "g", client: configured{refreshed: &refreshed}, admin: a}
	if got, err := r.list(); err != nil || refreshed != 0 || !slices.Equal(got, []string{"a"}) {
		t.Errorf("%q, %v", got, err)
	}
	a.describe.Err = sarama.ErrNotCoordinatorForConsumer
	if _, err := r.list(); err == nil || refreshed != 1 {
		t.Errorf("%v, and the coordinator is looked for %d times", err, refreshed)
	}
	a.err = errors.New("connection reset")
	if _, err := r.list(); err == nil || refreshed != 2 {
		t.Errorf("%v, and the coordinator is looked for %d times", err, refreshed)
	}
}

func TestAConfigIsCheckedAsAWhole(t *testing.T) {
	_, err := Join(t.Context(), Config{SuspectAfter: 1, Session: 1})
	for _, path := range []string{"app", "member.methods", "suspect_after", "session", "heartbeat"} {
		if err == nil || !strings.Contains(err.Error(), "membership."+path+":") {
			t.Errorf("%s is not in %v", path, err)
		}
	}
}
