package membership

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/backstay-go/backstay"
	"github.com/backstay-go/backstay/actors/journal"
	"github.com/backstay-go/backstay/actors/kafka/internal/client"
)

// protocol is the name of the way of sharing out in [share]. Members that share
// out in another way must use another name.
const protocol = "backstay"

// join waits until the group has shared its partitions out anew.
func (g *group) join(ctx context.Context) error {
	asked, instance := backstay.Now(), g.on.instance()
	req, err := g.joinRequest(instance)
	if err != nil {
		return err
	}
	res, err := request(ctx, g, req, (*sarama.Broker).JoinGroup)
	if err != nil {
		return err
	}
	if res.Err == sarama.ErrMemberIdRequired { // brokers ask it of members that are not static
		g.member = res.MemberId
	}
	if res.Err != sarama.ErrNoError {
		return res.Err
	}
	g.member, g.generation = res.MemberId, res.GenerationId
	return g.sync(ctx, res, instance, asked)
}

func (g *group) joinRequest(instance string) (*sarama.JoinGroupRequest, error) {
	req := sarama.NewJoinGroupRequest(g.client.Config().Version)
	req.GroupId, req.MemberId, req.GroupInstanceId = g.config.group(), g.member, &instance
	req.ProtocolType = "consumer" // so that tools know what is in it
	req.SessionTimeout = int32(g.config.Session.Milliseconds())
	req.RebalanceTimeout = req.SessionTimeout
	err := req.AddGroupProtocolMetadata(protocol, g.subscription())
	return req, err
}

// sync hands the shares over, if this member is the one to share out, and gets
// its own.
func (g *group) sync(ctx context.Context, join *sarama.JoinGroupResponse, instance string, asked backstay.Instant) error {
	req := &sarama.SyncGroupRequest{
		Version: 3, GroupId: g.config.group(), GenerationId: join.GenerationId, MemberId: join.MemberId, GroupInstanceId: &instance,
	}
	if join.LeaderId == join.MemberId {
		if err := g.shareOut(join, req); err != nil {
			return err
		}
	}
	res, err := request(ctx, g, req, (*sarama.Broker).SyncGroup)
	if err != nil {
		return err
	}
	if res.Err != sarama.ErrNoError {
		return res.Err
	}
	assignment, err := res.GetMemberAssignment()
	if err != nil {
		return err
	}
	g.owned, g.joined = g.partitions(assignment.Topics), true
	g.on.granted(slices.Clone(g.owned), asked)
	return nil
}

// heartbeat asks whether all is as it was.
func (g *group) heartbeat(ctx context.Context) error {
	asked, instance := backstay.Now(), g.on.instance()
	res, err := request(ctx, g, &sarama.HeartbeatRequest{
		Version: 3, GroupId: g.config.group(), GenerationId: g.generation, MemberId: g.member, GroupInstanceId: &instance,
	}, (*sarama.Broker).Heartbeat)
	if err != nil {
		return err
	}
	if res.Err == sarama.ErrNoError || res.Err == sarama.ErrRebalanceInProgress {
		g.on.confirmed(asked)
	}
	if res.Err != sarama.ErrNoError {
		return res.Err
	}
	return nil
}

// request asks the coordinator. A connection that fails is given up.
func request[Q, R any](ctx context.Context, g *group, q Q, do func(*sarama.Broker, Q) (R, error)) (R, error) {
	return client.Within(ctx, func() (r R, err error) {
		coordinator, err := g.client.Coordinator(g.config.group())
		if err != nil {
			return r, err
		}
		if r, err = do(coordinator, q); err != nil {
			_ = coordinator.Close()
		}
		return r, err
	})
}

// hosted is what a member tells the one that shares out, beside its topics: that
// one may know none of these types.
type hosted struct {
	Partitions map[string]uint32 `json:"partitions"`
}

// subscription is what this member wants and has. The topics are those of the
// logs, so that the tools for consumer groups show who owns what.
func (g *group) subscription() *sarama.ConsumerGroupMemberMetadata {
	m := &sarama.ConsumerGroupMemberMetadata{Version: 2, GenerationID: g.generation}
	counts := make(map[string]uint32)
	for _, t := range slices.Sorted(maps.Keys(g.config.Member.Methods)) {
		counts[t] = g.config.Partitions[t]
		m.Topics = append(m.Topics, g.config.topic(t))
	}
	owned := g.topics(g.owned)
	for _, t := range slices.Sorted(maps.Keys(owned)) {
		m.OwnedPartitions = append(m.OwnedPartitions, &sarama.OwnedPartition{Topic: t, Partitions: owned[t]})
	}
	m.UserData, _ = json.Marshal(hosted{counts}) // of such a map it never fails
	return m
}

// shareOut makes the shares of all members. Who says what cannot be understood
// gets nothing.
func (g *group) shareOut(join *sarama.JoinGroupResponse, req *sarama.SyncGroupRequest) error {
	all, err := join.GetMembers()
	if err != nil {
		return err
	}
	var members []subscriber
	for id, m := range all {
		var h hosted
		if json.Unmarshal(m.UserData, &h) != nil {
			continue
		}
		s := subscriber{id: id, counts: h.Partitions, generation: m.GenerationID}
		for _, o := range m.OwnedPartitions {
			s.owned = append(s.owned, g.partitions(map[string][]int32{o.Topic: o.Partitions})...)
		}
		members = append(members, s)
	}
	shares := share(members)
	for id := range all {
		a := &sarama.ConsumerGroupMemberAssignment{Topics: g.topics(shares[id])}
		if err := req.AddGroupAssignmentMember(id, a); err != nil {
			return err
		}
	}
	return nil
}

// topics are partitions as the group's protocol has them, and partitions is the
// way back.
func (g *group) topics(all []journal.Partition) map[string][]int32 {
	topics := make(map[string][]int32)
	for _, p := range all {
		t := g.config.topic(p.Type)
		topics[t] = append(topics[t], int32(p.Index))
	}
	return topics
}

func (g *group) partitions(topics map[string][]int32) (all []journal.Partition) {
	for _, topic := range slices.Sorted(maps.Keys(topics)) {
		t, ours := strings.CutPrefix(topic, g.config.topic(""))
		if !ours {
			continue
		}
		for _, i := range topics[topic] {
			all = append(all, journal.Partition{Type: t, Index: uint32(i)})
		}
	}
	return all
}

// joinTime is how long the coordinator may take to answer: it waits for members
// that are about to be removed.
func joinTime(session time.Duration) time.Duration { return session + 2*time.Second }
